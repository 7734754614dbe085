#include "apps/case/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "apps/case/check.hpp"
#include "sparse/io/numbers.hpp"

namespace krill::apps {
namespace {

YamlNode merged_variant(const YamlNode& under, const YamlNode& over, const Key& key) {
  if (under.kind != YamlNode::Kind::map || over.kind != YamlNode::Kind::map) return over;
  const Alternative* chosen = chosen_alternative(over, key);
  const bool chooses = chosen || over.find(key.tag);
  if (!chooses) chosen = chosen_alternative(under, key);
  if (!chosen) return chooses ? over : merged(under, over, {});
  YamlNode kept = under;
  std::erase_if(kept.entries, [&](const YamlEntry& entry) {
    const bool selector = entry.key.text == key.tag || entry.key.text == chosen->key;
    return chooses ? selector || !find_key(chosen->keys(), entry.key.text) : false;
  });
  return merged(kept, over, chosen->keys());
}

constexpr double max_variants = 5000;
constexpr std::size_t max_name_bytes = 200;

void refuse(const YamlNode& node, std::string message, std::vector<Diagnostic>& found) {
  found.push_back({node.place.source, node.place.line, node.place.column, std::move(message)});
}

}  // namespace

YamlNode word(const std::string& text, const SourcePlace& place) {
  YamlNode node;
  node.kind = YamlNode::Kind::scalar;
  node.text = text;
  node.place = place;
  return node;
}

YamlNode section(const std::string& key, YamlNode value) {
  YamlNode node;
  node.kind = YamlNode::Kind::map;
  node.place = value.place;
  node.entries.push_back({word(key, value.place), std::move(value)});
  return node;
}

YamlNode merged(const YamlNode& under, const YamlNode& over, const std::vector<Key>& keys) {
  if (under.kind != YamlNode::Kind::map || over.kind != YamlNode::Kind::map) return over;
  YamlNode result = under;
  for (const YamlEntry& entry : over.entries) {
    const Key* key = find_key(keys, entry.key.text);
    const auto mine = std::ranges::find_if(result.entries, [&](const auto& e) { return e.key.text == entry.key.text; });
    if (mine == result.entries.end()) {
      result.entries.push_back(entry);
      continue;
    }
    mine->key = entry.key;
    if (key && key->kind == Key::Kind::section)
      mine->value = merged(mine->value, entry.value, key->keys);
    else if (key && key->kind == Key::Kind::variant)
      mine->value = merged_variant(mine->value, entry.value, *key);
    else
      mine->value = entry.value;
  }
  return result;
}

/// Whether an alternative of a case has a key of that name whose value is a list.
static bool takes_list(const std::string& name) {
  static const std::set<std::string> names = [] {
    std::set<std::string> found;
    for (const Key& key : case_keys())
      for (const Alternative& one : key.alternatives)
        for (const Key& inner : one.keys())
          if (inner.kind == Key::Kind::numbers) found.insert(inner.name);
    return found;
  }();
  return names.contains(name);
}

std::vector<YamlNode> expanded(const YamlNode& node) {
  std::vector<YamlNode> values;
  if (node.kind == YamlNode::Kind::sequence) {
    for (const YamlNode& item : node.items)
      for (YamlNode& value : expanded(item)) values.push_back(std::move(value));
    return values;
  }
  values.push_back(node);
  for (std::size_t k = 0; k < node.entries.size(); ++k) {
    if (takes_list(node.entries[k].key.text)) continue;
    const std::vector<YamlNode> choices = expanded(node.entries[k].value);
    std::vector<YamlNode> longer;
    for (const YamlNode& value : values)
      for (const YamlNode& choice : choices) longer.emplace_back(value).entries[k].value = choice;
    values = std::move(longer);
  }
  return values;
}

double count_expanded(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::sequence) {
    double sum = 0;
    for (const YamlNode& item : node.items) sum += count_expanded(item);
    return sum;
  }
  double product = 1;
  for (const YamlEntry& entry : node.entries)
    if (!takes_list(entry.key.text)) product *= count_expanded(entry.value);
  return product;
}

namespace {

/// The first list without items that stands in the place of a value, or null.
const YamlNode* empty_list(const YamlNode& node) {
  if (node.kind == YamlNode::Kind::sequence && node.items.empty()) return &node;
  const YamlNode* found = nullptr;
  for (const YamlNode& item : node.items)
    if (!found) found = empty_list(item);
  for (const YamlEntry& entry : node.entries)
    if (!found && !takes_list(entry.key.text)) found = empty_list(entry.value);
  return found;
}

/// Appends all that one part stands for.
void append_variant(const std::string& name, const YamlNode& part, std::vector<NamedPart>& all,
                    std::vector<Diagnostic>& found) {
  if (part.kind != YamlNode::Kind::map)
    return refuse(part, "a variant has to be a section with keys of a case, such as preconditioner", found);
  if (const YamlNode* list = empty_list(part))
    return refuse(*list, "an empty list stands for no case; expected values, or leave the key out", found);
  if (count_expanded(part) > max_variants)
    return refuse(part, fmt::format("this variant stands for more than {} cases; make its lists shorter", max_variants),
                  found);
  for (YamlNode& each : expanded(part)) write_out_words(all.emplace_back(name, std::move(each)).tree);
}

void write_out_words(YamlNode& part, const std::vector<Key>& keys) {
  for (auto& [name, value] : part.entries) {
    const Key* key = find_key(keys, name.text);
    if (!key) continue;
    if (key->kind == Key::Kind::section) write_out_words(value, key->keys);
    if (key->kind != Key::Kind::variant) continue;
    if (value.kind == YamlNode::Kind::scalar) {
      const auto with_key = std::find_if(key->alternatives.begin(), key->alternatives.end(),
                                         [](const Alternative& one) { return !one.key.empty(); });
      const bool by_key = with_key != key->alternatives.end() && !key->alternative(value.text);
      value = section(by_key ? with_key->key : key->tag, std::move(value));
    } else if (const Alternative* chosen = chosen_alternative(value, *key)) {
      write_out_words(value, chosen->keys());
    }
  }
}

}  // namespace

void write_out_words(YamlNode& part) { write_out_words(part, case_keys()); }

void apply_case_setting(YamlNode& root, const std::string& setting, const std::string& source,
                        std::vector<Diagnostic>& found) {
  constexpr std::string_view of_sweep = "case.";
  if (YamlNode* shared = root.find("case"); shared && !shared->entries.empty() && setting.starts_with(of_sweep))
    return apply_case_setting(*shared, setting.substr(of_sweep.size()), source, found);
  YamlNode change;
  std::vector<Diagnostic> found_again;
  apply_setting(change, setting, source, found_again);
  for (const auto& [name, value] : change.entries) {
    const Key* key = find_key(case_keys(), name.text);
    YamlNode* mine = root.find(name.text);
    if (!mine || !key || key->kind != Key::Kind::variant) continue;
    const Alternative *now = chosen_alternative(value, *key), *before = chosen_alternative(*mine, *key);
    if (now && before && now->key != before->key) mine->entries.clear();
  }
  apply_setting(root, setting, source, found);
  write_out_words(root);
}

bool names_matrix(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return !extension.empty() && extension != ".yaml" && extension != ".yml" && extension != ".json";
}

void require_text_name(const std::string& path) {
  if (text_length(path) != path.size())
    throw InvalidArgument(
        fmt::format("{}: the name of the file is not UTF-8 text, or has a control character, which no "
                    "case and no report can hold; give it another name, or a link",
                    in_quotes(path)));
}

std::string name_of_matrix(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  std::string stem = name.substr(0, std::min<std::size_t>(name.find('.'), max_name_bytes));
  stem.resize(text_length(stem));  // a cut through a letter, or what is no text
  std::ranges::replace_if(
      stem, [](char c) { return (c >= 0 && c < ' ') || c == '$'; }, '_');
  return stem.empty() ? "matrix" : stem;
}

std::vector<NamedPart> read_variants(const YamlNode& variants, std::vector<Diagnostic>& found) {
  std::vector<NamedPart> all;
  for (const auto& [name, part] : variants.entries) append_variant(name.text, part, all, found);
  for (const YamlNode& part : variants.items) {
    const YamlNode* name = part.find("name");
    append_variant(name ? name->text : "", part, all, found);
  }
  if (variants.entries.empty() && variants.items.empty())
    refuse(variants,
           "variants has to be a section of names and parts of cases, or a list of parts: "
           "{strong: {preconditioner: {type: ic0}}}",
           found);
  return all;
}

}  // namespace krill::apps

#include "apps/case/check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>

#include "apps/case/steps.hpp"
#include "apps/case/suggest.hpp"
#include "apps/case/synonyms.hpp"
#include "solvers/method/type_name.hpp"
#include "sparse/io/numbers.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;
using Kind = Key::Kind;

std::string joined(const std::string& path, const std::string& name) { return path.empty() ? name : path + "." + name; }

/// What stands there, for a message.
std::string found_text(const YamlNode& node) {
  switch (node.kind) {
    case YamlNode::Kind::null:
      return "empty";
    case YamlNode::Kind::sequence:
      return node.items.empty() ? "an empty list" : "a list";
    case YamlNode::Kind::map:
      return "a section";
    case YamlNode::Kind::scalar:
      break;
  }
  if (node.quoted) return fmt::format("the text {}", in_quotes(node.text));
  const bool plain = node.text.size() <= 60 && node.text.find('\n') == std::string::npos;
  return plain ? node.text : in_quotes(node.text);
}

/// Whether text is [+-] digits with a point and an exponent where wanted, as JSON and YAML write numbers.
bool looks_like_number(std::string_view text) {
  std::size_t i = text.starts_with('-') || text.starts_with('+') ? 1 : 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < text.size() && text[i] >= '0' && text[i] <= '9') ++i;
    return i - from;
  };
  std::size_t mantissa = digits();
  if (i < text.size() && text[i] == '.') ++i, mantissa += digits();
  if (mantissa == 0) return false;
  if (i < text.size() && (text[i] == 'e' || text[i] == 'E')) {
    ++i;
    if (i < text.size() && (text[i] == '-' || text[i] == '+')) ++i;
    if (digits() == 0) return false;
  }
  return i == text.size();
}

bool looks_like_boolean(const std::string& text) {
  static const std::set<std::string> words{"true", "True", "TRUE", "false", "False", "FALSE"};
  return words.contains(text);
}

class Checker {
 public:
  explicit Checker(std::vector<Diagnostic>& found) : found_(found) {}

  Json section(const YamlNode& node, const std::vector<Key>& keys, const std::string& path) {
    const auto suggested = unknown_keys(node, names_of(keys), path);
    return values(node, keys, path, suggested);
  }

 private:
  using Words = std::set<std::string>;

  void report(const SourcePlace& at, std::string message) {
    found_.push_back({at.source, at.line, at.column, std::move(message)});
  }
  void refuse(const YamlNode& node, const std::string& path, const std::string& expected,
              const std::string& hint = {}) {
    report(node.place, fmt::format("{} is {}, expected {}{}", path, found_text(node), expected, hint));
  }

  /// The values of the keys that are there; books the required ones that are not, unless an unknown key looks like it.
  Json values(const YamlNode& node, const std::vector<Key>& keys, const std::string& path, const Words& suggested) {
    Json json = Json::object();
    for (const Key& key : keys) {
      const auto at = std::find_if(node.entries.begin(), node.entries.end(),
                                   [&](const auto& entry) { return entry.key.text == key.name; });
      if (at != node.entries.end()) {
        Json checked = check_entry(at->key, at->value, key, joined(path, key.name));
        if (!checked.is_null()) json[key.name] = std::move(checked);
      } else if (key.required && !suggested.contains(key.name)) {
        report(node.place, fmt::format("{} is missing; expected {}", joined(path, key.name), expectation(key)));
      }
    }
    return json;
  }

  /// Books the keys that are not allowed, each with what it may have been. Returns what was proposed. Of a section with
  /// a type, `variant` is its key, and `chosen` the type, or null where that is not known.
  Words unknown_keys(const YamlNode& node, const std::vector<std::string>& allowed, const std::string& path,
                     const Key* variant = nullptr, const Alternative* chosen = nullptr) {
    Words suggested;
    const std::string listed =
        variant && !chosen ? enumerate(selectors(*variant)) + ", with its keys" : enumerate(allowed, ", ");
    for (const auto& [key, value] : node.entries) {
      if (std::find(allowed.begin(), allowed.end(), key.text) != allowed.end()) continue;
      if (chosen)
        if (const auto others = users(*variant, key.text); !others.empty()) {
          report(key.place, idle(key.text, path, *variant, *chosen, others));
          continue;
        }
      std::string hint;
      if (const auto known = synonym(key.text, Synonym::Kind::key)) {
        hint = fmt::format("; Krill calls that {};", known->ours);
        suggested.insert(std::string(known->ours.substr(0, known->ours.find('.'))));
      } else {
        hint = did_you_mean(key.text, allowed);
        if (hint.empty() && chosen) hint = of_others(key.text, *variant);
        if (hint.empty()) hint = elsewhere(key.text, path);
        for (auto& word : nearest(key.text, allowed)) suggested.insert(std::move(word));
      }
      report(key.place, fmt::format("unknown key {}{}{} allowed: {}", in_quotes(key.text),
                                    path.empty() ? "" : " in " + path, hint.empty() ? ";" : hint, listed));
    }
    return suggested;
  }

  /// Says where a key belongs that stands in the wrong section.
  static std::string elsewhere(const std::string& name, const std::string& path) {
    auto sections = sections_with(name);
    std::erase(sections, path);  // of another type than this one
    if (sections.empty()) return {};
    for (auto& section : sections) section = section.empty() ? "the case itself" : section;
    return fmt::format("; it is a key of {};", enumerate(sections));
  }

  /// Says that a key may be that of another type, misspelt.
  static std::string of_others(const std::string& name, const Key& variant) {
    const auto meant = nearest(name, all_keys(variant));
    if (meant.empty()) return {};
    return fmt::format("; did you mean '{}', a key of {}?", meant[0], enumerate(users(variant, meant[0])));
  }

  /// Says who uses a key that the chosen alternative does not.
  static std::string idle(const std::string& name, const std::string& path, const Key& variant,
                          const Alternative& chosen, const std::vector<std::string>& users) {
    const bool by_type = chosen.key.empty();
    return fmt::format("{} is not used by {} with {}, only with {}; leave it out or change {}", in_quotes(name), path,
                       by_type ? fmt::format("{} {}", variant.tag, chosen.type) : chosen.key, enumerate(users),
                       by_type ? variant.tag : chosen.key);
  }

  /// The alternatives that have a key of that name, as a message calls them.
  static std::vector<std::string> users(const Key& variant, const std::string& name) {
    std::vector<std::string> users;
    for (const Alternative& one : variant.alternatives)
      if (find_key(one.keys(), name)) users.push_back(one.key.empty() ? one.type : one.key);
    return users;
  }

  /// The names of the keys of all alternatives, each once.
  static std::vector<std::string> all_keys(const Key& variant) {
    std::vector<std::string> names;
    for (const Alternative& one : variant.alternatives)
      for (const Key& key : one.keys())
        if (std::find(names.begin(), names.end(), key.name) == names.end()) names.push_back(key.name);
    return names;
  }

  /// The keys by which an alternative is chosen.
  static std::vector<std::string> selectors(const Key& variant) {
    std::vector<std::string> names{variant.tag};
    for (const Alternative& one : variant.alternatives)
      if (!one.key.empty()) names.push_back(one.key);
    return names;
  }

  Json check_entry(const YamlNode& name, const YamlNode& value, const Key& key, const std::string& path) {
    if (value.kind != YamlNode::Kind::null) return check(value, key, path);
    // The parser places a missing value behind it, often in the next line.
    report(name.place, fmt::format("{} is empty, expected {}{}", path, expectation(key),
                                   key.required ? "" : "; or leave the key out"));
    return {};
  }

  Json check(const YamlNode& node, const Key& key, const std::string& path) {
    switch (key.kind) {
      case Kind::integer:
      case Kind::number:
        return number(node, key, path);
      case Kind::numbers:
        return numbers(node, key, path);
      case Kind::boolean:
        return boolean(node, key, path);
      case Kind::text:
      case Kind::path:
        return text(node, key, path);
      case Kind::choice:
        return choice(node, key, path);
      case Kind::section:
        if (node.kind == YamlNode::Kind::map) return section(node, key.keys, path);
        return refuse(node, path, expectation(key)), Json();
      case Kind::variant:
        if (node.kind == YamlNode::Kind::map) return variant(node, key, path);
        return refuse(node, path, expectation(key)), Json();
      case Kind::tree:
        break;
    }
    return {};
  }

  Json number(const YamlNode& node, const Key& key, const std::string& path) {
    const bool is_number = node.kind == YamlNode::Kind::scalar && looks_like_number(node.text);
    if (!is_number) return refuse(node, path, expectation(key)), Json();
    if (node.quoted) return refuse(node, path, expectation(key), "; leave out the quotes"), Json();
    const std::string_view digits = std::string_view(node.text).substr(node.text.find_first_not_of("+-"));
    if (digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9')
      return refuse(node, path, expectation(key), "; leave out the leading zero"), Json();

    const std::string_view unsigned_plus = std::string_view(node.text).substr(node.text.starts_with('+') ? 1 : 0);
    double value = 0;
    const auto status = std::from_chars(unsigned_plus.data(), unsigned_plus.data() + unsigned_plus.size(), value);
    if (status.ec != std::errc()) return refuse(node, path, expectation(key) + " that a double can hold"), Json();
    if (key.kind == Kind::integer && value != std::floor(value)) return refuse(node, path, expectation(key)), Json();
    const auto& [least, most, without_min, without_max] = key.range;
    const bool fine = (without_min ? value > least : value >= least) && (without_max ? value < most : value <= most);
    if (!fine) {
      const bool past_int = key.kind == Kind::integer && std::abs(value) > std::numeric_limits<int>::max();
      return refuse(node, path, expectation(key), past_int ? " that 32 bits can hold" : ""), Json();
    }
    if (key.kind == Kind::integer) return static_cast<int>(value);
    return value;
  }

  Json numbers(const YamlNode& node, const Key& key, const std::string& path) {
    if (node.kind != YamlNode::Kind::sequence || node.items.empty())
      return refuse(node, path, expectation(key)), Json();
    const auto count = static_cast<double>(node.items.size());
    if (count < key.range.min || count > key.range.max) {
      report(node.place, fmt::format("{} has {} number{}, expected {}", path, node.items.size(), count == 1 ? "" : "s",
                                     expectation(key)));
      return {};
    }
    Key one;
    one.kind = Kind::number;
    Json list = Json::array();
    for (const YamlNode& item : node.items)
      list.push_back(number(item, one, fmt::format("number {} of {}", list.size() + 1, path)));
    return list;
  }

  Json boolean(const YamlNode& node, const Key& key, const std::string& path) {
    if (node.kind == YamlNode::Kind::scalar && looks_like_boolean(node.text)) {
      if (!node.quoted) return node.text[0] == 't' || node.text[0] == 'T';
      return refuse(node, path, expectation(key), "; leave out the quotes"), Json();
    }
    return refuse(node, path, expectation(key)), Json();
  }

  Json text(const YamlNode& node, const Key& key, const std::string& path) {
    if (node.kind != YamlNode::Kind::scalar) return refuse(node, path, expectation(key)), Json();
    if (node.text.empty()) return refuse(node, path, expectation(key), "; or leave the key out"), Json();
    if (!node.quoted && (looks_like_number(node.text) || looks_like_boolean(node.text)))
      return refuse(node, path, expectation(key), "; put it in quotes"), Json();
    if (key.kind == Kind::text) return node.text;
    return path_of(node);
  }

  Json choice(const YamlNode& node, const Key& key, const std::string& path) {
    const bool is_word = node.kind == YamlNode::Kind::scalar;
    if (!is_word || std::find(key.choices.begin(), key.choices.end(), node.text) == key.choices.end())
      return refuse(node, path, expectation(key), is_word ? did_you_mean(node.text, key.choices) : ""), Json();
    Json value = choice_value(node.text);
    if (value.is_number() && node.quoted) return refuse(node, path, expectation(key), "; leave out the quotes"), Json();
    return value;
  }

  Json variant(const YamlNode& node, const Key& key, const std::string& path) {
    const Alternative* chosen = chosen_alternative(node, key);
    std::vector<std::string> allowed = chosen ? names_of(chosen->keys()) : all_keys(key);
    if (!chosen || chosen->key.empty()) allowed.insert(allowed.begin(), key.tag);
    const auto suggested = unknown_keys(node, allowed, path, &key, chosen);
    if (!chosen) {
      report_no_choice(node, key, path, suggested);
      check_without_choice(node, key, path);
      return {};
    }
    Json json = Json::object();
    if (chosen->key.empty()) json[key.tag] = chosen->type;
    json.update(values(node, chosen->keys(), path, suggested));
    return json;
  }

  void report_no_choice(const YamlNode& node, const Key& key, const std::string& path, const Words& suggested) {
    const YamlNode* type = node.find(key.tag);
    const auto types = types_of(key);
    for (const Alternative& one : key.alternatives) {
      if (one.key.empty() || !node.find(one.key)) continue;
      const auto& at = std::find_if(node.entries.begin(), node.entries.end(), [&](const auto& entry) {
                         return entry.key.text == one.key;
                       })->key.place;
      return report(at, fmt::format("{} has both '{}' and '{}'; keep one of them", path, key.tag, one.key));
    }
    if (type) {
      const bool is_word = type->kind == YamlNode::Kind::scalar;
      const auto known = is_word ? synonym(type->text, Synonym::Kind::type) : std::nullopt;
      const std::string hint = known && key.alternative(known->ours) ? fmt::format("; Krill calls that {}", known->ours)
                               : is_word                             ? did_you_mean(type->text, types)
                                                                     : "";
      return refuse(*type, joined(path, key.tag), one_of(types), hint);
    }
    const auto ways = selectors(key);
    const bool misspelt =
        std::any_of(ways.begin(), ways.end(), [&](const auto& way) { return suggested.contains(way); });
    if (!misspelt)
      report(node.place,
             fmt::format("{} needs {}; {} is {}", path, enumerate(ways, " or ", "'"), key.tag, one_of(types)));
  }

  /// Checks what can be checked while nobody knows which alternative was meant: keys that are the same in all that have
  /// them.
  void check_without_choice(const YamlNode& node, const Key& key, const std::string& path) {
    for (const auto& [name, value] : node.entries) {
      const Key* first = nullptr;
      bool alike = true;
      for (const Alternative& one : key.alternatives) {
        const Key* inner = find_key(one.keys(), name.text);
        if (!first) first = inner;
        if (inner && expectation(*inner) != expectation(*first)) alike = false;
      }
      if (first && alike) check_entry(name, value, *first, joined(path, name.text));
    }
  }

  std::vector<Diagnostic>& found_;
};

}  // namespace

const Alternative* chosen_alternative(const YamlNode& section, const Key& variant) {
  const YamlNode* type = section.find(variant.tag);
  for (const Alternative& one : variant.alternatives)
    if (!one.key.empty() && section.find(one.key)) return type ? nullptr : &one;
  return type && type->kind == YamlNode::Kind::scalar ? variant.alternative(type->text) : nullptr;
}

Json check_section(const YamlNode& section, const std::vector<Key>& keys, std::vector<Diagnostic>& found) {
  return Checker(found).section(section, keys, "");
}

/// The keys of `layout` that the format of a case has no use for, and that say something else than the default.
static std::vector<std::string_view> idle_layout_keys(const Case& c) {
  const FormatLayout &l = c.layout, usual;
  std::vector<std::string_view> idle;
  const auto book = [&](std::string_view key, bool changed, LayoutKey use) {
    if (changed && (facts(c.format).layout & use) == 0) idle.push_back(key);
  };
  book("block_rows", l.block_rows != usual.block_rows, uses_block_rows);
  book("block_cols", l.block_cols != usual.block_cols, uses_block_cols);
  book("block_columns", l.block_columns != usual.block_columns, uses_block_columns);
  book("slice_rows", l.slice_rows != usual.slice_rows, uses_slices);
  book("sort_window", l.sort_window != usual.sort_window, uses_slices);
  book("hack_rows", l.hack_rows != usual.hack_rows, uses_hack_rows);
  book("ell_width", l.ell_width != usual.ell_width, uses_ell_width);
  return idle;
}

/// What a case with a sequence cannot have beside it.
template <class Refuse>
static void check_sequence(const YamlNode& root, const Case& c, bool is_batch, const Refuse& refuse) {
  if (!step_options(c.sequence)) return;
  if (is_batch) refuse({"sequence"}, "sequence is not for a batch, whose systems are solved together; leave it out");
  if (c.format != Format::automatic && c.format != Format::csr)
    refuse({"format"},
           fmt::format("format is {}, expected csr or auto with a sequence, whose values move", name(c.format)));
  const auto* moves = std::get_if<ParameterSequence>(&c.sequence);
  if (!moves) return;
  if (const auto wrong = fault(*moves, c.matrix)) refuse({"sequence", wrong->key}, wrong->message);
  const YamlNode* section = root.find("sequence");
  for (const std::string_view key : {"from", "to", "steps", "spacing"})
    if (section && !moves->values.empty() && section->find(key))
      refuse({"sequence", key}, fmt::format("sequence.{} is not used with sequence.values; keep one of them", key));
}

void check_together(const YamlNode& root, const Case& c, std::vector<Diagnostic>& found) {
  const auto refuse = [&](const std::vector<std::string_view>& path, std::string message) {
    const YamlNode* node = &root;
    for (const auto word : path)
      if (const YamlNode* next = node->find(word)) node = next;
    found.push_back({node->place.source, node->place.line, node->place.column, std::move(message)});
  };
  const auto* generator = std::get_if<GeneratorOptions>(&c.matrix);

  const bool bad_letter =
      std::any_of(c.name.begin(), c.name.end(), [](char x) { return x == '/' || (x >= 0 && x < ' '); });
  if (bad_letter || c.name.starts_with('.') || c.name.size() > 200)
    refuse({"name"}, fmt::format("name is {}, expected the name of a folder: no slash, no point at its beginning, at "
                                 "most 200 letters",
                                 in_quotes(c.name)));
  if (c.backend == Backend::host && c.device != 0)
    refuse({"device"}, "device is not used by backend host; leave it out or change backend");
  if (c.backend == Backend::host && c.loop != LoopControl::automatic)
    refuse({"loop"}, "loop is not used by backend host; leave it out or change backend");
  const auto idle = idle_layout_keys(c);
  for (const std::string_view key : idle)
    refuse({"layout", key},
           fmt::format("layout.{} is not used by format {}; leave it out or change format", key, name(c.format)));
  const std::int32_t max_block_rows = facts(c.format).max_block_rows;
  if (c.layout.block_rows > max_block_rows && std::find(idle.begin(), idle.end(), "block_rows") == idle.end())
    refuse({"layout", "block_rows"}, fmt::format("layout.block_rows is {}, expected 0 to {} for format {}",
                                                 c.layout.block_rows, max_block_rows, name(c.format)));
  if (c.assume == Assume::spd && needs_definite(c.solver, c.preconditioner).empty())
    refuse({"assume"}, "assume: spd is used by solver pcg only; leave it out or change solver.type");
  if (!takes_preconditioner(c.solver) && !std::holds_alternative<NoPreconditioner>(c.preconditioner) &&
      !std::holds_alternative<AutoPreconditioner>(c.preconditioner))
    refuse({"preconditioner"},
           fmt::format("preconditioner is not used by solver {}; leave it out", type_name(c.solver)));
  if (!takes_preconditioner(c.solver) && c.contraction_steps > 0)
    refuse({"contraction_steps"},
           fmt::format("contraction_steps measures a preconditioner, and solver {} takes none; leave it out",
                       type_name(c.solver)));
  for (const OptionConflict& both :
       {conflict(c.solver, c.preconditioner, "preconditioner"), conflict(c.preconditioner)}) {
    if (both.message.empty()) continue;
    std::vector<std::string_view> path{"preconditioner"};
    path.insert(path.end(), both.key.begin(), both.key.end());
    refuse(path, both.message);
  }
  if (c.verify.reference == Reference::none && c.verify.tolerance != 0)
    refuse({"verify", "tolerance"},
           "verify.tolerance is not used by verify.reference none; leave it out or ask for eigen");
  const bool is_batch = std::holds_alternative<MatrixBatch>(c.matrix) || (generator && systems_of(*generator) > 0);
  if (const auto* rhs = std::get_if<RandomRhs>(&c.rhs); rhs && rhs->columns > 1 && is_batch)
    refuse({"rhs", "columns"}, "rhs.columns is not used by a batch, which has one right-hand side for each system");
  check_sequence(root, c, is_batch, refuse);
  if (const auto* rhs = std::get_if<FileRhs>(&c.rhs); rhs && rhs->path.empty() && generator)
    refuse({"rhs"}, "rhs.path is missing; a generated matrix brings no right-hand side along");
  const bool real = c.precision == Precision::float32 || c.precision == Precision::float64;
  if (generator && real && needs_complex(*generator))
    refuse({"precision"},
           "precision is real, but the generated matrix is complex; expected complex64, complex128 or auto");
}

}  // namespace krill::apps

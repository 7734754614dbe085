#include "apps/case/yaml_tree.hpp"

#include <fmt/format.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <sstream>

#include "sparse/io/numbers.hpp"

namespace krill::apps {
namespace {

// Far beyond any case a person writes, far below what would hurt: aliases of aliases grow exponentially.
constexpr std::size_t max_depth = 50, max_nodes = 20'000;

/// Ends the reading of a text that cannot be followed any further.
struct GivenUp {};

/// Makes a tree of the parser's events.
class TreeBuilder final : public YAML::EventHandler {
 public:
  TreeBuilder(const std::string& source, std::vector<Diagnostic>& found) : source_(source), found_(found) {}

  YamlNode root;

  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    YamlNode node = make(YamlNode::Kind::null, mark);
    count(node, node.place);
    add(std::move(node), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    YamlNode node = make(YamlNode::Kind::scalar, mark);
    node.text = text;
    node.quoted = tag == "!" || tag == "tag:yaml.org,2002:str";
    check_tag(tag, mark);
    count(node, node.place);
    add(std::move(node), anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto target = anchored_.find(anchor);
    if (target == anchored_.end()) {
      report(place(mark), "this alias stands inside the thing that it names; write the contents out");
      throw GivenUp();
    }
    count(target->second, place(mark));
    add(target->second, 0);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    open(make(YamlNode::Kind::sequence, mark), tag, mark, anchor);
  }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    open(make(YamlNode::Kind::map, mark), tag, mark, anchor);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapEnd() override {
    merge(open_.back().node);
    close();
  }

 private:
  struct Open {
    YamlNode node;
    YAML::anchor_t anchor;
    std::optional<YamlNode> key;  // of a map: read, and waiting for its value
  };

  YamlNode make(YamlNode::Kind kind, const YAML::Mark& mark) const {
    YamlNode node;
    node.kind = kind;
    node.place = place(mark);
    return node;
  }
  SourcePlace place(const YAML::Mark& mark) const { return {source_, mark.line + 1, mark.column + 1}; }
  void report(const SourcePlace& at, std::string message) {
    found_.push_back({at.source, at.line, at.column, std::move(message)});
  }
  void check_tag(const std::string& tag, const YAML::Mark& mark) {
    if (tag.size() > 1 && !tag.starts_with("tag:yaml.org,2002:"))
      report(place(mark), fmt::format("the tag {} means nothing here; leave it out", in_quotes(tag)));
  }
  void count(const YamlNode& node, const SourcePlace& at) {
    if (++nodes_ > max_nodes) {
      report(at, fmt::format("more than {} values, counted with what aliases repeat; no case has so many", max_nodes));
      throw GivenUp();
    }
    for (const auto& item : node.items) count(item, at);
    for (const auto& [key, value] : node.entries) count(key, at), count(value, at);
  }

  void open(YamlNode node, const std::string& tag, const YAML::Mark& mark, YAML::anchor_t anchor) {
    check_tag(tag, mark);
    count(node, node.place);
    if (open_.size() == max_depth) {
      report(place(mark), fmt::format("nested more than {} deep; no case is", max_depth));
      throw GivenUp();
    }
    open_.push_back({std::move(node), anchor, {}});
  }
  void close() {
    Open done = std::move(open_.back());
    open_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  /// A node is complete and takes its place in what is open.
  void add(YamlNode node, YAML::anchor_t anchor) {
    if (anchor) anchored_[anchor] = node;
    if (open_.empty()) {
      root = std::move(node);
    } else if (open_.back().node.kind == YamlNode::Kind::sequence) {
      open_.back().node.items.push_back(std::move(node));
    } else if (auto& [map, map_anchor, key] = open_.back(); !key) {
      key = std::move(node);
    } else {
      add_entry(map, std::move(*key), std::move(node));
      key.reset();
    }
  }
  void add_entry(YamlNode& map, YamlNode key, YamlNode value) {
    if (key.kind != YamlNode::Kind::scalar) return report(key.place, "a key has to be a word, such as 'solver'");
    const auto first = std::find_if(map.entries.begin(), map.entries.end(),
                                    [&](const auto& entry) { return entry.key.text == key.text; });
    if (first != map.entries.end())
      return report(key.place, fmt::format("duplicate key {}, first given in line {}; keep one of them",
                                           in_quotes(key.text), first->key.place.line));
    map.entries.push_back({std::move(key), std::move(value)});
  }

  /// Replaces the key << by the entries of the map, or maps, that it names; keys that are there already win.
  void merge(YamlNode& map) {
    const auto at = std::find_if(map.entries.begin(), map.entries.end(),
                                 [](const auto& entry) { return entry.key.text == "<<" && !entry.key.quoted; });
    if (at == map.entries.end()) return;
    YamlNode merged = std::move(at->value);
    map.entries.erase(at);
    if (merged.kind != YamlNode::Kind::sequence) merged.items = {YamlNode(merged)};
    for (auto& part : merged.items) {
      if (part.kind != YamlNode::Kind::map) {
        report(part.place, "<< merges a section, or a list of sections, into this one; this is neither");
        continue;
      }
      for (auto& [key, value] : part.entries)
        if (!map.find(key.text)) map.entries.push_back({std::move(key), std::move(value)});
    }
  }

  const std::string& source_;
  std::vector<Diagnostic>& found_;
  std::vector<Open> open_;
  std::map<YAML::anchor_t, YamlNode> anchored_;
  std::size_t nodes_ = 0;
};

/// What the parser's words mean to someone who wrote a case.
std::string explained(const std::string& parser_message) {
  static const std::map<std::string, std::string, std::less<>> hints{
      {YAML::ErrorMsg::MAP_VALUE, "a colon where none can stand; check the indentation, or quote text that holds ': '"},
      {YAML::ErrorMsg::END_OF_MAP, "this line continues nothing above it; check the indentation"},
      {YAML::ErrorMsg::END_OF_SEQ, "this line continues nothing above it; check the indentation"},
      {YAML::ErrorMsg::END_OF_MAP_FLOW, "a { is not closed by }, or a comma is missing"},
      {YAML::ErrorMsg::END_OF_SEQ_FLOW, "a [ is not closed by ], or a comma is missing"},
      {YAML::ErrorMsg::EOF_IN_SCALAR, "a quote is not closed"},
      {YAML::ErrorMsg::DOC_IN_SCALAR, "a quote is not closed"},
      {YAML::ErrorMsg::TAB_IN_INDENTATION, "indent with blanks, not with tabs"},
  };
  const auto hint = hints.find(parser_message);
  return hint == hints.end() ? parser_message : fmt::format("{} ({})", hint->second, parser_message);
}

/// The length of the UTF-8 character at text[i]; 0 where there is none, or a control character that no text holds.
std::size_t character_length(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  const auto continues = [&](std::size_t k) { return (byte(k) & 0xC0U) == 0x80U; };
  const unsigned lead = byte(i);
  if (lead < 0x80) return (lead >= 0x20 && lead != 0x7F) || lead == '\t' || lead == '\n' || lead == '\r' ? 1 : 0;
  const std::size_t length = lead < 0xC2 ? 0 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 0;
  for (std::size_t k = 1; k < length; ++k)
    if (!continues(i + k)) return 0;
  return length;
}

/// Books the first place that is not text; yaml-cpp would end there without a word, or repair it.
bool is_text(const std::string& text, const std::string& source, std::vector<Diagnostic>& found) {
  const std::size_t end = text_length(text);
  if (end == text.size()) return true;
  const auto line_begin = text.begin() + static_cast<std::ptrdiff_t>(end ? text.rfind('\n', end - 1) + 1 : 0);
  const auto at = text.begin() + static_cast<std::ptrdiff_t>(end);
  const auto line = 1 + std::count(text.begin(), line_begin, '\n');
  const auto column = 1 + std::count_if(line_begin, at, [](char c) { return (c & 0xC0) != 0x80; });
  found.push_back({source, static_cast<int>(line), static_cast<int>(column),
                   fmt::format("byte 0x{:02X} cannot stand in a case; it has to be UTF-8 text",
                               static_cast<unsigned char>(text[end]))});
  return false;
}

void place_in_option(YamlNode& node, const std::string& option) {
  node.place = {option, 0, 0};
  for (auto& item : node.items) place_in_option(item, option);
  for (auto& [key, value] : node.entries) place_in_option(key, option), place_in_option(value, option);
}

}  // namespace

const YamlNode* YamlNode::find(std::string_view key) const {
  const auto at = std::find_if(entries.begin(), entries.end(), [&](const auto& e) { return e.key.text == key; });
  return at == entries.end() ? nullptr : &at->value;
}

std::string path_of(const YamlNode& name) {
  const bool of_file = name.place.line > 0;
  const std::filesystem::path folder = of_file ? std::filesystem::path(name.place.source).parent_path() : "";
  return (folder / name.text).lexically_normal().string();
}

std::size_t text_length(std::string_view bytes) {
  std::size_t i = 0;
  for (std::size_t length = 1; length > 0 && i < bytes.size(); i += length) length = character_length(bytes, i);
  return i;
}

YamlNode read_yaml(const std::string& text, const std::string& source, std::vector<Diagnostic>& found) {
  if (!is_text(text, source, found)) return {};
  TreeBuilder builder(source, found);
  try {
    std::istringstream in(text + "\n...\n");  // without this end mark the parser takes a quote that is never closed
    YAML::Parser parser(in);
    parser.HandleNextDocument(builder);
    YamlNode first = std::move(builder.root);
    builder.root = {};
    if (parser.HandleNextDocument(builder)) {
      const SourcePlace& at = builder.root.place;
      found.push_back({source, at.line, at.column, "a second document begins here; a case is one document"});
    }
    return first;
  } catch (const GivenUp&) {
    return {};  // why is booked
  } catch (const YAML::Exception& error) {
    found.push_back({source, error.mark.line + 1, error.mark.column + 1, "not valid YAML: " + explained(error.msg)});
    return {};
  }
}

void apply_setting(YamlNode& root, const std::string& setting, const std::string& source,
                   std::vector<Diagnostic>& found) {
  const auto refuse = [&](std::string message) { found.push_back({source, 0, 0, std::move(message)}); };
  const auto equals = setting.find('=');
  if (equals == std::string::npos || equals == 0 || setting[equals - 1] == '.')
    return refuse("expected key=value, such as solver.stop.relative=1e-10 or nx=64");
  if (std::cmp_greater(std::count(setting.begin(), setting.begin() + static_cast<std::ptrdiff_t>(equals), '.'),
                       max_depth))
    return found.push_back({setting.size() > source.size() ? source : "--set", 0, 0,
                            fmt::format("the path has more than {} words", max_depth)});

  std::vector<Diagnostic> found_in_value;
  YamlNode value = read_yaml(setting.substr(equals + 1), source, found_in_value);
  for (auto& one : found_in_value) refuse(std::move(one.message));
  if (!found_in_value.empty()) return;
  if (value.kind == YamlNode::Kind::null) return refuse("there is no value; expected key=value");
  place_in_option(value, source);

  YamlNode* node = &root;
  std::istringstream path(setting.substr(0, equals));
  for (std::string word, walked; std::getline(path, word, '.'); walked += (walked.empty() ? "" : ".") + word) {
    if (word.empty()) return refuse("an empty word in the path; expected words with a point between them");
    if (node->kind == YamlNode::Kind::null) node->kind = YamlNode::Kind::map;
    if (node->kind != YamlNode::Kind::map)
      return refuse(fmt::format("{} is no section, so it has no {}", walked.empty() ? "the case" : walked, word));
    YamlNode* next = node->find(word);
    if (!next) {
      YamlNode key, nothing;
      key.kind = YamlNode::Kind::scalar;
      key.text = word;
      key.place = nothing.place = {source, 0, 0};
      next = &node->entries.emplace_back(YamlEntry{std::move(key), std::move(nothing)}).value;
    }
    node = next;
  }
  *node = std::move(value);
}

}  // namespace krill::apps

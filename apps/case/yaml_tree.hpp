// YAML text as a tree that remembers where everything stood.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "apps/case/case.hpp"

namespace krill::apps {

/// Where something was written. Lines and columns count from 1; 0: in an option of the command line.
struct SourcePlace {
  std::string source;
  int line = 0, column = 0;
};

struct YamlEntry;

/// A node of YAML text. Aliases and merge keys (<<) are resolved.
struct YamlNode {
  enum class Kind { null, scalar, sequence, map };
  Kind kind = Kind::null;
  bool quoted = false;  ///< a scalar that is text whatever it looks like
  std::string text;     ///< of a scalar
  SourcePlace place;
  std::vector<YamlNode> items;     ///< of a sequence
  std::vector<YamlEntry> entries;  ///< of a map: keys are scalars, each there once

  /// The value of a key, or null where the node is no map or has no such key.
  const YamlNode* find(std::string_view key) const;
  YamlNode* find(std::string_view key) { return const_cast<YamlNode*>(std::as_const(*this).find(key)); }
};
struct YamlEntry {
  YamlNode key, value;
};

/// The file that a scalar names: a relative name starts at the folder of the file in which it stands, in an option of
/// the command line at the current one.
std::string path_of(const YamlNode&);

/// How many bytes at the beginning of `bytes` are UTF-8 text without control characters but tab and line ends.
std::size_t text_length(std::string_view bytes);

/// Reads text that holds one YAML document and books what is wrong with it: syntax errors, duplicate keys, several
/// documents, unknown tags, broken merges. What can still be used is returned. Text of any kind is safe: nesting,
/// aliases and size are bounded.
YamlNode read_yaml(const std::string& text, const std::string& source, std::vector<Diagnostic>& found);

/// Applies a setting "a.b.c=value" to the tree, with the value read as YAML; sections on the way are made. `source` is
/// what the diagnostics name as the place, and so do those of the new nodes.
void apply_setting(YamlNode& root, const std::string& setting, const std::string& source,
                   std::vector<Diagnostic>& found);

}  // namespace krill::apps

// Parts of cases: what is put over what, and what the short forms in them stand for.
#pragma once
#include <string>
#include <vector>

#include "apps/case/keys.hpp"
#include "apps/case/yaml_tree.hpp"

namespace krill::apps {

/// A map with one key, and a scalar.
YamlNode section(const std::string& key, YamlNode value);
YamlNode word(const std::string& text, const SourcePlace& place);

/// What `over` says in the place of what `under` says, where it says anything: sections are merged key by key. Where a
/// section gets another type, keys that are not the new one's are dropped.
YamlNode merged(const YamlNode& under, const YamlNode& over, const std::vector<Key>& keys);

/// All values that a value with lists in it stands for: a list for its items, a section for all combinations of what
/// its keys stand for, the last key running fastest. The list of a key that takes a list of numbers stays as it is.
std::vector<YamlNode> expanded(const YamlNode&);
/// How many those are.
double count_expanded(const YamlNode&);

/// "preconditioner: chebyshev" becomes {type: chebyshev}; of a matrix, {file: word} unless a generator has that name.
void write_out_words(YamlNode& part);

/// Applies a setting "a.b.c=value" to a case, or to a sweep with one, as apply_setting does, with words written out. A
/// matrix of another kind takes the place of the former one: "matrix.file=a.mtx" that of a generated one.
void apply_case_setting(YamlNode& root, const std::string& setting, const std::string& source,
                        std::vector<Diagnostic>& found);

/// Whether a file is taken for a matrix: its name has an extension, and none of .yaml, .yml, .json.
bool names_matrix(const std::string& path);
/// Raises InvalidArgument for the name of a file that no case and no report can hold, as it is no UTF-8 text.
void require_text_name(const std::string& path);
/// "thermal" of "data/thermal.mtx.gz", with _ for what cannot stand in the name of a case.
std::string name_of_matrix(const std::string& path);

/// A part of a case that is put over another one. Without a name, `name` is empty.
struct NamedPart {
  std::string name;
  YamlNode tree;
};

/// The parts that `variants:` holds, with words written out: a section of names and parts, or a list of parts, which
/// have a `name` if they like. One with lists in its values is several of the same name. What is no part is booked.
std::vector<NamedPart> read_variants(const YamlNode&, std::vector<Diagnostic>& found);

}  // namespace krill::apps

// The files of a case: what they include, what they take from the environment, and the variants in them.
#pragma once
#include <string>
#include <vector>

#include "apps/case/keys.hpp"
#include "apps/case/yaml_tree.hpp"

namespace krill::apps {

/// How a case file is to be read.
struct Reading {
  std::string variant;       ///< which of the file's variants is meant; empty: the case as it is without them
  bool environment = false;  ///< fill in ${NAME}, which is an error otherwise
  std::string backend = {};  ///< in place of what the file says; empty: as it says
  int threads = 0;           ///< in place of what the file says; 0: as it says
};

/// The case that was asked for, and the names of the variants that its file has.
struct LoadedCase {
  Case settings;
  std::vector<std::string> variants;
};

/// Reads and checks a case file, with the files that it includes; "-" is the standard input, and a matrix file
/// (names_matrix) stands for a case that has this matrix, b of ones and everything else chosen by `auto`. `overrides`
/// are "path=value", applied in order on top of the variant and before anything is checked. Variants that are not meant
/// are checked, too. Raises CaseError with all that is wrong.
LoadedCase load_case_file(const std::string& path, const std::vector<std::string>& overrides, const Reading&);

/// The keys of a case, and those that say of which parts its file makes it: include and variants.
const std::vector<Key>& case_file_keys();

/// What `include` is, of cases and of sweeps.
inline constexpr std::string_view include_value = "the name of a file, or a list of names";
inline constexpr std::string_view include_doc =
    "other files, which this one is put over: what it says of a key holds. A relative name starts at the folder of "
    "this "
    "file, those in an included file at the folder of that one";

/// The text of a YAML file, or of the standard input for "-". Raises CaseError where it cannot be read or is longer
/// than 1 MiB.
std::string read_yaml_text(const std::string& path);

/// The tree of a case or a sweep whose text was read from `source`, put over the files that `include` names, of which
/// later ones are put over earlier ones. `${NAME}` in a value is replaced by what the environment says where
/// `environment` is set, and is an error where it is not. Every node keeps the file that it stands in as its place.
/// What is wrong is booked: syntax, included files that are missing, that include each other, or that are more than
/// 100.
YamlNode read_tree(const std::string& text, const std::string& source, bool environment,
                   std::vector<Diagnostic>& found);

}  // namespace krill::apps

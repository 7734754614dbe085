// The keys of a case in words.
#pragma once
#include <string>

#include "apps/case/keys.hpp"

namespace krill::apps {

/// docs/cases.md.
std::string case_reference();

/// A table in Markdown of keys at `path` ("" or "solver."): name, values, default, meaning.
std::string key_table(const std::vector<Key>&, const std::string& path);

/// What there is to know of a key ("relative", "stop.relative", "solver.stop.relative"), a section ("solver.stop") or
/// the type of something ("gmres", "solver.gmres", "poisson3d"), wherever in a case it may stand, of a key of sweeps,
/// or of what another program calls otherwise ("tol", "cg"). Raises InvalidArgument with a proposal where there is no
/// such thing.
std::string explain(const std::string& name, const std::vector<Key>& of_sweeps = {});

/// Every word that explain() knows.
std::vector<std::string> explained_words(const std::vector<Key>& of_sweeps);

/// What `--set` takes: "solver.restart=" for every value of a case, and "solver.type=gmres" for every word that may
/// stand there.
struct SettingWords {
  std::vector<std::string> keys, values;
};
SettingWords setting_words();

/// The types of a variant of the case, one a paragraph, with their own keys.
std::string list_types(const Key& variant);

}  // namespace krill::apps

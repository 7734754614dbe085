// The keys of a case in words.
#pragma once
#include <string>

#include "krill/apps/case/keys.hpp"

namespace krill::apps {

/// docs/cases.md.
std::string case_reference();

/// What there is to know of a key ("relative", "stop.relative", "solver.stop.relative"), a section ("solver.stop") or
/// the type of something ("gmres", "poisson3d"), wherever in a case it may stand. Raises InvalidArgument with a
/// proposal where there is no such thing.
std::string explain(const std::string& name);

/// The types of a variant of the case, one a paragraph, with their own keys.
std::string list_types(const Key& variant);

/// Words wrapped at `width` columns, every line after the first with `indent` blanks before it.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t width = 80);

}  // namespace krill::apps

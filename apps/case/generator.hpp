// A generator as the command line names it.
#pragma once
#include <string>
#include <vector>

#include "sparse/io/generate.hpp"

namespace krill::apps {

/// The options of the generator of that name; settings are "key=value". Raises CaseError as a case does.
GeneratorOptions parse_generator(const std::string& name, const std::vector<std::string>& settings);

}  // namespace krill::apps

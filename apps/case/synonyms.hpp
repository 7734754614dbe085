// The words that users of other solvers bring with them.
#pragma once
#include <optional>
#include <string_view>
#include <vector>

namespace krill::apps {

/// A word of another program or of the literature, and what a case calls the same thing: the path of a key
/// ("solver.stop.relative"), or a type ("pcg").
struct Synonym {
  std::string_view word, ours;
  enum class Kind { key, type } kind = Kind::key;
};

const std::vector<Synonym>& synonyms();

/// The synonym that is written so, capital letters or not, - or _; nothing where there is none of that kind.
std::optional<Synonym> synonym(std::string_view word, Synonym::Kind);

}  // namespace krill::apps

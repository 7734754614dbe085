// "did you mean": the nearest of the words that are allowed.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace krill::apps {

/// Insertions, deletions, substitutions and swaps of neighbors that turn a into b (Damerau 1964, each place changed
/// once); letters count as equal in either case, and - as _.
int edit_distance(std::string_view a, std::string_view b);

/// Whether both are one word, letters equal in either case, and - as _.
bool same_word(std::string_view a, std::string_view b);

/// The words that are nearest to `word`, at most three, all at the same distance; none where a third of the word or
/// more would have to change.
std::vector<std::string> nearest(std::string_view word, std::span<const std::string> words);

/// "a, b or c"; quoted where `mark` says with what.
std::string enumerate(std::span<const std::string> words, std::string_view last = " or ", std::string_view mark = "");

/// "one of a, b or c", "a or b".
std::string one_of(std::span<const std::string> words);

/// "; did you mean 'restart'?", or nothing where no word is near.
std::string did_you_mean(std::string_view word, std::span<const std::string> words);

}  // namespace krill::apps

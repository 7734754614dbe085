#include "apps/case/suggest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace krill::apps {
namespace {

constexpr char folded(char c) {
  if (c >= 'A' && c <= 'Z') return static_cast<char>(c - 'A' + 'a');
  return c == '-' ? '_' : c;
}

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  // Row i holds the distances of a's first i letters to the beginnings of b; three rows suffice.
  std::array<std::vector<int>, 3> rows;
  for (auto& row : rows) row.resize(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = static_cast<int>(j);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto &now = rows[i % 3], &before = rows[(i + 2) % 3], &two_before = rows[(i + 1) % 3];
    now[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = folded(a[i - 1]) == folded(b[j - 1]);
      now[j] = std::min({before[j] + 1, now[j - 1] + 1, before[j - 1] + (same ? 0 : 1)});
      if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) && folded(a[i - 2]) == folded(b[j - 1]))
        now[j] = std::min(now[j], two_before[j - 2] + 1);
    }
  }
  return rows[a.size() % 3][b.size()];
}

bool same_word(std::string_view a, std::string_view b) { return std::ranges::equal(a, b, {}, folded, folded); }

std::vector<std::string> nearest(std::string_view word, std::span<const std::string> words) {
  if (word.size() > 100) return {};
  std::vector<std::string> found;
  int least = std::max(1, static_cast<int>(word.size()) / 3);
  for (const auto& candidate : words) {
    const int distance = edit_distance(word, candidate);
    if (distance > least || distance >= static_cast<int>(candidate.size())) continue;
    if (distance < least) found.clear(), least = distance;
    found.push_back(candidate);
  }
  if (found.size() > 3) found.resize(3);
  return found;
}

std::string enumerate(std::span<const std::string> words, std::string_view last, std::string_view mark) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i)
    text += fmt::format("{}{}{}{}", i == 0 ? "" : i + 1 == words.size() ? last : ", ", mark, words[i], mark);
  return text;
}

std::string one_of(std::span<const std::string> words) {
  return (words.size() > 2 ? "one of " : "") + enumerate(words);
}

std::string did_you_mean(std::string_view word, std::span<const std::string> words) {
  const auto found = nearest(word, words);
  return found.empty() ? std::string() : fmt::format("; did you mean {}?", enumerate(found, " or ", "'"));
}

}  // namespace krill::apps

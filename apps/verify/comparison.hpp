// What a kernel computed against what it should have.
#pragma once
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "apps/verify/judge.hpp"
#include "apps/verify/references/rows.hpp"

namespace krill::apps::verify {

/// How many results lie how far from the correctly rounded ones, in units of the last place of the expected value.
/// Parts of complex numbers count by themselves.
struct UlpHistogram {
  static constexpr std::array<std::string_view, 13> labels{
      "0", "1", "2", "3-4", "5-8", "9-16", "17-32", "33-64", "65-128", "129-256", "257-512", "513-1024", "more"};
  std::array<std::int64_t, labels.size()> counts{};

  /// A distance of at most half a unit is 0, one of at most 1.5 is 1.
  void add(double ulps);
  UlpHistogram& operator+=(const UlpHistogram&);
};

/// |got - expected| in units of the last place of `expected` in R; infinite where `got` is NaN or infinite.
template <class R>
double ulps(R got, long double expected);

/// The first entry that is wrong.
struct Difference {
  std::string where;       ///< which of several runs it was; empty for one
  std::int64_t index = 0;  ///< counted from 0
  std::string got, expected;
  double error = 0, bound = 0;
};

/// What comparing has found. Figures are of moduli; infinite where a result is NaN.
struct Comparison {
  std::int64_t entries = 0;   ///< compared
  std::int64_t wrong = 0;     ///< beyond their bound
  std::int64_t unjudged = 0;  ///< whose bound is not finite
  double componentwise = 0;   ///< max over i of |got_i - expected_i| / bound_i
  double normwise = 0;        ///< max |got_i - expected_i| / max bound_i
  double relative = 0;        ///< max |got_i - expected_i| / max |expected_i|
  std::optional<Difference> first;
  UlpHistogram ulps;
  std::string reason;  ///< why it fails or decides nothing, where the entries do not say it

  /// FAIL where an entry is beyond its bound; none where nothing could be decided.
  Verdict verdict = Verdict::none;

  /// This one and another run of the same kernel; `where` names the latter.
  void merge(const Comparison& other, const std::string& where);
};

/// Each entry against its bound. There is no verdict where rounding may take more than the values themselves, so that
/// nothing could fail. Raises nothing: results of another length fail.
template <class T>
Comparison compare(std::span<const T> got, std::span<const Bounded<T>> expected);
/// The same for what has been computed from a result without rounding to speak of, as a residual is. Its bound belongs
/// to the terms that it is made of and may exceed what is left of them.
template <class T>
Comparison compare_exactly_computed(std::span<const Exact<T>> got, std::span<const Bounded<T>> expected);
template <class T>
Comparison compare(const Equations<T>& equations) {
  return compare_exactly_computed<T>(equations.left, equations.right);
}

/// For what moves data and does not compute: every bit. U: a scalar, an index or an Entry.
template <class U>
Comparison compare_bits(std::span<const U> got, std::span<const U> expected);

/// A comparison that has failed, or decides nothing, as a whole.
Comparison failed(std::string reason);
Comparison undecided(std::string reason);

}  // namespace krill::apps::verify

#include "apps/verify/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <complex>
#include <cstddef>

#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

std::string text(float a) { return fmt::format("{:.9g}", a); }
std::string text(double a) { return fmt::format("{:.17g}", a); }
std::string text(long double a) { return fmt::format("{:.21g}", a); }
template <class Index>
requires std::is_integral_v<Index> std::string text(Index a) { return fmt::format("{}", a); }
template <class R>
std::string text(std::complex<R> a) {
  return fmt::format("({}, {})", text(a.real()), text(a.imag()));
}
std::string text(Complex<long double> a) { return fmt::format("({}, {})", text(a.re), text(a.im)); }
template <class T>
std::string text(const Entry<T>& a) {
  return fmt::format("a({}, {}) = {}", a.row, a.col, text(a.value));
}

template <class U>
bool same_bits(const U& a, const U& b) {
  using Bytes = std::array<std::byte, sizeof(U)>;
  return std::bit_cast<Bytes>(a) == std::bit_cast<Bytes>(b);
}
template <class T>
bool same_bits(const Entry<T>& a, const Entry<T>& b) {
  return a.row == b.row && a.col == b.col && same_bits(a.value, b.value);
}

template <class T>
void count_ulps(UlpHistogram& histogram, const T& got, const Exact<T>& expected) {
  if constexpr (is_complex<T>) {
    histogram.add(ulps(got.real(), expected.re));
    histogram.add(ulps(got.imag(), expected.im));
  } else {
    histogram.add(ulps(got, expected));
  }
}

double as_double(long double a) { return std::isnan(a) ? infinite : static_cast<double>(a); }

long double ratio(long double error, long double bound) { return error == 0 ? 0 : error / bound; }

std::optional<Comparison> of_lengths(std::size_t got, std::size_t expected) {
  if (got == expected) return std::nullopt;
  return failed(fmt::format("there are {} results, {} were expected", got, expected));
}

/// What both kinds of comparison share; value(i) is result i in extended precision, shown(i) its text.
template <class T, class Value, class Shown>
Comparison compare_bounded(std::span<const Bounded<T>> expected, const Value& value, const Shown& shown) {
  Comparison c;
  c.entries = std::ssize(expected);
  const long double most = std::numeric_limits<real_t<T>>::max();
  long double worst = 0, worst_error = 0, max_bound = 0, max_value = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const Bounded<T>& wanted = expected[i];
    if (!(wanted.greatest() < most)) {  // NaN, infinite, or beyond the range of T
      ++c.unjudged;
      continue;
    }
    const long double error = modulus(value(i) - wanted.value);
    if (!(error <= wanted.error)) {
      ++c.wrong;
      if (!c.first)
        c.first = {
            {}, static_cast<std::int64_t>(i), shown(i), text(wanted.value), as_double(error), as_double(wanted.error)};
    }
    worst = std::isnan(error) ? infinite : std::max(worst, ratio(error, wanted.error));
    worst_error = std::isnan(error) ? infinite : std::max(worst_error, error);
    max_bound = std::max(max_bound, wanted.error);
    max_value = std::max(max_value, modulus(wanted.value));
  }
  c.componentwise = as_double(worst);
  c.normwise = as_double(ratio(worst_error, max_bound));
  c.relative = as_double(ratio(worst_error, max_value));
  if (c.wrong > 0) {
    c.verdict = Verdict::fail;
  } else if (c.unjudged == c.entries && c.entries > 0) {
    c.reason = "no bound is finite: values leave the range of the precision, or the problem is too ill-conditioned";
  } else {
    c.verdict = Verdict::pass;
  }
  return c;
}

template <class T>
bool nothing_could_fail(std::span<const Bounded<T>> expected) {
  long double bound = 0, value = 0;
  for (const Bounded<T>& wanted : expected) {
    if (!(wanted.error < std::numeric_limits<long double>::infinity())) continue;
    bound = std::max(bound, wanted.error), value = std::max(value, modulus(wanted.value));
  }
  return value > 0 && bound >= value;
}

}  // namespace

void UlpHistogram::add(double ulps) {
  const double whole = std::ceil(ulps - 0.5);
  std::size_t bin = 0;
  for (double last = 0; bin + 1 < counts.size() && !(whole <= last); ++bin) last = last == 0 ? 1 : 2 * last;
  ++counts[bin];
}

UlpHistogram& UlpHistogram::operator+=(const UlpHistogram& other) {
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += other.counts[i];
  return *this;
}

template <class R>
double ulps(R got, long double expected) {
  if (!std::isfinite(got)) return infinite;
  const R near = std::min(std::fabs(static_cast<R>(expected)), std::numeric_limits<R>::max());
  // The last number below infinity has the spacing of the one before it.
  const R above = std::nextafter(near, std::numeric_limits<R>::infinity());
  const long double unit = std::isfinite(above) ? static_cast<long double>(above) - near
                                                : static_cast<long double>(near) - std::nextafter(near, R(0));
  return static_cast<double>(std::fabs(static_cast<long double>(got) - expected) / unit);
}
template double ulps(float, long double);
template double ulps(double, long double);

void Comparison::merge(const Comparison& other, const std::string& where) {
  if (!first && other.first) {
    first = other.first;
    first->where = where;
  }
  entries += other.entries;
  wrong += other.wrong;
  unjudged += other.unjudged;
  componentwise = std::max(componentwise, other.componentwise);
  normwise = std::max(normwise, other.normwise);
  relative = std::max(relative, other.relative);
  ulps += other.ulps;
  if (reason.empty()) reason = other.reason;
  // What one run leaves open, another may decide; a failure stays.
  if (verdict == Verdict::none || other.verdict == Verdict::fail) verdict = other.verdict;
}

template <class T>
Comparison compare(std::span<const T> got, std::span<const Bounded<T>> expected) {
  if (auto wrong = of_lengths(got.size(), expected.size())) return *wrong;
  Comparison c = compare_bounded<T>(
      expected, [&](std::size_t i) { return exact(got[i]); }, [&](std::size_t i) { return text(got[i]); });
  for (std::size_t i = 0; i < got.size(); ++i) count_ulps(c.ulps, got[i], expected[i].value);
  if (c.verdict == Verdict::pass && nothing_could_fail(expected)) {
    c.verdict = Verdict::none;
    c.reason = "the problem is so ill-conditioned that rounding may take more than the values themselves";
  }
  return c;
}

template <class T>
Comparison compare_exactly_computed(std::span<const Exact<T>> got, std::span<const Bounded<T>> expected) {
  if (auto wrong = of_lengths(got.size(), expected.size())) return *wrong;
  return compare_bounded<T>(
      expected, [&](std::size_t i) { return got[i]; }, [&](std::size_t i) { return text(got[i]); });
}

template <class U>
Comparison compare_bits(std::span<const U> got, std::span<const U> expected) {
  if (auto wrong = of_lengths(got.size(), expected.size())) return *wrong;
  Comparison c;
  c.entries = std::ssize(got);
  for (std::size_t i = 0; i < got.size(); ++i) {
    const bool same = same_bits(got[i], expected[i]);
    c.ulps.add(same ? 0 : infinite);
    if (same) continue;
    ++c.wrong;
    c.componentwise = c.normwise = c.relative = infinite;
    if (!c.first) c.first = {{}, static_cast<std::int64_t>(i), text(got[i]), text(expected[i]), infinite, 0};
  }
  c.verdict = c.wrong > 0 ? Verdict::fail : Verdict::pass;
  return c;
}

Comparison failed(std::string reason) {
  Comparison c;
  c.componentwise = c.normwise = c.relative = infinite;
  c.reason = std::move(reason);
  c.verdict = Verdict::fail;
  return c;
}

Comparison undecided(std::string reason) {
  Comparison c;
  c.reason = std::move(reason);
  return c;
}

template <class T>
struct ComparisonInstances {
  static constexpr std::tuple list{
      instance<Comparison(std::span<const T>, std::span<const Bounded<T>>)>(compare),
      instance<Comparison(std::span<const Exact<T>>, std::span<const Bounded<T>>)>(compare_exactly_computed),
      instance<Comparison(std::span<const T>, std::span<const T>)>(compare_bits),
      instance<Comparison(std::span<const Entry<T>>, std::span<const Entry<T>>)>(compare_bits)};
};
KRILL_INSTANTIATE(ComparisonInstances);
template Comparison compare_bits(std::span<const std::int32_t>, std::span<const std::int32_t>);
template Comparison compare_bits(std::span<const std::int64_t>, std::span<const std::int64_t>);

}  // namespace krill::apps::verify

// The level 1 operations of a sparse vector with a dense one as passes, written once for both backends. All but the
// first three are over the entries of x.
#pragma once
#include "sparse/convert/dense_passes.hpp"
#include "sparse/core/array.hpp"
#include "sparse/core/pass.hpp"
#include "sparse/vector/sparse_dense.hpp"

namespace krill::detail {

/// counts[i] = 1 where y_i is an entry. Over y.
template <class T>
struct CountNonzero {
  using Sum = NoSum;
  const T* y;
  std::int32_t* counts;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return counts[i] = is_above(y[i], 0), NoSum{}; }
};

/// The entries of y, where `places` says. Over y.
template <class T>
struct FillNonzeros {
  using Sum = NoSum;
  const T* y;
  const std::int32_t* places;
  std::int32_t* indices;
  T* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const {
    const std::int32_t k = places[i];
    if (places[i + 1] > k) indices[k] = static_cast<std::int32_t>(i), values[k] = y[i];
    return {};
  }
};

/// y = beta y. Over y.
template <class T>
struct ScaleAll {
  using Sum = NoSum;
  using Factor = factor_t<T>;
  ScalarView<Factor> beta_at;
  T* y;
  Factor beta{};

  constexpr bool begin() { return beta = beta_at(), !(beta == Factor(1)); }
  constexpr NoSum entry(std::int64_t i) const {
    return y[i] = beta == Factor(0) ? T(0) : static_cast<T>(beta * y[i]), NoSum{};
  }
};

/// x_k = y_i.
template <class T>
struct GatherEntries {
  using Sum = NoSum;
  SparseVectorView<T> x;
  const T* y;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return x.values[k] = y[x.index(k)], NoSum{}; }
};

/// y_i = 0.
template <class T>
struct ClearEntries {
  using Sum = NoSum;
  SparseVectorView<const T> x;
  T* y;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return y[x.index(k)] = T(0), NoSum{}; }
};

/// y_i = x_k.
template <class T>
struct ScatterEntries {
  using Sum = NoSum;
  SparseVectorView<const T> x;
  T* y;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t k) const { return y[x.index(k)] = x.values[k], NoSum{}; }
};

/// y_i += alpha x_k.
template <class T>
struct AddEntries {
  using Sum = NoSum;
  ScalarView<T> alpha_at;
  SparseVectorView<const T> x;
  T* y;
  T alpha{};

  constexpr bool begin() { return alpha = alpha_at(), true; }
  constexpr NoSum entry(std::int64_t k) const { return y[x.index(k)] += alpha * x.values[k], NoSum{}; }
};

/// results_k = alpha x_k + beta y_i, rounded once.
template <class T>
struct CombineEntries {
  using Sum = NoSum;
  using Factor = factor_t<T>;
  ScalarView<Factor> alpha_at, beta_at;
  SparseVectorView<const T> x;
  const T* y;
  T* results;
  Factor alpha{}, beta{};

  constexpr bool begin() { return alpha = alpha_at(), beta = beta_at(), true; }
  constexpr NoSum entry(std::int64_t k) const {
    Factor result = alpha * x.values[k];
    if (!(beta == Factor(0))) result += beta * y[x.index(k)];
    return results[k] = static_cast<T>(result), NoSum{};
  }
};

/// x_k, y_i = c x_k + s y_i, c y_i - s x_k.
template <class T>
struct RotateEntries {
  using Sum = NoSum;
  using Factor = factor_t<T>;
  ScalarView<Factor> c_at, s_at;
  SparseVectorView<T> x;
  T* y;
  Factor c{}, s{};

  constexpr bool begin() { return c = c_at(), s = s_at(), true; }
  constexpr NoSum entry(std::int64_t k) const {
    const std::int32_t i = x.index(k);
    const Factor old_x = x.values[k], old_y = y[i];
    x.values[k] = static_cast<T>(c * old_x + s * old_y), y[i] = static_cast<T>(c * old_y - s * old_x);
    return {};
  }
};

/// result = the sum of op(x_k) y_i.
template <class T>
struct DotEntries {
  using Sum = wide_t<T>;
  SparseVectorView<const T> x;
  const T* y;
  bool conjugates;
  wide_t<T>* result;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t k) const { return conj_if(conjugates, wide(x.values[k])) * wide(y[x.index(k)]); }
  constexpr void finish(const Sum& sum) const { *result = sum; }
};

/// result = the sum of x_k y_i, of narrow entries.
template <class T, class Result>
struct DotNarrowEntries {
  static constexpr bool wraps = std::is_same_v<Result, std::int32_t>;
  using Sum =
      std::conditional_t<wraps, std::uint32_t, double>;  // unsigned numbers may wrap around; the bits are the same
  SparseVectorView<const T> x;
  const T* y;
  Result* result;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t k) const { return static_cast<Sum>(x.values[k]) * static_cast<Sum>(y[x.index(k)]); }
  constexpr void finish(const Sum& sum) const {
    if constexpr (wraps)
      *result = static_cast<Result>(sum);
    else
      *result = static_cast<Result>(static_cast<float>(sum));
  }
};

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct SparseDensePasses {
  static constexpr auto list =
      passes<Where, CountNonzero<T>, FillNonzeros<T>, ScaleAll<T>, GatherEntries<T>, ClearEntries<T>, ScatterEntries<T>,
             AddEntries<T>, RotateEntries<T>, DotEntries<T>>;
};
template <class T, class Where>
struct TwoBytePasses {
  static constexpr auto list =
      passes<Where, ScaleAll<T>, GatherEntries<T>, ClearEntries<T>, ScatterEntries<T>, CombineEntries<T>,
             RotateEntries<T>, DotNarrowEntries<T, float>, DotNarrowEntries<T, T>>;
};
template <class Where>
struct BytePasses {
  static constexpr auto list =
      passes<Where, DotNarrowEntries<std::int8_t, std::int32_t>, DotNarrowEntries<std::int8_t, float>>;
};

}  // namespace krill::detail

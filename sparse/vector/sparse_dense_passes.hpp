// The level 1 operations of a sparse vector with a dense one, written once for both backends. All but the first three
// are over the entries of x.
#pragma once
#include <bit>

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

// In two steps, load() and store(), so that a thread may load several entries before it stores the first: a compiler
// has to take it that a store changes what is loaded after it. No two entries have one index.

/// *from, which is read once: on a device it leaves L2 to y, of which an entry takes a sector, that is written back
/// whole.
template <class T>
constexpr T read_once(const T* from) {
#ifdef __CUDA_ARCH__
  struct Halves {
    unsigned long long first, second;
  };
  if constexpr (sizeof(T) == 2)
    return std::bit_cast<T>(__ldcs(reinterpret_cast<const unsigned short*>(from)));
  else if constexpr (sizeof(T) == 4)
    return std::bit_cast<T>(__ldcs(reinterpret_cast<const unsigned*>(from)));
  else if constexpr (sizeof(T) == 8)
    return std::bit_cast<T>(__ldcs(reinterpret_cast<const unsigned long long*>(from)));
  else
    return std::bit_cast<T>(Halves{__ldcs(reinterpret_cast<const unsigned long long*>(from)),
                                   __ldcs(reinterpret_cast<const unsigned long long*>(from) + 1)});
#else
  return *from;
#endif
}
template <class T>
constexpr std::int32_t index_once(const SparseVectorView<T>& x, std::int64_t k) {
  return read_once(x.indices + k) - static_cast<std::int32_t>(x.base);
}

/// x_k = y_i.
template <class T>
struct GatherEntries {
  SparseVectorView<T> x;
  const T* y;

  constexpr bool begin() const { return true; }
  constexpr T load(std::int64_t k) const { return y[index_once(x, k)]; }
  constexpr void store(std::int64_t k, T loaded) const { x.values[k] = loaded; }
};

/// y_i = 0.
template <class T>
struct ClearEntries {
  SparseVectorView<const T> x;
  T* y;

  constexpr bool begin() const { return true; }
  constexpr std::int32_t load(std::int64_t k) const { return index_once(x, k); }
  constexpr void store(std::int64_t, std::int32_t i) const { y[i] = T(0); }
};

/// What goes to y_i.
template <class T>
struct IndexedEntry {
  std::int32_t i;
  T value;
};

/// y_i = x_k.
template <class T>
struct ScatterEntries {
  SparseVectorView<const T> x;
  T* y;

  constexpr bool begin() const { return true; }
  constexpr IndexedEntry<T> load(std::int64_t k) const { return {index_once(x, k), read_once(x.values + k)}; }
  constexpr void store(std::int64_t, const IndexedEntry<T>& entry) const { y[entry.i] = entry.value; }
};

/// y_i += alpha x_k.
template <class T>
struct AddEntries {
  ScalarView<T> alpha_at;
  SparseVectorView<const T> x;
  T* y;
  T alpha{};

  constexpr bool begin() { return alpha = alpha_at(), true; }
  constexpr IndexedEntry<T> load(std::int64_t k) const {
    const std::int32_t i = index_once(x, k);
    T sum = y[i];
    sum += alpha * read_once(x.values + k);
    return {i, sum};
  }
  constexpr void store(std::int64_t, const IndexedEntry<T>& entry) const { y[entry.i] = entry.value; }
};

/// results_k = alpha x_k + beta y_i, rounded once.
template <class T>
struct CombineEntries {
  using Factor = factor_t<T>;
  ScalarView<Factor> alpha_at, beta_at;
  SparseVectorView<const T> x;
  const T* y;
  T* results;
  Factor alpha{}, beta{};

  constexpr bool begin() { return alpha = alpha_at(), beta = beta_at(), true; }
  constexpr T load(std::int64_t k) const {
    Factor result = alpha * read_once(x.values + k);
    if (!(beta == Factor(0))) result += beta * y[index_once(x, k)];
    return static_cast<T>(result);
  }
  constexpr void store(std::int64_t k, T loaded) const { results[k] = loaded; }
};

/// x_k, y_i = c x_k + s y_i, c y_i - s x_k.
template <class T>
struct RotateEntries {
  using Factor = factor_t<T>;
  struct Loaded {
    std::int32_t i;
    T x, y;
  };
  ScalarView<Factor> c_at, s_at;
  SparseVectorView<T> x;
  T* y;
  Factor c{}, s{};

  constexpr bool begin() { return c = c_at(), s = s_at(), true; }
  constexpr Loaded load(std::int64_t k) const {
    const std::int32_t i = index_once(x, k);
    const Factor old_x = read_once(x.values + k), old_y = y[i];
    return {i, static_cast<T>(c * old_x + s * old_y), static_cast<T>(c * old_y - s * old_x)};
  }
  constexpr void store(std::int64_t k, const Loaded& entry) const { x.values[k] = entry.x, y[entry.i] = entry.y; }
};

/// Runs begin(), then load(k) and store() for every k in [0, n).
template <class Steps>
void run_entries(const Host&, std::int64_t n, Steps);
template <class Steps>
void run_entries(const Cuda&, std::int64_t n, Steps);

/// run_entries of each on a backend: what a list of them consists of.
template <class Where, class... Steps>
constexpr std::tuple entry_steps{instance<void(const Where&, std::int64_t, Steps)>(run_entries)...};

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
  static constexpr auto list = passes<Where, CountNonzero<T>, FillNonzeros<T>, ScaleAll<T>, DotEntries<T>>;
  static constexpr auto in_steps =
      entry_steps<Where, GatherEntries<T>, ClearEntries<T>, ScatterEntries<T>, AddEntries<T>, RotateEntries<T>>;
};
template <class T, class Where>
struct TwoBytePasses {
  static constexpr auto list = passes<Where, ScaleAll<T>, DotNarrowEntries<T, float>, DotNarrowEntries<T, T>>;
  static constexpr auto in_steps =
      entry_steps<Where, GatherEntries<T>, ClearEntries<T>, ScatterEntries<T>, CombineEntries<T>, RotateEntries<T>>;
};
template <class Where>
struct BytePasses {
  static constexpr auto list =
      passes<Where, DotNarrowEntries<std::int8_t, std::int32_t>, DotNarrowEntries<std::int8_t, float>>;
};

}  // namespace krill::detail

// A product as kernels get it: pointers on the tag's side, any format's view, any index base.
#pragma once
#include "sparse/core/fused.hpp"
#include "sparse/formats/any_matrix.hpp"

namespace krill {

/// What the kernels get of Dots: pointers on the tag's side; results that are null are not wanted.
template <class T>
struct DotsView {
  const T* with_first = nullptr;
  wide_t<T>* first = nullptr;
  const T* with_second = nullptr;
  wide_t<T>* second = nullptr;
  const std::uint32_t* left_out = nullptr;  ///< see Dots, as for the range that is kept
  std::int32_t begin_kept = 0, end_kept = 0;

  constexpr bool wanted() const { return first || second; }

  /// What rows add up to.
  struct Sum {
    wide_t<T> first{}, second{};
    constexpr Sum& operator+=(const Sum& other) { return first += other.first, second += other.second, *this; }
  };
  /// The part of row i, whose y is known already.
  constexpr Sum row(std::int64_t i, const T* y, T y_i) const {
    Sum part;
    if (leaves_out(i)) return part;
    if (first) part.first = conj(wide(with_first == y ? y_i : with_first[i])) * wide(y_i);
    if (second) part.second = conj(wide(with_second == y ? y_i : with_second[i])) * wide(y_i);
    return part;
  }
  constexpr void finish(const Sum& sum) const {
    if (first) *first = sum.first;
    if (second) *second = sum.second;
  }

 private:
  constexpr bool leaves_out(std::int64_t i) const {
    if (!left_out || (i >= begin_kept && i < end_kept)) return false;
    return left_out[i >> 5] >> (i & 31) & 1;
  }
};

/// What a row needs beside its sum, of vectors that it alone reads and writes: values that a kernel has asked for.
template <class T>
struct LoadedOperands {
  T of_z{}, of_d{}, of_x{};
  real_t<T> of_inverse{};

  constexpr T z() const { return of_z; }
  constexpr T former() const { return of_d; }
  constexpr T x() const { return of_x; }
  constexpr real_t<T> inverse() const { return of_inverse; }
};

/// What a step multiplies with; before: the weight of the step before.
template <class T>
struct ReadFactors {
  real_t<T> before{}, old{}, fresh{}, weight{};
};

/// What a row does with its r before it goes on, in a step of a recurrence (RecurrenceStep).
template <class T>
struct StepView {
  const real_t<T>* inverse = nullptr;  ///< null: nothing
  const real_t<T>* factors = nullptr;  ///< old, fresh, weight of this step, behind those of the step before
  const T* former = nullptr;           ///< null in the first step
  T* d = nullptr;                      ///< null in the last step
  T* x = nullptr;                      ///< null in the first step
  bool from_zero = false;

  /// Those of ReadFactors that it needs, read.
  constexpr ReadFactors<T> read_factors() const {
    ReadFactors<T> read;
    if (!inverse) return read;
    read.fresh = factors[1];
    if (former) read.before = factors[-1], read.old = factors[0];
    if (!d) read.weight = factors[2];
    return read;
  }
  constexpr void fetch(std::int64_t i, LoadedOperands<T>& own) const {
    if (!inverse) return;
    own.of_inverse = inverse[i];
    if (former) own.of_d = former[i];
    if (former && !from_zero) own.of_x = x[i];
  }
  /// What y_i becomes: r_i, or in the last step x_i.
  template <class Operands>
  constexpr T take(std::int64_t i, T r, const Operands& own, const ReadFactors<T>& read) const {
    T next = scaled(r, read.fresh * own.inverse()), x_i{};
    if (former) {
      const T before = own.former();
      next = add_scaled(next, before, read.old);
      x_i = from_zero ? scaled(before, read.before) : add_scaled(own.x(), before, read.before);
    }
    if (!d) return add_scaled(x_i, next, read.weight);
    d[i] = next;
    if (former) x[i] = x_i;
    return r;
  }
};

/// y = alpha A x + beta z, where z is y itself unless it is given, and the dots of the new y.
template <class View>
struct Product {
  using T = typename View::Value;

  ScalarView<T> alpha;
  View a;
  const T* x;
  ScalarView<T> beta;
  T* y;
  DotsView<T> dots;
  const T* z = nullptr;
  const std::int32_t* mask =
      nullptr;  ///< for blocks: only these block rows (counted from the matrix's base) are touched
  std::int32_t mask_size = 0;
  StepView<T> step = {};

  constexpr std::int32_t block_row(std::int64_t b) const {
    return mask ? mask[b] - static_cast<std::int32_t>(a.base) : static_cast<std::int32_t>(b);
  }
  /// Operands of row i that are read when they are needed.
  struct Operands {
    const Product* p;
    std::int64_t i;

    constexpr T z() const { return p->z ? p->z[i] : p->y[i]; }
    constexpr T former() const { return p->step.former[i]; }
    constexpr T x() const { return p->step.x[i]; }
    constexpr real_t<T> inverse() const { return p->step.inverse[i]; }
  };
  /// What all rows multiply with, read.
  struct Factors {
    T alpha{}, beta{};
    ReadFactors<T> step;
  };
  constexpr Factors read_factors() const { return {alpha(), beta(), step.read_factors()}; }

  constexpr LoadedOperands<T> fetch(std::int64_t i, const Factors& read) const {
    LoadedOperands<T> own;
    if (!(read.beta == T(0))) own.of_z = z ? z[i] : y[i];
    step.fetch(i, own);
    return own;
  }

  /// y_i for the sum of row i: stores and returns it.
  template <class Own>
  constexpr T put(std::int64_t i, T sum, const Own& own, const Factors& read) const {
    T result = read.alpha * sum;
    if (!(read.beta == T(0))) result += read.beta * own.z();
    if (step.inverse) result = step.take(i, result, own, read.step);
    return y[i] = result;
  }
  constexpr T put(std::int64_t i, T sum) const { return put(i, sum, Operands{this, i}, read_factors()); }
  /// The same, but returns what the row adds to the dots.
  constexpr typename DotsView<T>::Sum store(std::int64_t i, T sum) const { return dots.row(i, y, put(i, sum)); }
};

// The kernels behind the doors, for callers who own their memory, too. Rows of padding, zeros in blocks and diagonals
// that leave the matrix take no part. All are repeatable bitwise. On CUDA, values lie at multiples of their size.
template <class T, class Offset>
void run_product(const Host&, const Product<CsrView<const T, Offset>>&);
template <class T, class Offset>
void run_product(const Cuda&, const Product<CsrView<const T, Offset>>&);
template <class T>
void run_product(const Host&, const Product<SellView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<SellView<const T>>&);
/// By way of CSR: row offsets in the workspace, each time.
template <class T>
void run_product(const Host&, const Product<CooView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<CooView<const T>>&);
/// The ELL part, then the other one added, by way of CSR. Both have their own index base.
template <class T>
void run_product(const Host&, const Product<HybView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<HybView<const T>>&);
template <class T>
void run_product(const Host&, const Product<DiaView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<DiaView<const T>>&);
template <class T>
void run_product(const Host&, const Product<BlockedEllView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<BlockedEllView<const T>>&);
template <class T>
void run_product(const Host&, const Product<BsrView<const T>>&);
template <class T>
void run_product(const Cuda&, const Product<BsrView<const T>>&);

}  // namespace krill

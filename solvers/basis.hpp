// Many long vectors and few numbers: a basis in one array, and the kernels that read it.
#pragma once
#include <algorithm>
#include <cstddef>

#include "solvers/arnoldi.hpp"
#include "sparse/core/array.hpp"
#include "sparse/core/half.hpp"
#include "sparse/core/memory_ledger.hpp"

namespace krill {

namespace detail {

/// float16 keeps numbers of vectors of length 1 times 2^15: to 2^-29 with all bits, to 2^-39 at all, and none
/// overflows.
template <class S>
inline constexpr float stored_scale = std::is_same_v<real_t<S>, Half> ? 0x1p15F : 1.0F;

/// A number as it is kept in S, without stored_scale.
template <class S, class T>
constexpr S to_stored(T a) {
  using R = real_t<S>;
  const auto part = [](auto x) {
    if constexpr (std::is_same_v<R, Half>)
      return Half(static_cast<float>(x));
    else
      return static_cast<R>(x);
  };
  if constexpr (is_complex<S>)
    return S(part(a.re), part(a.im));
  else
    return part(a);
}
template <class T, class S>
constexpr T from_stored(S a) {
  using R = real_t<T>;
  const auto part = [](auto x) {
    if constexpr (std::is_same_v<decltype(x), Half>)
      return static_cast<R>(static_cast<float>(x));
    else
      return static_cast<R>(x);
  };
  if constexpr (is_complex<T>)
    return T(part(a.re), part(a.im));
  else
    return part(a);
}

/// Vectors of `rows` numbers; vector k begins at values + k stride. Between rows and stride, a multiple of 128 bytes,
/// are zeros.
template <class S>
struct BasisView {
  S* values = nullptr;
  std::int64_t rows = 0, stride = 0;
  constexpr S* vector(int k) const { return values + std::int64_t(k) * stride; }
};

/// with_u = V^H u and with_w = V^H w of the first *columns + extra vectors of V, at most `capacity` of them, and then
/// what `then` does with them. u: may be null, for zeros. Sums of float are in double. The number of vectors is read
/// where the kernel runs, so that one node of a graph serves all steps. Reads V, u and w once.
template <class T, class S>
struct BasisDots {
  BasisView<const S> basis;
  const int* columns;
  int extra, capacity;
  const T *u, *w;
  wide_t<T>*with_u, *with_w;
  Arnoldi<T> then;
};

/// q = (u - V a) q_factor becomes the vector after the last one, and out = (w - V c - along_q q) scale, with q as it is
/// kept; then what `then` does with ||out||^2. u: null, and there is no q. a: null, for zeros. w: null, for zeros.
/// factors: null, for 1. out may be u or w. Reads V, u and w once, writes q and out.
template <class T, class S>
struct BasisUpdate {
  BasisView<S> basis;
  const int* columns;
  int extra, capacity;
  const T* u;
  const wide_t<T>* a;
  const T* w;
  const wide_t<T>* c;
  T* out;
  const StepScalars<T>* factors;
  Arnoldi<T> then;
};

}  // namespace detail

/// Repeatable bitwise: sums are added in a fixed order, on the host whatever the number of threads is.
template <class T, class S>
void run_dots(const Host&, const detail::BasisDots<T, S>&);
template <class T, class S>
void run_dots(const Cuda&, const detail::BasisDots<T, S>&);
template <class T, class S>
void run_update(const Host&, const detail::BasisUpdate<T, S>&);
template <class T, class S>
void run_update(const Cuda&, const detail::BasisUpdate<T, S>&);
/// Arnoldi::solve(), in one thread or block.
template <class T>
void run_solve(const Host&, const detail::Arnoldi<T>&);
template <class T>
void run_solve(const Cuda&, const detail::Arnoldi<T>&);

/// `capacity` vectors of `rows` numbers in one array, kept in T or, by `precision`, in less.
template <class T>
class Basis {
 public:
  Basis(std::int64_t rows, int capacity, BasisPrecision precision, const char* name)
      : rows_(rows),
        capacity_(capacity),
        real_bytes_(real_bytes(precision)),
        memory_(bytes(rows, capacity, precision), name) {}

  /// f(BasisView<S>), with S what the numbers are kept in. For reading a basis as well, whose contents stay.
  template <class Where, class F>
  void view(const Where& where, F&& f) {
    std::byte* begin = memory_.update(where);
    const auto as = [&]<class R>(R) {
      using S = std::conditional_t<is_complex<T>, Complex<R>, R>;
      f(detail::BasisView<S>{reinterpret_cast<S*>(begin), rows_, stride(rows_, sizeof(S))});
    };
    if (real_bytes_ == sizeof(real_t<T>)) return as(real_t<T>{});
    if constexpr (sizeof(real_t<T>) > sizeof(float))
      if (real_bytes_ == sizeof(float)) return as(float{});
    as(Half{});
  }

  int capacity() const { return capacity_; }
  std::size_t bytes() const { return static_cast<std::size_t>(memory_.size()); }
  /// Of such a basis.
  static std::int64_t bytes(std::int64_t rows, int capacity, BasisPrecision precision) {
    const std::size_t number = real_bytes(precision) * (is_complex<T> ? 2 : 1);
    return capacity * stride(rows, number) * static_cast<std::int64_t>(number);
  }
  /// Workspace of its kernels, and nothing where that is less than others take.
  static void scratch(MemoryLedger&, std::int64_t rows, int capacity, BasisPrecision);

 private:
  static std::size_t real_bytes(BasisPrecision precision) {
    constexpr std::size_t of_precision[] = {sizeof(double), sizeof(float), sizeof(Half)};
    return std::min(sizeof(real_t<T>), of_precision[static_cast<int>(precision)]);
  }
  static std::int64_t stride(std::int64_t rows, std::size_t number) {
    const auto line = static_cast<std::int64_t>(128 / number);
    return (rows + line - 1) / line * line;
  }

  std::int64_t rows_;
  int capacity_;
  std::size_t real_bytes_;
  Array<std::byte> memory_;
};

namespace detail {

/// How the kernels of a basis cut it; the plan of memory asks, too.
struct BasisTuning {
  // On CUDA; reasoned, not varied.
  static constexpr int dot_threads = 512;     ///< a block: one a multiprocessor, so that few partial sums are added
  static constexpr int update_threads = 256;  ///< more blocks: nothing but a norm is added up
  static constexpr int group = 8;             ///< vectors in flight, of complex numbers half as many
  // On the host.
  static constexpr std::int64_t tile = 1024;      ///< rows whose u and w stay in the first cache
  static constexpr std::int64_t max_parts = 256;  ///< whose sums are added in order
};
/// Rows that a thread has in registers.
template <class T, class S>
inline constexpr int basis_rows = std::max<int>(16 / sizeof(S), 32 / sizeof(T));

/// Doubles that a sum over part of the rows has: V^H u, V^H w, and three dots of u and w.
template <class T>
constexpr std::int64_t basis_sums(int capacity) {
  return 2 * capacity * (is_complex<T> ? 2 : 1);
}
inline std::int64_t basis_part(std::int64_t rows) {  // on the host
  const std::int64_t tiles = (rows + BasisTuning::tile - 1) / BasisTuning::tile;
  return (tiles + BasisTuning::max_parts - 1) / BasisTuning::max_parts * BasisTuning::tile;
}

/// What is compiled for each backend.
template <class T, class S, class Where>
constexpr std::tuple basis_kernels{instance<void(const Where&, const BasisDots<T, S>&)>(run_dots),
                                   instance<void(const Where&, const BasisUpdate<T, S>&)>(run_update)};
template <class Value, class Where, class T = kernel_t<Value>>
struct BasisKernels {
  template <class R>
  using Of = std::conditional_t<is_complex<T>, Complex<R>, R>;
  static constexpr auto own = basis_kernels<T, T, Where>;
  static constexpr auto half = basis_kernels<T, Of<Half>, Where>;
  static constexpr auto single = basis_kernels<T, Of<float>, Where>;
  static constexpr auto solve = instance<void(const Where&, const Arnoldi<T>&)>(run_solve);
};

}  // namespace detail
}  // namespace krill

// A dense matrix times a sparse vector as its kernels work on it: op(A) as a matrix, the entries of x in parts.
#pragma once
#include <algorithm>

#include "sparse/core/instantiate.hpp"
#include "sparse/vector/gemvi.hpp"

namespace krill::detail {

/// The entries of x in `count` parts of `length`, the last ones shorter or empty. What row i sums up over each part
/// waits in `sums` for the others, those of a row side by side; one part goes to y by itself.
template <class T>
struct GemviParts {
  GemviCall<T> p;  ///< a is op(A) without its conjugation
  bool conjugates;
  int count = 1;
  std::int64_t length = 0;
  T* sums = nullptr;

  GemviParts(Op op, const GemviCall<T>& call) : p(call), conjugates(op == Op::adjoint), length(call.x.nnz) {
    if (op != Op::none) p.a = p.a.transposed();
  }
  /// At most `most` parts; `frame` has room for their sums.
  void split(Frame& frame, std::int64_t most) {
    count = static_cast<int>(most);
    length = ceil_div(p.x.nnz, most);
    if (count > 1) sums = frame.take<T>(static_cast<std::size_t>(p.a.rows) * static_cast<std::size_t>(count));
  }

  constexpr std::int64_t begin(int part) const { return at_most_all(part * length); }
  constexpr std::int64_t end(int part) const { return at_most_all((part + 1) * length); }
  /// An entry of op(A) times one of x.
  constexpr T term(T entry, std::int64_t k) const { return conj_if(conjugates, entry) * p.x.values[k]; }
  constexpr void store(std::int64_t i, int part, T sum) const {
    if (sums)
      sums[i * count + part] = sum;
    else
      put(i, sum);
  }
  /// y_i for the sum of row i.
  constexpr void put(std::int64_t i, T sum) const {
    T result = p.alpha() * sum;
    if (const T factor = p.beta(); !(factor == T(0))) result += factor * p.y[i];
    p.y[i] = result;
  }

 private:
  constexpr std::int64_t at_most_all(std::int64_t k) const { return k < p.x.nnz ? k : p.x.nnz; }
};

/// What is compiled for each backend.
template <class T, class Where>
struct GemviKernels {
  static constexpr auto list = instance<void(const Where&, Op, const GemviCall<kernel_t<T>>&)>(run_gemvi);
};

}  // namespace krill::detail

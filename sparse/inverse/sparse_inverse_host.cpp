#include <algorithm>
#include <cmath>
#include <vector>

#include "sparse/convert/reduce_rows_host.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/core/pivot_size.hpp"
#include "sparse/inverse/sparse_inverse_passes.hpp"

namespace krill::detail {
namespace {

/// The system of one row: `dim` equations, each with its right-hand side after its coefficients.
template <class T, class Offset>
class RowSystem {
 public:
  RowSystem(const InverseTask<T, Offset>& task, std::int64_t row) : f_(task), first_(task.offsets[row]), row_(row) {
    dim_ = static_cast<std::int32_t>(task.offsets[row + 1] - first_);
  }

  InverseOutcome solve(std::vector<T>& memory) {
    memory.resize(static_cast<std::size_t>(dim_) * static_cast<std::size_t>(dim_ + 1));
    s_ = memory.data();
    if (!gather()) return fail(T{}), InverseOutcome::not_finite;
    for (std::int32_t k = 0; k < dim_; ++k)
      if (!eliminate(k)) return fail(at(k, k)), InverseOutcome::singular;
    return substitute() ? InverseOutcome::solved : InverseOutcome::not_finite;
  }

 private:
  T& at(std::int32_t equation, std::int32_t unknown) const { return s_[equation * (dim_ + 1) + unknown]; }
  const std::int32_t* columns() const { return f_.columns + first_; }

  /// A factored system is Hermitian: what lies left of its diagonal is not looked at. False where it is not finite.
  bool gather() {
    bool finite = true;
    for (std::int32_t t = 0; t < dim_; ++t) {
      at(t, dim_) = T(static_cast<real_t<T>>(columns()[t] == row_ ? 1 : 0));
      for (std::int32_t p = f_.factored ? t : 0; p < dim_; ++p) {
        at(t, p) = f_.entry(columns()[t], columns()[p]);
        finite = finite && is_finite(at(t, p));
      }
    }
    return finite;
  }

  /// Takes unknown k out of the equations after k.
  bool eliminate(std::int32_t k) {
    if (!f_.factored) {
      std::int32_t best = k;
      for (std::int32_t t = k + 1; t < dim_; ++t)
        if (pivot_size(at(t, k)) > pivot_size(at(best, k))) best = t;
      if (best != k) std::swap_ranges(&at(k, k), &at(k, dim_) + 1, &at(best, k));
    }
    if (f_.refuses(at(k, k))) return false;
    const T inverse = T(1) / at(k, k);
    for (std::int32_t t = k + 1; t < dim_; ++t) {
      const T factor = (f_.factored ? conj(at(k, t)) : at(t, k)) * inverse;
      if (factor == T(0)) continue;
      for (std::int32_t p = f_.factored ? t : k + 1; p <= dim_; ++p) at(t, p) -= factor * at(k, p);
    }
    return true;
  }

  /// The solution, scaled for G. False where it is not finite.
  bool substitute() {
    T* x = f_.values + first_;
    for (std::int32_t k = dim_ - 1; k >= 0; --k) {
      T left = at(k, dim_);
      for (std::int32_t p = k + 1; p < dim_; ++p) left -= at(k, p) * x[p];
      x[k] = left / at(k, k);
    }
    const real_t<T> scale = f_.factored && dim_ ? 1 / std::sqrt(real(x[dim_ - 1])) : real_t<T>(1);
    for (std::int32_t k = 0; k < dim_; ++k) x[k] = scaled(x[k], scale);
    return std::all_of(x, x + dim_, [](T v) { return is_finite(v); });
  }

  void fail(T pivot) const {
    for (std::int32_t k = 0; k < dim_; ++k) f_.values[first_ + k] = k == 0 ? pivot : T{};
  }

  const InverseTask<T, Offset>& f_;
  Offset first_;
  std::int64_t row_;
  std::int32_t dim_;
  T* s_ = nullptr;
};

}  // namespace

template <class T, class Offset>
void solve_inverse(const Host& host, const InverseTask<T, Offset>& task) {
  if (host.skip.now()) return;
  const std::int64_t work = std::int64_t{task.offsets[task.a.rows]} * 32;  // some operations an entry of short rows
  for_blocks(host, task.a.rows, 64, work, [&](std::int64_t begin, std::int64_t end) {
    std::vector<T> memory;
    for (std::int64_t i = begin; i < end; ++i)
      task.outcomes[i] = static_cast<std::uint8_t>(RowSystem<T, Offset>(task, i).solve(memory));
  });
}

KRILL_INSTANTIATE_WITH_OFFSETS(SparseInversePasses, Host);

}  // namespace krill::detail

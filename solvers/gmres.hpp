// Restarted GMRES, preconditioned from the right (Saad and Schultz 1986), and its flexible form (Saad 1993).
#pragma once
#include <concepts>
#include <optional>

#include "solvers/basis.hpp"
#include "solvers/gmres_passes.hpp"
#include "solvers/krylov.hpp"
#include "solvers/work.hpp"

namespace krill {

/// What the options of gmres and fgmres say.
struct GmresShape {
  int restart;
  Orthogonalization orthogonalization;
  BasisPrecision basis_precision;
  std::optional<BasisPrecision> kept = {};  ///< FGMRES: of M u, which is kept

  GmresShape(const GmresOptions&, std::int64_t size);
  GmresShape(const FgmresOptions&, std::int64_t size);
};

/// Minimises ||b - A x|| over Krylov spaces of `restart` vectors; the residual is the true one at every restart. The
/// basis V lies in one array. By one_reduce, a step reads it twice: once for V^H [u w], of the vector u that the step
/// before has found and of w = A M u, once to make u orthogonal for the second and w for the first time (delayed
/// classical Gram-Schmidt; Bielich, Langou, Thomas, Swirydowicz, Yamazaki and Boman 2022). Flexible: M may be another
/// one in every step, and M u is kept as well.
///
/// A body of the loop holds the beginning of a cycle, a few steps and its end; what is not due is skipped, so that the
/// graph does not grow with the restart. Keeps the basis and 3 vectors beside b and x.
template <class T>
class Gmres final : public Krylov<T> {
 public:
  Gmres(const Operator<T>& A, const Preconditioner<T>& M, const GmresOptions& = {});
  /// A template, so that braces without a type are GmresOptions.
  template <std::same_as<FgmresOptions> Options>
  Gmres(const Operator<T>& A, const Preconditioner<T>& M, const Options& o)
      : Gmres(A, M, GmresShape(o, A.all_rows()), o.max_iterations, o.stop) {}
  std::size_t bytes() const override;
  /// The memory that a solve takes. preconditioned: M is not the identity, so its results take a vector of their own.
  static HeldMemory memory(MemoryLedger&, std::int64_t size, const GmresOptions&, bool preconditioned);
  static HeldMemory memory(MemoryLedger&, std::int64_t size, const FgmresOptions&, bool preconditioned);
  /// The basis of the cycle that was last under way; vectors of length 1, orthogonal up to rounding.
  Basis<T>& basis() { return basis_; }

 private:
  using State = detail::ArnoldiState<kernel_t<T>>;
  static constexpr std::int64_t vectors = 3;  // u, w, z
  static constexpr int max_steps = 8;         // in a body of the loop: beside them its beginning and end cost little

  Gmres(const Operator<T>& A, const Preconditioner<T>& M, const GmresShape&, int max_iterations, const StopOptions&);
  static HeldMemory memory(MemoryLedger&, std::int64_t size, const GmresShape&, int max_iterations,
                           bool preconditioned);

  void start(Context&) override;
  void iterate_once(Context&) override;  // a part of a cycle
  void settle(Context&) override;
  std::int64_t own_vectors() const override { return vectors; }

  template <class F>
  void where_running(Context&, Reason State::*part, F&& f);
  void begin_cycle(Context&);
  void step(Context&);
  void keep(Context&, const Array<T>& z);
  void find_dots(Context&, bool second_sweep);
  void subtract(Context&, bool second_sweep);
  void close_cycle(Context&);
  void update_solution(Context&);

  template <class Where>
  detail::Arnoldi<kernel_t<T>> arnoldi(const Where&, bool second_sweep = false);

  using Krylov<T>::A_, Krylov<T>::M_, Krylov<T>::x_, Krylov<T>::r_, Krylov<T>::rr_, Krylov<T>::ss_,
      Krylov<T>::progress_;
  GmresShape shape_;
  Basis<T> basis_;
  std::optional<Basis<T>> kept_;
  Array<T> u_, w_, z_;
  Array<wide_t<T>> numbers_;
  Array<double> reals_, most_;
  Array<State> state_;
};

namespace detail {
/// Step j of a cycle multiplies, reads the basis of j vectors twice or four times and writes the next one; a cycle
/// begins with the residual and ends with the update of x and of the residual.
template <class Options>
SolveWork gmres_work(const Options& o, int iterations, bool flexible) {
  const bool twice = o.orthogonalization == Orthogonalization::cgs2,
             delayed = o.orthogonalization == Orthogonalization::one_reduce;
  SolveWork sum;
  double& basis = sum.kept_vectors[static_cast<std::size_t>(o.basis_precision)];
  for (int done = 0; done < iterations; done += o.restart) {
    const double steps = iterations - done < o.restart ? iterations - done : o.restart, pairs = steps * (steps - 1) / 2;
    sum.products += steps + 1;
    sum.applications += steps + (flexible ? 0 : 1);
    basis += (twice ? 4 : 2) * pairs + (twice ? 3 : 1) * steps + (flexible ? 0 : steps);
    sum.vectors += (twice ? 10 : 7) * steps + (flexible ? 9 : 11);
    sum.updates += (twice || delayed ? 4 + twice : 3) * pairs + (twice ? 7 : 4) * steps + steps + 2;
  }
  return sum;
}
}  // namespace detail
inline SolveWork work(const GmresOptions& o, int iterations) { return detail::gmres_work(o, iterations, false); }
/// Beside GMRES's: M u is read, kept, and read again for x; where it is kept in less, for its greatest entry, too.
inline SolveWork work(const FgmresOptions& o, int iterations) {
  SolveWork sum = detail::gmres_work(o, iterations, true);
  sum.kept_vectors[static_cast<std::size_t>(o.kept_precision)] += 2.0 * iterations;
  sum.vectors += (o.kept_precision == BasisPrecision::float64 ? 1.0 : 2.0) * iterations;
  return sum;
}

}  // namespace krill

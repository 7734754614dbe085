// Some iterations of a solver.
#pragma once
#include <algorithm>

#include "apps/verify/precond/reference.hpp"
#include "solvers/method/type_name.hpp"

namespace krill::apps::verify {

inline Judging judging(const InnerSolverOptions& o) {
  const SolverOptions& solver = o.inner->solver;
  Judging j{.variant = fmt::format(" {}", type_name(solver))};
  const auto* pcg = std::get_if<PcgOptions>(&solver);
  const bool has_definition =
      std::holds_alternative<RichardsonOptions>(solver) || (pcg && pcg->method == PcgMethod::classic);
  if (!has_definition)
    j.not_judged = fmt::format("solver {} has no error analysis; whole solves judge it", type_name(solver));
  else if (stop(solver).relative > 0 || stop(solver).absolute > 0)
    j.not_judged = "its tolerance, not a number of iterations, ends the solver inside; whole solves judge it";
  return j;
}

/// The methods from z = 0, with running error analysis.
template <class T>
class InnerReference {
 public:
  InnerReference(const InnerMethod& method, const Question<T>& q) : method_(method), q_(q), z_(q.r.size()), r_(q.r) {}

  void iterate(const RichardsonOptions& o, int times) {
    for (int k = 0; k < times; ++k) {
      z_ = sum(z_, factor<T>(o.relaxation), preconditioned_residual());
      r_ = sum(q_.r, Bounded<T>(T(-1)), product<T>(q_.A, z_));
    }
  }
  /// Hestenes and Stiefel (1952).
  void iterate(const PcgOptions&, int times) {
    BoundedVector<T> p;
    Bounded<T> rho;
    for (int k = 0; k < times; ++k) {
      const BoundedVector<T> s = preconditioned_residual();
      const Bounded<T> before = std::exchange(rho, dot(r_, s));
      p = k == 0 ? s : sum(s, quotient(rho, before), p);
      const BoundedVector<T> q = product<T>(q_.A, p);
      const Bounded<T> alpha = quotient(rho, dot(p, q));
      z_ = sum(z_, alpha, p), r_ = sum(r_, Bounded<T>(-alpha.value, alpha.error), q);
    }
  }
  const BoundedVector<T>& z() const { return z_; }

 private:
  BoundedVector<T> preconditioned_residual() const {
    return preconditioned(q_.ctx, method_.preconditioner, q_.matrix, q_.report, r_, q_.coordinates);
  }
  static Bounded<T> dot(const BoundedVector<T>& x, const BoundedVector<T>& y) {
    BoundedSum<T> sum;
    for (std::size_t i = 0; i < x.size(); ++i) sum.add(conjugated(x[i]), y[i]);
    return sum.result();
  }
  static BoundedVector<T> sum(const BoundedVector<T>& x, const Bounded<T>& a, const BoundedVector<T>& y) {
    BoundedVector<T> all(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) all[i] = BoundedSum<T>().add(x[i]).add(a, y[i]).result();
    return all;
  }

  const InnerMethod& method_;
  const Question<T>& q_;
  BoundedVector<T> z_, r_;
};

template <class T>
BoundedVector<T> reference(const InnerSolverOptions& o, const Question<T>& q) {
  const InnerMethod& method = o.inner.value();
  InnerReference<T> inner(method, q);
  if (std::ranges::all_of(q.r, [](const Bounded<T>& entry) { return entry.greatest() == 0; })) return inner.z();
  std::visit(
      [&](const auto& solver) {
        if constexpr (requires { inner.iterate(solver, 1); }) inner.iterate(solver, solver.max_iterations);
      },
      method.solver);
  return inner.z();
}

}  // namespace krill::apps::verify

// What preconditioners by incomplete factorizations share: a factorization that is timed and refuses bad pivots, and
// solves with the triangles of a factor.
#pragma once
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <variant>

#include "solvers/precond/make.hpp"
#include "solvers/precond/triangular_facts.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/factor/fixed_point.hpp"
#include "sparse/factor/incomplete.hpp"
#include "sparse/triangular/approximate.hpp"
#include "sparse/vector/vector.hpp"

namespace krill::detail {

/// A solve with a triangle of a factor, exact or approximate.
template <class T, class Offset>
class FactorSolve {
 public:
  /// levels: of the triangle, where they are known.
  FactorSolve(Context& ctx, const Csr<T, Offset>& factor, Triangle triangle, const FactorSolveOptions& o,
              const LevelSchedule* levels)
      : plan_(planned(ctx, factor, triangle, o, levels)) {}

  static HeldMemory memory(MemoryLedger& ledger, Context& host, const Csr<T, Offset>& factor, Triangle triangle,
                           const FactorSolveOptions& o, const LevelSchedule* levels) {
    return std::visit(
        Overloaded{[&](const TriangularOptions& how) { return Exact::memory(ledger, host, factor, triangle, how); },
                   [&](const ApproximateOptions& how) { return Approximate::memory(ledger, factor, triangle, how); }},
        chosen(o, levels));
  }

  void solve(Context& ctx, const Array<T>& b, Array<T>& x) const {
    std::visit([&](const auto& plan) { plan.solve(ctx, T(1), b, x); }, plan_);
  }
  void update(Context& ctx, const Csr<T, Offset>& factor) {
    std::visit([&](auto& plan) { plan.update(ctx, factor); }, plan_);
  }
  Work work() const {
    return std::visit([](const auto& plan) { return plan.work(); }, plan_);
  }
  bool is_exact() const { return std::holds_alternative<Exact>(plan_); }
  std::size_t bytes() const {
    return std::visit([](const auto& plan) { return plan.bytes(); }, plan_);
  }
  /// Of the triangle, without its diagonal.
  std::int64_t entries() const {
    if (const auto* exact = std::get_if<Exact>(&plan_)) return exact->report().entries;
    return std::get<Approximate>(plan_).entries();
  }
  void tell(const std::string& triangle, const FactorSolveOptions& o, PreconditionerReport& report) const {
    if (const auto* exact = std::get_if<Exact>(&plan_))
      add_facts(report, triangle, exact->report());
    else
      report.facts.push_back(
          {triangle + "_method", std::string(triangular_solve_names[static_cast<std::size_t>(o.method)])});
  }

 private:
  using Exact = TriangularPlan<T, Offset>;
  using Approximate = ApproximateTriangularPlan<T, Offset>;
  using Plan = std::variant<Exact, Approximate>;

  static std::variant<TriangularOptions, ApproximateOptions> chosen(const FactorSolveOptions& o,
                                                                    const LevelSchedule* levels) {
    switch (o.method) {
      case FactorSolveMethod::natural:
        return TriangularOptions{TriangularMethod::natural, levels};
      case FactorSolveMethod::by_level:
        return TriangularOptions{TriangularMethod::by_level, levels};
      case FactorSolveMethod::level_kernels:
        return TriangularOptions{TriangularMethod::level_kernels, levels};
      case FactorSolveMethod::one_block:
        return TriangularOptions{TriangularMethod::one_block, levels};
      case FactorSolveMethod::jacobi:
        return ApproximateOptions{ApproximateMethod::jacobi, o.sweeps};
      case FactorSolveMethod::isai:
        return ApproximateOptions{ApproximateMethod::isai, o.corrections};
      case FactorSolveMethod::automatic:
        break;
    }
    return TriangularOptions{TriangularMethod::automatic, levels};
  }
  static Plan planned(Context& ctx, const Csr<T, Offset>& factor, Triangle triangle, const FactorSolveOptions& o,
                      const LevelSchedule* levels) {
    return std::visit(Overloaded{[&](const TriangularOptions& how) {
                                   return Plan(std::in_place_type<Exact>, ctx, factor, triangle, how);
                                 },
                                 [&](const ApproximateOptions& how) {
                                   return Plan(std::in_place_type<Approximate>, ctx, factor, triangle, how);
                                 }},
                      chosen(o, levels));
  }

  Plan plan_;
};

/// Factors new values of a matrix and calls use(factor, report of the factorization).
template <class T, class Offset>
using Refactor =
    std::function<void(Context&, const AnyMatrix<T>& A,
                       const std::function<void(const Csr<T, Offset>& factor, PreconditionerReport report)>& use)>;

/// Solves with both triangles of an incomplete factor: L and U, or L and L^H; of A Q in the place of A, then Q.
template <class T, class Offset>
class Factored final : public Preconditioner<T> {
 public:
  /// report: of the factorization. levels: of the factor's lower triangle, where they are known. columns: Q, as a
  /// ThresholdFactor has it; empty: the identity.
  Factored(Context& ctx, const Csr<T, Offset>& factor, Factorization kind, const FactorSolveOptions& o,
           PreconditionerReport report, Refactor<T, Offset> refactor, const LevelSchedule* levels = nullptr,
           Array<std::int32_t> columns = {})
      : kind_(kind),
        options_(o),
        refactor_(std::move(refactor)),
        columns_(std::move(columns)),
        solved_(columns_.size(), "work of a factor"),
        lower_(ctx, factor, lower_of(kind), o, levels),
        upper_(ctx, factor, upper_of(kind), o, nullptr) {
    ctx.synchronize();
    report.symbolic_ms += watch_.milliseconds();
    tell(std::move(report), factor.rows());
  }

  /// factor: a matrix with its pattern.
  static HeldMemory memory(MemoryLedger& ledger, Context& host, const Csr<T, Offset>& factor, Factorization kind,
                           const FactorSolveOptions& o, const LevelSchedule* levels = nullptr) {
    using Solve = FactorSolve<T, Offset>;
    HeldMemory kept = Solve::memory(ledger, host, factor, lower_of(kind), o, levels);
    kept += Solve::memory(ledger, host, factor, upper_of(kind), o, nullptr);
    return kept;
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    Array<T>& y = moves_columns() ? solved_ : z;
    lower_.solve(ctx, r, y);
    upper_.solve(ctx, y, y);
    if (moves_columns()) apply_inverse_permutation(ctx, y, columns_, z);
    return z;
  }
  PreconditionerReport report() const override { return report_; }
  ApplicationWork work() const override {
    ApplicationWork both{lower_.work()};
    both.own += upper_.work();
    both.own.bytes += static_cast<double>(columns_.size() * (2 * sizeof(T) + sizeof(std::int32_t)));
    return both;
  }

  void update(Context& ctx, const AnyMatrix<T>& A) override {
    refactor_(ctx, A, [&](const Csr<T, Offset>& factor, PreconditionerReport report) {
      Stopwatch watch;
      lower_.update(ctx, factor);
      upper_.update(ctx, factor);
      ctx.synchronize();
      report.symbolic_ms = report_.symbolic_ms;
      report.numeric_ms += watch.milliseconds();
      tell(std::move(report), factor.rows());
    });
  }
  /// L L^H is its own adjoint where its triangles are solved exactly.
  bool has_adjoint() const override { return kind_ == Factorization::ic0 && lower_.is_exact(); }
  const Array<T>& apply_adjoint(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    return has_adjoint() ? apply(ctx, r, z) : Preconditioner<T>::apply_adjoint(ctx, r, z);
  }

 private:
  bool moves_columns() const { return columns_.size() > 0; }
  void tell(PreconditionerReport report, std::int64_t rows) {
    report_ = std::move(report);
    report_.bytes = lower_.bytes() + upper_.bytes() + bytes_of(columns_) + bytes_of(solved_);
    const std::int64_t beside = lower_.entries() + (kind_ == Factorization::ilu0 ? upper_.entries() : 0);
    report_.facts.push_back({"factor_nonzeros", beside + rows});
    lower_.tell("lower", options_, report_);
    upper_.tell("upper", options_, report_);
  }
  static constexpr Triangle lower_of(Factorization kind) {
    return {Fill::lower, kind == Factorization::ilu0 ? Diagonal::unit : Diagonal::stored};
  }
  static constexpr Triangle upper_of(Factorization kind) {
    return kind == Factorization::ilu0 ? Triangle{Fill::upper} : Triangle{Fill::lower, Diagonal::stored, Op::adjoint};
  }

  Stopwatch watch_;
  Factorization kind_;
  FactorSolveOptions options_;
  Refactor<T, Offset> refactor_;
  Array<std::int32_t> columns_;
  mutable Array<T> solved_;
  FactorSolve<T, Offset> lower_, upper_;
  PreconditionerReport report_;
};

/// A factorization and the times that it took; `options` go to Factor::analyze.
template <class Factor, class Matrix>
struct TimedFactor {
  Context* ctx;
  const Matrix* A;
  std::optional<PivotBoost<typename Matrix::Value>> boost;
  PreconditionerReport report;
  Stopwatch watch;
  Factor factor;

  template <class... Options>
  TimedFactor(Context& on, const Matrix& a, Factorization kind, decltype(boost) with = {}, const Options&... options)
      : ctx(&on), A(&a), boost(with), factor(Factor::analyze(on, a, kind, options..., with)) {
    on.synchronize();
    report.symbolic_ms = watch.lap();
  }
  void update(double shift = 0) {
    watch.lap();
    factor.update(*ctx, *A, shift);
    ctx->synchronize();
    report.numeric_ms += watch.lap();
  }
  /// The next update is for another matrix of the same pattern.
  void follow(Context& on, const Matrix& a) { ctx = &on, A = &a, report = {}; }
};

/// A Refactor that calls factor(ctx, A, made), where `made` keeps the analysis from one update to the next. The first
/// update analyzes the pattern once more, since a preconditioner that is never updated keeps no factor. with(ctx, A,
/// use) calls use(A in CSR).
template <class Made, class T, class Offset, class With, class Factor>
Refactor<T, Offset> refactor_by(std::string_view type, With with, Factor factor) {
  return [type, with = std::move(with), factor = std::move(factor), made = std::make_shared<std::optional<Made>>()](
             Context& ctx, const AnyMatrix<T>& A, const auto& use) {
    with(ctx, A, [&]<class Other>(const Csr<T, Other>& csr) {
      if constexpr (std::is_same_v<Other, Offset>) {
        if (*made) (*made)->follow(ctx, csr);
        factor(ctx, csr, *made);
        use((*made)->factor.matrix(), (*made)->report);
      } else {
        refuse_pattern(type);
      }
    });
  };
}

/// The boost that `shift` asks for; none where A has no finite entry other than 0 to measure pivots by. Waits.
template <class T, class Offset>
std::optional<PivotBoost<T>> shift_boost(Context& ctx, const ShiftOptions<LuShift>& shift, const Csr<T, Offset>& A) {
  using R = real_t<T>;
  if (shift.type == LuShift::none) return {};
  Array<double> largest(1, "largest entry");
  max_abs(ctx, A.values(), largest);
  const double share = shift.value > 0 ? shift.value : std::sqrt(double{std::numeric_limits<R>::epsilon()});
  const R modulus = static_cast<R>(share * largest.host()[0]);
  if (!(modulus > 0) || !std::isfinite(modulus)) return {};
  return PivotBoost<T>{modulus, T(modulus), true};
}

/// The boost of an LU factorization: the one that is named, or else that of its shift.
template <class T, class Offset>
std::optional<PivotBoost<T>> pivot_boost(Context& ctx, const FactorRecipe& o, const Csr<T, Offset>& A) {
  if (o.kind != Factorization::ilu0) return {};
  if (o.boost != 0) return PivotBoost<T>{o.boost_tolerance, T(static_cast<real_t<T>>(o.boost))};
  return shift_boost(ctx, o.lu_shift, A);
}

/// Factors A with that boost, or refuses the row whose pivot forbids it.
template <class T>
void factor_lu(auto& made, const FactorRecipe& o, const std::optional<PivotBoost<T>>& boost,
               std::int32_t block_dim = 1) {
  const auto& factor = made.factor;
  if (const auto row = factor.structural_zero())
    refuse_row(o.type, *row, "there is no entry on the diagonal",
               "set matching: {type: product}, or use preconditioner none", block_dim);
  made.update();
  const auto zero = factor.numerical_zero(), bad = factor.not_finite();
  if (zero && (!bad || *zero < *bad))  // rows after a zero pivot are not finite, either
    refuse_row(o.type, *zero, "the pivot is 0",
               boost                               ? "use preconditioner none"
               : o.drops && o.drops->pivoting == 0 ? "set pivoting: 0.1 or shift: {type: nonzero}, or use "
                                                     "preconditioner none"
                                                   : "set shift: {type: nonzero}, or use preconditioner none",
               block_dim);
  if (bad)
    refuse_row(o.type, *bad, "the pivot is NaN or infinite", "use preconditioner none with scaling: {type: ruiz}",
               block_dim);
  if (!boost) return;
  const std::int32_t boosts = factor.boosts();
  made.report.facts.push_back({"boosted_pivots", std::int64_t{boosts}});
  if (boosts > 0)
    made.report.notes.push_back(fmt::format("preconditioner {}: {} pivot{} {} {:.4g}", o.type, boosts,
                                            boosts == 1 ? "" : "s", boost->keeps_phase ? "got the modulus" : "became",
                                            std::real(boost->value)));
}

/// The number whose root is the pivot of a row: a_ii - sum |l_ij|^2.
template <class T, class Offset>
double radicand(const Csr<T, Offset>& A, const Csr<T, Offset>& L, std::int32_t row) {
  double sum = 0;
  const auto for_row = [&](const Csr<T, Offset>& M, auto&& use) {
    const auto offsets = M.row_offsets().host().subspan(static_cast<std::size_t>(row), 2);
    for (auto k = static_cast<std::size_t>(offsets[0]); k < static_cast<std::size_t>(offsets[1]); ++k)
      use(M.col_indices().host()[k], M.values().host()[k]);
  };
  for_row(A, [&](std::int32_t j, T a) { sum += j == row ? std::real(a) : 0; });
  for_row(L, [&](std::int32_t j, T l) { sum -= j < row ? std::norm(wide_t<T>(l)) : 0; });
  return sum;
}

/// What helps where a Cholesky factorization fails: not what divides by a diagonal that has zeros, and pcg needs a
/// positive one.
template <class T, class Offset>
std::string_view instead_of_cholesky(const Csr<T, Offset>& A) {
  std::int64_t positive = 0;
  for (std::int32_t row = 0; row < A.rows(); ++row)
    for (auto k = static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(row)]);
         k < static_cast<std::size_t>(A.row_offsets().host()[static_cast<std::size_t>(row) + 1]); ++k)
      positive += A.col_indices().host()[k] == row && std::real(A.values().host()[k]) > 0;
  return positive == A.rows() ? "use preconditioner jacobi or none"
                              : "the matrix is not positive definite: use preconditioner none with solver gmres";
}

template <class Factor>
inline constexpr bool by_sweeps = false;
template <class T, class Offset>
inline constexpr bool by_sweeps<FixedPointFactor<T, Offset>> = true;

/// The shifts that a Cholesky factorization tries after 0: each is twice the one before. Not varied.
struct CholeskyTuning {
  static constexpr double first_shift = 1e-3, max_shift = 1;  ///< times the diagonal: at 1 it is doubled
};

/// Factors A, by default with the least of some shifts for which the pivots are positive, or refuses the row whose
/// pivot is not. Returns the shift.
double factor_cholesky(auto& made, std::string_view type, const ShiftOptions<CholeskyShift>& o,
                       std::int32_t block_dim = 1) {
  const bool shifts = o.type == CholeskyShift::positive_definite;
  double shift = shifts ? o.value : 0;
  const auto& factor = made.factor;
  if (const auto row = factor.structural_zero())
    refuse_row(type, *row, "there is no entry on the diagonal",
               "the matrix is not positive definite: use preconditioner none with solver gmres", block_dim);
  made.update(shift);
  constexpr bool swept = by_sweeps<std::remove_cvref_t<decltype(factor)>>;
  const auto bad_row = [&] {
    const auto row = factor.numerical_zero();
    return swept && !row ? factor.not_finite() : row;
  };
  std::optional<std::int32_t> broken = bad_row();
  // A negative pivot makes later rows NaN; a row of NaN before it has that from A, or from sweeps that diverge, which a
  // shift may help.
  const auto refuse_nan = [&] {
    if (const auto row = factor.not_finite(); row && broken && *row <= *broken)
      refuse_row(type, *row, "the pivot is NaN or infinite",
                 swept ? "if no entry of the matrix is (krill inspect), the sweeps diverge: use preconditioner ic0"
                       : "look at the entries of the matrix (krill inspect)",
                 block_dim);
  };
  if (!swept || !shifts) refuse_nan();
  const std::int32_t first = broken.value_or(-1);
  const double root_of = broken && !shifts ? radicand(*made.A, factor.matrix(), *broken) : 0;
  while (broken && shift < CholeskyTuning::max_shift) {
    shift = std::max(2 * shift, CholeskyTuning::first_shift);
    made.update(shift);
    broken = bad_row();
  }
  if (first >= 0 && !shifts)  // the shift is advised where it has just helped
    refuse_row(
        type, first, fmt::format("the pivot is not positive (the root of {:.4g})", root_of),
        fmt::format("{}{}", broken ? "" : "set shift: {type: positive_definite}, or ", instead_of_cholesky(*made.A)),
        block_dim);
  refuse_nan();
  if (broken)
    refuse_row(type, *broken,
               fmt::format("the pivot is not positive, even with the diagonal multiplied by {:.4g}", 1 + shift),
               instead_of_cholesky(*made.A), block_dim);
  if (const auto row = factor.not_finite())
    refuse_row(type, *row, "the pivot is infinite", "use preconditioner none with scaling: {type: ruiz}", block_dim);
  made.report.facts.push_back({"shift", shift});
  if (first >= 0)
    made.report.notes.push_back(
        fmt::format("preconditioner {}: the diagonal was multiplied by {:.4g}, as row {} had no positive pivot (rows "
                    "count from 0)",
                    type, 1 + shift, first));
  return shift;
}

}  // namespace krill::detail

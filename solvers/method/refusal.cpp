#include "solvers/method/refusal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <span>

#include "solvers/method/choose.hpp"
#include "solvers/method/type_name.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/matrix_text.hpp"

namespace krill {
namespace {

constexpr std::string_view counting = "rows and columns count from 0";
constexpr std::string_view way_out =
    "use solver: {type: gmres} or {type: bicgstab}, or set assume: spd where you know better";

}  // namespace

void require_solvable(const std::string& matrix, const MatrixProperties& m) {
  if (m.rows != m.cols)
    throw InvalidArgument(
        fmt::format("{}: the matrix has {} rows and {} columns; a solve needs a square one", matrix, m.rows, m.cols));
  if (m.nnz == 0)
    throw InvalidArgument(
        fmt::format("{}: the matrix is {} x {} without any entry; there is nothing to solve", matrix, m.rows, m.cols));
  if (!m.first_non_finite) return;
  const EntryPair& e = *m.first_non_finite;
  throw InvalidArgument(
      fmt::format("{}: a({}, {}) = {} ({}){}; a solve needs finite entries (in single precision, numbers beyond 3.4e38 "
                  "are infinite)",
                  matrix, e.row, e.col, value_text(e.value), counting,
                  m.non_finite > 1 ? fmt::format(", and {} more are not finite", m.non_finite - 1) : ""));
}

void require_suitable(const std::string& matrix, const SolveOptions& options, const MatrixProperties& m) {
  const bool moved = !std::holds_alternative<NaturalOrdering>(options.ordering) ||
                     !std::holds_alternative<NoMatching>(options.matching);
  if (needs_given_order(options.preconditioner) && moved)
    throw InvalidArgument(
        fmt::format("{}: preconditioner {} takes rows for points, or nodes, in their order: use ordering: {{type: "
                    "none}} and matching: {{type: none}}",
                    matrix, type_name(options.preconditioner)));
  if (std::holds_alternative<SchurOptions>(options.preconditioner) &&
      !std::holds_alternative<NoMatching>(options.matching))
    throw InvalidArgument(
        fmt::format("{}: preconditioner schur tells the blocks of a saddle point by its diagonal, which a matching "
                    "changes: use matching: {{type: none}}",
                    matrix));
  if (std::holds_alternative<MultigridSolverOptions>(options.solver) &&
      !std::holds_alternative<AmgOptions>(options.preconditioner))
    throw InvalidArgument(
        fmt::format("{}: solver multigrid takes the cycles of preconditioner amg, and this is {}: "
                    "leave the key out, or use solver: {{type: richardson}}",
                    matrix, type_name(options.preconditioner)));
  const std::string_view solver = needs_definite(options.solver, options.preconditioner);
  if (options.assume == Assume::spd || solver.empty()) return;
  const char* kind = m.complex ? "Hermitian" : "symmetric";
  // Files with few digits and matrices summed in another order differ by rounding: pcg bears that.
  if (m.far_from_hermitian) {
    const EntryPair& e = *m.far_from_hermitian;
    const std::string what =
        e.row == e.col ? fmt::format("a({0}, {0}) = {1} is not real", e.row, value_text(e.value)) : entry_text(e);
    throw InvalidArgument(fmt::format("{}: {} ({}): the matrix is not {}, and {} needs a {} positive definite one; {}",
                                      matrix, what, counting, kind, solver, kind, way_out));
  }
  const bool negated = std::holds_alternative<NegativeScaling>(options.scaling);
  const bool has_negative = may_be_negative_definite(m, m.hermitian_error);
  if (negated && has_negative) return;
  if (negated)
    throw InvalidArgument(
        fmt::format("{}: scaling negative is for negative definite matrices, and this is none: {}; {}", matrix,
                    m.definiteness_reason, way_out));
  if (has_negative)
    throw InvalidArgument(
        fmt::format("{}: the diagonal is negative, and {} needs a positive definite matrix; use scaling: {{type: "
                    "negative}}, which solves (-A) x = -b",
                    matrix, solver));
  if (m.first_not_positive_diagonal) {
    const std::int32_t i = *m.first_not_positive_diagonal;
    throw InvalidArgument(
        fmt::format("{}: a({}, {}) = {} ({}): the diagonal of a positive definite matrix is > 0, and {} needs one; {}",
                    matrix, i, i, value_text(m.not_positive_diagonal), counting, solver, way_out));
  }
  if (m.definiteness == Definiteness::not_positive_definite)
    throw InvalidArgument(fmt::format("{}: {} ({}); {} needs a positive definite matrix; {}", matrix,
                                      m.definiteness_reason, counting, solver, way_out));
}

namespace {

/// Of one right-hand side.
template <class T>
Singularity singularity_with(const MatrixProperties& m, std::span<const T> b, const StopOptions& stop) {
  Singularity found;
  if (m.structure && m.structure->rank < m.rows) {
    found.what = fmt::format("the matrix is singular whatever its values are, its rank is at most {} of {}: {} ({})",
                             m.structure->rank, m.rows, deficiency_text(*m.structure), counting);
    if (!m.structure->vertical.cols.empty()) return found;
    for (const std::int32_t i : m.structure->vertical.rows)  // of zeros alone
      if (const std::complex<double> entry(b[static_cast<std::size_t>(i)]); entry != 0.0) {
        found.no_solution = true;
        found.what += fmt::format("; b({}) = {} is not 0, so there is no solution", i, value_text(entry));
        break;
      }
    return found;
  }
  if (m.null_rows < m.rows || m.rows == 0) return found;
  found.what = "the matrix is singular: every row adds up to 0";
  if (m.hermitian_error > rounding_of_files) return found;
  double greatest = 0, squares = 0;
  for (const T& entry : b) greatest = std::max(greatest, static_cast<double>(std::abs(entry)));
  if (!(greatest > 0)) return found;
  std::complex<double> sum = 0;
  for (const T& entry : b) {
    const std::complex<double> part = std::complex<double>(entry) / greatest;
    sum += part, squares += std::norm(part);
  }
  const double along = std::abs(sum) / std::sqrt(static_cast<double>(m.rows)), size = std::sqrt(squares);
  found.no_solution =
      stop.baseline == Baseline::rhs && along > stop.relative * size && along * greatest > stop.absolute;
  if (found.no_solution)
    found.what += fmt::format(", and so does every A x, but b does not: no x brings the residual below {:.2g} of ||b||",
                              along / size);
  return found;
}

}  // namespace

template <class T>
Singularity singularity(const MatrixProperties& m, const Array<T>& b, const StopOptions& stop) {
  const auto size = static_cast<std::size_t>(m.rows);
  const std::size_t count = size > 0 ? std::max<std::size_t>(1, b.host().size() / size) : 1;
  Singularity found = singularity_with(m, b.host().first(size), stop);
  for (std::size_t j = 1; j < count && !found.no_solution && !found.what.empty(); ++j)
    if (Singularity other = singularity_with(m, b.host().subspan(j * size, size), stop); other.no_solution)
      found = {fmt::format("{} (column {} of b, counted from 0)", other.what, j), true};
  return found;
}

template <class T>
struct RefusalInstances {
  static constexpr auto list =
      instance<Singularity(const MatrixProperties&, const Array<T>&, const StopOptions&)>(singularity);
};
KRILL_INSTANTIATE(RefusalInstances);

}  // namespace krill

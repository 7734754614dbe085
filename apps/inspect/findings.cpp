#include "apps/inspect/findings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "solvers/method/choose.hpp"
#include "sparse/io/matrix_text.hpp"

namespace krill::apps {
namespace {

constexpr double far_apart = 1e4;          // norms of rows
constexpr double nearly_hermitian = 1e-6;  // of the greatest modulus: what no model means
constexpr double unequal_rows = 10;        // the longest over the mean
constexpr double many_stored_zeros = 0.05;
constexpr double narrow_levels = 200;  // rows: fewer leave most of a device idle

double decades(double ratio) { return ratio > 0 ? std::log10(ratio) : 0; }
double percent(std::int64_t part, std::int64_t whole) {
  return whole > 0 ? 100.0 * static_cast<double>(part) / static_cast<double>(whole) : 0;
}
std::string counted(std::int64_t count, std::string_view one, std::string_view many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

class Diagnosis {
 public:
  Diagnosis(const MatrixProperties& m, const Structure& s) : m_(m), s_(s) {}

  std::vector<Finding> make() && {
    values();
    singularity();
    diagonal();
    symmetry();
    scaling();
    shape();
    multigrid();
    order();
    std::ranges::stable_sort(found_, {}, &Finding::severity);
    return std::move(found_);
  }

 private:
  using Row = std::optional<std::int32_t>;
  void add(Severity severity, std::string name, std::string what, Row row, std::string why, std::string remedy) {
    found_.push_back({severity, std::move(name), std::move(what), row, std::move(why), std::move(remedy)});
  }

  void values() {
    if (const auto& at = m_.first_non_finite)
      add(Severity::error, "not_finite",
          fmt::format("{} not finite, first a({}, {}) = {}", counted(m_.non_finite, "entry is", "entries are"), at->row,
                      at->col, value_text(at->value)),
          at->row, "every solve is refused", "correct the file, or look at what wrote it");
    constexpr double greatest = std::numeric_limits<float>::max(), least = std::numeric_limits<float>::min();
    if (m_.greatest_magnitude > greatest)
      add(Severity::warning, "float32_overflow", fmt::format("entries up to {:.2g}", m_.greatest_magnitude), {},
          "float32 holds numbers up to 3.4e38", "keep to float64, or scale the matrix");
    if (m_.min_magnitude > 0 && m_.min_magnitude < least)
      add(Severity::note, "float32_underflow", fmt::format("entries down to {:.2g}", m_.min_magnitude), {},
          "in float32 they lose digits or become 0, on the diagonal so that a preconditioner in float32 fails",
          "leave precision: float32 out of the preconditioner, or scale the matrix");
    if (static_cast<double>(m_.stored_zeros) > many_stored_zeros * static_cast<double>(m_.nnz))
      add(Severity::note, "stored_zeros",
          fmt::format("{} stored with the value 0 ({:.3g} % of the entries)",
                      counted(m_.stored_zeros, "place is", "places are"), percent(m_.stored_zeros, m_.nnz)),
          {}, "products read them for nothing; factorizations without fill gain the places",
          "drop them where the file is written, unless a factorization needs them");
    if (m_.complex && m_.symmetric && m_.hermitian && m_.nnz > 0)
      add(Severity::note, "real_values", "the matrix is complex, but all imaginary parts are 0", {},
          "twice the bytes and four times the multiplications of a real one", "write it as a real matrix");
  }

  void singularity() {
    if (m_.rows != m_.cols) {
      add(Severity::error, "not_square", fmt::format("{} rows and {} columns", m_.rows, m_.cols), {},
          "a solve needs a square matrix", "form the normal equations or augmented system elsewhere");
      return;
    }
    if (m_.empty_rows > 0 || m_.empty_cols > 0)
      add(Severity::error, "empty_lines",
          fmt::format("{} without an entry, {}", counted(m_.empty_rows, "row", "rows"),
                      counted(m_.empty_cols, "column", "columns")),
          {}, "the matrix is singular: no b but special ones has a solution", "take the unknowns out of the system");
    if (m_.structure && m_.structure->rank < m_.rows)
      add(Severity::error, "structurally_singular",
          fmt::format("structural rank {} of {}", m_.structure->rank, m_.rows), m_.structure->vertical.rows.front(),
          deficiency_text(*m_.structure) + ", so the matrix is singular whatever its values are",
          "look for equations that are there twice or miss an unknown, those of these rows first");
    if (m_.nnz > 0 && m_.null_rows == m_.rows)
      add(Severity::warning, "null_vector_of_ones", "every row adds up to 0: A 1 = 0", {},
          "the matrix is singular; there is a solution only for some b, for symmetric A those that add up to 0",
          "fix one unknown, or take such a b (rhs: {type: manufactured})");
  }

  void diagonal() {
    if (m_.rows != m_.cols) return;
    if (m_.first_missing_diagonal)
      add(Severity::warning, "missing_diagonal",
          fmt::format("{} without a diagonal entry ({:.3g} %)", counted(m_.missing_diagonal, "row", "rows"),
                      percent(m_.missing_diagonal, m_.rows)),
          m_.first_missing_diagonal, "jacobi, Gauss-Seidel, ilu0 and ic0 divide by it and refuse the matrix",
          without_diagonal());
    if (m_.first_zero_diagonal)
      add(Severity::warning, "zero_diagonal",
          fmt::format("{} 0 on the diagonal ({:.3g} %)", counted(m_.zero_diagonal, "row has a", "rows have a"),
                      percent(m_.zero_diagonal, m_.rows)),
          m_.first_zero_diagonal, "jacobi refuses it, ilu0 unless elimination fills it; typical of saddle points",
          without_diagonal());
    if (m_.constraint_rows > 0)
      add(Severity::warning, "saddle_point",
          fmt::format("a saddle point: {} of {} rows are constraints, whose diagonal is {}", m_.constraint_rows,
                      m_.rows, m_.negative_diagonal > 0 ? "0 or negative" : "0"),
          {}, "the matrix is indefinite, and what divides by its diagonal refuses it or is slow",
          m_.negative_diagonal > 0
              ? "preconditioner: {type: schur} with gmres, or on_failure: ladder"
              : "preconditioner: {type: schur, form: least_squares} with gmres, or on_failure: ladder");
    if (m_.negative_diagonal == m_.rows && m_.rows > 0 && m_.hermitian)
      add(Severity::warning, "negative_diagonal", "the matrix is symmetric with a negative diagonal", 0,
          "it may be negative definite, which pcg refuses", "scaling: {type: negative}: (-A) x = -b, which pcg takes");
    const auto weak = static_cast<std::int64_t>(m_.rows) - m_.dominant_rows;
    if (2 * weak > m_.rows)
      add(Severity::note, "weak_diagonal", fmt::format("{} of {} rows are not diagonally dominant", weak, m_.rows), {},
          "jacobi and Gauss-Seidel converge slowly or not at all",
          definite_        ? "a factorization (ic0); for elasticity, blocks (block_jacobi)"
          : full_diagonal_ ? "a factorization (ilu0), in blocks where unknowns belong together (block_jacobi, bilu0)"
                           : without_diagonal());
  }
  /// What helps where there is nothing to divide by.
  std::string without_diagonal() const {
    return m_.structure && m_.structure->rank == m_.rows
               ? "matching: {type: product}, which permutes rows so that the diagonal is full and large, and ilu0"
               : "gmres without a preconditioner";
  }

  void symmetry() {
    if (m_.rows != m_.cols || m_.non_finite > 0) return;
    const char* kind = m_.complex ? "Hermitian" : "symmetric";
    if (!m_.hermitian && m_.hermitian_error <= nearly_hermitian && m_.not_hermitian)
      add(Severity::warning, "nearly_hermitian",
          fmt::format("{} but for {:.2g} of the greatest entry: {}", kind, m_.hermitian_error,
                      entry_text(*m_.not_hermitian)),
          m_.not_hermitian->row,
          may_be_positive_definite(m_) ? "pcg bears it, but the model may mean something else"
                                       : "pcg and ic0 refuse it",
          "make it exactly so, (A + A^H) / 2, where the file is written");
    const bool negative = m_.negative_diagonal == m_.rows && m_.rows > 0;
    if (m_.hermitian && m_.definiteness == Definiteness::not_positive_definite && !negative)
      add(Severity::warning, "indefinite", m_.definiteness_reason, m_.first_not_positive_diagonal,
          fmt::format("the matrix is {} but not positive definite: pcg, ic0 and chebyshev do not apply", kind),
          "gmres or bicgstab, with ilu0 where the diagonal allows it");
    if (m_.skew && m_.nnz > 0)
      add(Severity::warning, "skew_symmetric", "the matrix is skew-symmetric", {},
          "its diagonal is 0 and its eigenvalues lie on both sides of 0: Krylov methods are slow",
          "gmres with a long restart");
  }

  void scaling() {
    const double spread = m_.min_row_norm > 0 ? m_.infinity_norm / m_.min_row_norm : 0;
    if (spread >= far_apart)
      add(Severity::warning, "bad_scaling",
          fmt::format("norms of rows over {:.1f} decades, {:.2g} to {:.2g}", decades(spread), m_.min_row_norm,
                      m_.infinity_norm),
          {}, "the residual's norm hardly sees short rows, so their unknowns may be wrong when it is small",
          s_.scaled_row_spread > 0
              ? fmt::format("scaling: {{type: ruiz}} leaves {:.1f} decades", decades(s_.scaled_row_spread))
              : "rows of zeros have to go before a scaling helps");
    const double diagonal = m_.min_diagonal > 0 ? m_.greatest_diagonal / m_.min_diagonal : 0;
    if (diagonal >= far_apart && spread < far_apart)
      add(Severity::note, "spread_diagonal",
          fmt::format("the diagonal's moduli lie over {:.1f} decades", decades(diagonal)), {},
          "without a preconditioner the iteration follows the greatest",
          full_diagonal_ ? "jacobi at least, or scaling: {type: diagonal}" : "scaling: {type: ruiz}");
  }

  void shape() {
    if (s_.dense_rows.count > 0)
      add(Severity::warning, "dense_rows",
          fmt::format("{} of more than {} entries, up to {}", counted(s_.dense_rows.count, "row", "rows"),
                      s_.dense_rows.limit, m_.longest_row),
          s_.dense_rows.first, "they make factors and colorings expensive and ell and sell wasteful",
          "format csr or auto; order them last where the system is made");
    if (s_.dense_cols.count > 0 && !m_.symmetric_pattern)
      add(Severity::note, "dense_cols",
          fmt::format("{} of more than {} entries", counted(s_.dense_cols.count, "column", "columns"),
                      s_.dense_cols.limit),
          s_.dense_cols.first, "many rows wait for one in triangular solves", "order them last");
    if (s_.dense_rows.count == 0 && static_cast<double>(m_.longest_row) > unequal_rows * m_.mean_row)
      add(Severity::note, "unequal_rows",
          fmt::format("rows of {} to {} entries, {:.3g} on average", m_.shortest_row, m_.longest_row, m_.mean_row), {},
          "ell and sell fill up short rows", "format csr or auto");
    if (s_.block_dim > 1)
      add(Severity::note, "blocks",
          fmt::format("blocks of {0} x {0}, {1:.0f} % full", s_.block_dim, 100 * s_.block_fill), {},
          "unknowns of a block belong together: entry by entry, preconditioners lose that",
          fmt::format("block_jacobi{} with block_dim: {}, format bsr", definite_ ? "" : " or bilu0", s_.block_dim));
    if (s_.components && s_.components->count > 1)
      add(Severity::note, "disconnected",
          fmt::format("{} parts that do not meet, the largest of {} rows, {} of one row", s_.components->count,
                      s_.components->largest, s_.components->single),
          s_.components->first_outside, "the iteration count is that of all of them together",
          s_.components->single > 0 ? "solve rows of one entry by hand, or parts one by one"
                                    : "solve parts one by one");
  }

  /// Only what looks like diffusion is told about it.
  void multigrid() {
    const MultigridFit host = multigrid_fit(m_, false), cuda = multigrid_fit(m_, true);
    if (host.is_flow)
      add(Severity::note, "flow", "flow dominates the diffusion in this matrix", {}, host.why,
          fmt::format("{}, with rows in the order of the flow where that is known, and bicgstab or gmres; multigrid "
                      "(amg) is for diffusion",
                      2 * m_.dominant_rows >= m_.rows ? "ilu0" : "ilut, for rows are not diagonally dominant"));
    if (!host.is_diffusion || m_.null_rows == m_.rows) return;
    const bool hermitian = m_.hermitian_error <= rounding_of_files;
    add(Severity::note, "multigrid",
        cuda.suits   ? "multigrid suits this matrix"
        : host.suits ? "multigrid suits this matrix on the host"
                     : "multigrid would help, were the matrix larger or its rows shorter",
        {}, host.suits ? host.why : cuda.why,
        fmt::format("preconditioner: {{type: amg}}{}; krill evaluate measures it",
                    hermitian ? "" : " with solver bicgstab"));
  }

  void order() {
    if (s_.orders.empty()) return;
    const OrderLevels &natural = s_.orders.front(), &color = s_.orders.back();
    if (natural.mean_rows(m_.rows) >= narrow_levels || color.lower >= natural.lower) return;
    add(Severity::note, "narrow_levels",
        fmt::format("a triangular solve in natural order goes through {} levels, {:.3g} rows each on average",
                    natural.lower, natural.mean_rows(m_.rows)),
        {}, "on a device levels follow each other, each half a microsecond or more",
        fmt::format("ordering: {{type: color}} has {} levels; or {}, which solves no triangle", color.lower,
                    definite_ ? "chebyshev" : "isai"));
  }

  const MatrixProperties& m_;
  const Structure& s_;
  bool definite_ = may_be_positive_definite(m_), full_diagonal_ = m_.missing_diagonal + m_.zero_diagonal == 0;
  std::vector<Finding> found_;
};

}  // namespace

std::vector<Finding> diagnose(const MatrixProperties& m, const Structure& s) { return Diagnosis(m, s).make(); }

}  // namespace krill::apps

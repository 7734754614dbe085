#include <fmt/format.h>

#include <complex>

#include "krill/apps/case/reference.hpp"
#include "krill/apps/commands.hpp"
#include "krill/apps/matrix_json.hpp"
#include "krill/apps/matrix_text.hpp"
#include "krill/sparse/io/read.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;

/// A matrix file, read and looked at.
struct Inspection {
  std::string name, checksum, rhs_name;
  MatrixKind kind;
  CanonicalReport canonical;
  MatrixProperties properties;
};

template <class T>
Inspection look_at(const std::string& path) {
  MatrixInput<T> input = read_matrix<T>(path);
  Inspection found{path, input.checksum, input.rhs_name, input.kind, {}, {}};
  const AnyMatrix<T> A = assemble(std::move(input.matrix), found.canonical);
  found.properties = analyze(Host{}, A);
  return found;
}

std::string symmetry_text(const MatrixProperties& m) {
  if (m.rows != m.cols) return "none, it is not square";
  const std::string pattern =
      m.symmetric_pattern ? "" : fmt::format("; {:.4g} % of the pattern is", 100 * m.pattern_symmetry);
  if (m.symmetric && m.complex) return (m.hermitian ? "real symmetric values" : "complex symmetric") + pattern;
  if (m.symmetric) return "symmetric" + pattern;
  if (m.hermitian) return "Hermitian" + pattern;
  if (m.skew) return "skew-symmetric" + pattern;
  std::string result = m.symmetric_pattern ? "pattern symmetric, values not" : "not symmetric" + pattern;
  const auto& witness = m.complex ? m.not_hermitian : m.not_symmetric;
  const double error = m.complex ? m.hermitian_error : m.symmetry_error;
  if (witness)
    result += fmt::format("; first: {}; greatest difference {:.2g} of the largest entry", entry_text(*witness), error);
  return result;
}

std::string diagonal_text(const MatrixProperties& m) {
  std::string result;
  const auto add = [&](const std::string& part) { result += (result.empty() ? "" : ", ") + part; };
  if (m.first_missing_diagonal)
    add(fmt::format("missing: {} (first in row {})", m.missing_diagonal, *m.first_missing_diagonal));
  if (m.first_zero_diagonal)
    add(fmt::format("stored as 0: {} (first in row {})", m.zero_diagonal, *m.first_zero_diagonal));
  if (m.positive_diagonal) add("complete, positive");
  if (result.empty()) add("complete");
  if (!m.positive_diagonal && !m.missing_diagonal && !m.zero_diagonal && m.first_not_positive_diagonal)
    add(fmt::format("not positive in row {}", *m.first_not_positive_diagonal));
  return result +
         fmt::format("; {} of {} rows dominant, {} strictly", m.dominant_rows, m.rows, m.strictly_dominant_rows);
}

/// What reading changed or met; empty where nothing is worth a word.
std::string reading_text(const Inspection& i) {
  std::string result;
  const auto add = [&](std::int64_t count, std::string_view what) {
    if (count > 0) result += fmt::format("{}{}: {}", result.empty() ? "" : ", ", what, count);
  };
  const CanonicalReport& c = i.canonical;
  add(c.duplicates, "duplicates summed");
  add(c.mirrored, "stored with their mirror image, taken once");
  add(c.explicit_zeros, "explicit zeros kept");
  add(i.kind.dense ? c.expanded_entries - c.nnz - c.duplicates : 0, "zeros of the dense array dropped");
  return result;
}

/// A case that suits the matrix, as far as its entries tell.
std::string suggestion(const MatrixProperties& m) {
  if (m.rows != m.cols || m.rows == 0 || m.non_finite) return {};
  const bool pcg = m.definiteness == Definiteness::positive_definite || m.definiteness == Definiteness::possibly;
  const bool jacobi = m.missing_diagonal == 0 && m.zero_diagonal == 0;
  return fmt::format("solver: {{type: {}}}, preconditioner: {{type: {}}}", pcg ? "pcg" : "gmres",
                     jacobi ? "jacobi" : "none");
}

std::string table(const Inspection& i) {
  const MatrixProperties& m = i.properties;
  std::string result = fmt::format("{}\n  {}, {} {}, {}\n  {} entries stored, {}\n\n", i.name, name(i.kind.format),
                                   i.kind.dense ? "dense" : "sparse", name(i.kind.field), name(i.kind.symmetry),
                                   i.canonical.stored_entries, i.checksum);
  const auto row = [&](std::string_view key, const std::string& value) {
    if (!value.empty()) result += fmt::format("{:<13} {}\n", key, wrapped(value, 14));
  };
  const double places = static_cast<double>(m.rows) * m.cols;
  row("size",
      fmt::format(
          "{} x {}, {} entries{}", m.rows, m.cols, m.nnz,
          places > 0 ? fmt::format(", {:.3g} % of all places", 100 * static_cast<double>(m.nnz) / places) : ""));
  row("reading", reading_text(i));
  row("rows", fmt::format("{} to {} entries, {:.3g} on average", m.shortest_row, m.longest_row, m.mean_row));
  if (m.empty_rows || m.empty_cols) row("empty", fmt::format("rows: {}, columns: {}", m.empty_rows, m.empty_cols));
  row("bandwidth", fmt::format("{} below the diagonal, {} above", m.lower_bandwidth, m.upper_bandwidth));
  row("symmetry", symmetry_text(m));
  row("diagonal", diagonal_text(m));
  if (m.definiteness != Definiteness::not_hermitian) row("definiteness", m.definiteness_reason);
  if (m.greatest_magnitude > 0)
    row("magnitudes", fmt::format("{:.4g} to {:.4g} without zeros", m.least_magnitude, m.greatest_magnitude));
  row("norms", fmt::format("Frobenius {:.6g}, infinity {:.6g}", m.frobenius_norm, m.infinity_norm));
  if (const auto& first = m.first_non_finite)
    row("not finite", fmt::format("{} of the entries, first a({}, {}) = {}; no solver takes them", m.non_finite,
                                  first->row, first->col, value_text(first->value)));
  row("came along", i.rhs_name);
  row("to try", suggestion(m));
  return result + "\nRows and columns count from 0.\n";
}

Json json(const Inspection& i) {
  Json file{{"format", name(i.kind.format)},
            {"field", name(i.kind.field)},
            {"symmetry", name(i.kind.symmetry)},
            {"dense", i.kind.dense},
            {"vector", i.kind.vector},
            {"checksum", i.checksum},
            {"rhs", i.rhs_name.empty() ? Json() : Json(i.rhs_name)}};
  Json result{{"source", i.name}};
  result.update(matrix_json(i.properties));
  result["file"] = std::move(file);
  result["canonicalization"] = canonical_json(i.canonical);
  return result;
}

}  // namespace

int run_inspect(const InspectCommand& command) {
  const bool complex = peek_matrix(command.matrix).field == Field::complex;
  const Inspection found = complex ? look_at<std::complex<double>>(command.matrix) : look_at<double>(command.matrix);
  print(command.json ? json(found).dump(2) + "\n" : table(found));
  return 0;
}

}  // namespace krill::apps

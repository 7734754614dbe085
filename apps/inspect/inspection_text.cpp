#include <fmt/format.h>

#include <algorithm>

#include "apps/inspect/inspection.hpp"
#include "apps/support/terminal.hpp"
#include "sparse/io/matrix_text.hpp"

namespace krill::apps {
namespace {

/// What a matrix is called that solver banded takes.
std::string_view few_diagonals_text(const MatrixProperties& m) {
  const std::int64_t most = std::max(m.lower_bandwidth, m.upper_bandwidth);
  if (m.rows != m.cols || m.nnz == 0 || most > 2) return "";
  return most == 0 ? ": diagonal" : most == 1 ? ": tridiagonal" : ": pentadiagonal";
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

std::string pattern_text(const MatrixProperties& m, const Structure& s) {
  std::string result;
  const auto add = [&](const std::string& part) { result += (result.empty() ? "" : "; ") + part; };
  if (s.components && s.components->count == 1) add("connected");
  if (s.components && s.components->count > 1)
    add(fmt::format("{} parts, the largest of {} rows", s.components->count, s.components->largest));
  if (m.structure) add(fmt::format("structural rank {}", m.structure->rank));
  if (s.block_dim > 1) add(fmt::format("blocks of {0} x {0}, {1:.0f} % full", s.block_dim, 100 * s.block_fill));
  return result;
}

/// Levels of triangular solves, an order a line.
std::string levels_text(const Inspection& i) {
  const Structure& s = i.structure;
  if (s.orders.empty()) return s.no_orders.empty() ? "" : fmt::format("Triangular solves: {}.\n\n", s.no_orders);
  std::string text = "Triangular solves      levels below   above   rows a level   widest level\n";
  for (const OrderLevels& o : s.orders) {
    const std::string label = o.order == "none" ? "natural order"
                              : o.colors > 0    ? fmt::format("color, {} colors", o.colors)
                                                : std::string(o.order);
    text += fmt::format("  {:<18} {:>14} {:>7} {:>14.1f} {:>14}\n", label, o.lower, o.upper,
                        o.mean_rows(i.properties.rows), o.widest);
  }
  return text + "\n";
}

std::string findings_text(const std::vector<Finding>& findings, const Paint& paint) {
  if (findings.empty()) return "Nothing was found that would hurt a solve.\n\n";
  std::string text;
  for (const Finding& f : findings) {
    const std::string where = f.row ? fmt::format(" (first: row {})", *f.row) : "";
    const std::string word = fmt::format("{:<13}", severity_names[static_cast<std::size_t>(f.severity)]);
    text += fmt::format("{} {}\n",
                        f.severity == Severity::error     ? paint.bad(word)
                        : f.severity == Severity::warning ? paint.warning(word)
                                                          : word,
                        wrapped(f.what + where + ": " + f.why, 14));
    text += fmt::format("{:<13} {}\n", "", wrapped("-> " + f.remedy, 17));
  }
  return text + "\n";
}

}  // namespace

std::string inspection_text(const Inspection& i, const Paint& paint) {
  const MatrixProperties& m = i.properties;
  std::string result = fmt::format("{}\n  {}, {} {}, {}\n  {} entries stored, {}\n\n", paint.heading(i.path),
                                   name(i.kind.format), i.kind.dense ? "dense" : "sparse", name(i.kind.field),
                                   name(i.kind.symmetry), i.canonical.stored_entries, i.checksum);
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
  row("bandwidth",
      fmt::format("{} below the diagonal, {} above{}", m.lower_bandwidth, m.upper_bandwidth, few_diagonals_text(m)));
  row("symmetry", symmetry_text(m));
  row("diagonal", diagonal_text(m));
  if (m.definiteness != Definiteness::not_hermitian) row("definiteness", m.definiteness_reason);
  if (m.greatest_magnitude > 0)
    row("magnitudes", fmt::format("{:.4g} to {:.4g} without zeros", m.min_magnitude, m.greatest_magnitude));
  row("norms", fmt::format("Frobenius {:.6g}, infinity {:.6g}", m.frobenius_norm, m.infinity_norm));
  if (const auto& first = m.first_non_finite)
    row("not finite", fmt::format("{} of the entries, first a({}, {}) = {}; no solver takes them", m.non_finite,
                                  first->row, first->col, value_text(first->value)));
  row("came along", i.rhs_name);
  row("pattern", pattern_text(i.properties, i.structure));
  result += "\n" + levels_text(i) + findings_text(i.findings, paint);
  if (i.can_be_solved()) result += suggested_case(i, i.path) + "\n";
  return result + "Rows and columns count from 0.\n";
}

}  // namespace krill::apps

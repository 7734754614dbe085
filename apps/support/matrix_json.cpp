#include "apps/support/matrix_json.hpp"

#include <nlohmann/json.hpp>
#include <string_view>

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;

Json place(std::optional<std::int32_t> index) { return index ? Json(*index) : Json(); }
Json place(std::int32_t index) { return index >= 0 ? Json(index) : Json(); }

Json number(std::complex<double> value) {
  return value.imag() == 0 ? Json(value.real()) : Json::array({value.real(), value.imag()});
}

/// An entry and what stands at the mirrored place: numbers, or [re, im].
Json entry(const std::optional<EntryPair>& pair) {
  if (!pair) return {};
  return {{"row", pair->row}, {"col", pair->col}, {"value", number(pair->value)}, {"mirror", number(pair->mirror)}};
}

std::string_view word(Definiteness definiteness) {
  switch (definiteness) {
    case Definiteness::not_finite:
      return "not_finite";
    case Definiteness::not_hermitian:
      return "not_hermitian";
    case Definiteness::not_positive_definite:
      return "not_positive_definite";
    case Definiteness::positive_definite:
      return "positive_definite";
    case Definiteness::possibly:
      break;
  }
  return "possibly_positive_definite";
}

/// Rows, and the columns that all their entries lie in, or the other way round; null where nothing is lacking.
Json deficient(const std::optional<StructuralRank>& s, DeficientPart StructuralRank::*part) {
  if (!s || ((*s).*part).rows.size() == ((*s).*part).cols.size()) return {};
  return {{"rows", ((*s).*part).rows}, {"cols", ((*s).*part).cols}};
}

}  // namespace

Json matrix_json(const MatrixProperties& m) {
  return {{"rows", m.rows},
          {"cols", m.cols},
          {"nnz", m.nnz},
          {"complex", m.complex},
          {"symmetric", m.symmetric},
          {"skew_symmetric", m.skew},
          {"hermitian", m.hermitian},
          {"symmetric_pattern", m.symmetric_pattern},
          {"pattern_symmetry", m.pattern_symmetry},
          {"symmetry_error", m.symmetry_error},
          {"hermitian_error", m.hermitian_error},
          {"first_not_symmetric", entry(m.not_symmetric)},
          {"first_not_hermitian", entry(m.not_hermitian)},
          {"definiteness", word(m.definiteness)},
          {"definiteness_reason", m.definiteness_reason},
          {"missing_diagonal", m.missing_diagonal},
          {"first_missing_diagonal", place(m.first_missing_diagonal)},
          {"zero_diagonal", m.zero_diagonal},
          {"first_zero_diagonal", place(m.first_zero_diagonal)},
          {"positive_diagonal", m.positive_diagonal},
          {"first_not_positive_diagonal", place(m.first_not_positive_diagonal)},
          {"negative_diagonal", m.negative_diagonal},
          {"constraint_rows", m.constraint_rows},
          {"diagonal_magnitude", {{"least", m.min_diagonal}, {"greatest", m.greatest_diagonal}}},
          {"diagonally_dominant_rows", m.dominant_rows},
          {"strictly_dominant_rows", m.strictly_dominant_rows},
          {"row_entries", {{"least", m.shortest_row}, {"mean", m.mean_row}, {"most", m.longest_row}}},
          {"empty_rows", m.empty_rows},
          {"empty_cols", m.empty_cols},
          {"bandwidth", {{"lower", m.lower_bandwidth}, {"upper", m.upper_bandwidth}}},
          {"explicit_zeros", m.stored_zeros},
          {"non_finite", m.non_finite},
          {"first_non_finite", entry(m.first_non_finite)},
          {"magnitude", {{"least", m.min_magnitude}, {"greatest", m.greatest_magnitude}}},
          {"row_norm", {{"least", m.min_row_norm}, {"greatest", m.infinity_norm}}},
          {"rows_that_sum_to_zero", m.null_rows},
          {"structural_rank", m.structure ? Json(m.structure->rank) : Json()},
          {"deficient_rows", deficient(m.structure, &StructuralRank::vertical)},
          {"deficient_cols", deficient(m.structure, &StructuralRank::horizontal)},
          {"frobenius_norm", m.frobenius_norm},
          {"infinity_norm", m.infinity_norm}};
}

Json canonical_json(const CanonicalReport& c) {
  return {{"stored_entries", c.stored_entries},
          {"expanded_entries", c.expanded_entries},
          {"duplicates_summed", c.duplicates},
          {"explicit_zeros_kept", c.explicit_zeros},
          {"mirrored_taken_once", c.mirrored},
          {"missing_diagonal", c.missing_diagonal},
          {"first_missing_diagonal", place(c.first_missing_diagonal)}};
}

}  // namespace krill::apps

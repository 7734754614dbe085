// What a user can choose about a whole solve: solver, preconditioner, ordering, scaling, matching, format. See
// solvers/options.hpp for how options are described.
#pragma once
#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "solvers/options.hpp"
#include "solvers/precond/options.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/scale/scaling.hpp"

namespace krill {

struct NaturalOrdering {
  static constexpr std::string_view type = "none";
  static constexpr std::string_view doc = "rows stay as they are";
};
template <class Fields>
void describe(Fields&, NaturalOrdering&) {}

struct RcmOrdering {
  static constexpr std::string_view type = "rcm";
  static constexpr std::string_view doc =
      "reverse Cuthill-McKee (1969): neighbors close together, so that the bandwidth is small";
};
template <class Fields>
void describe(Fields&, RcmOrdering&) {}

struct AmdOrdering {
  static constexpr std::string_view type = "amd";
  static constexpr std::string_view doc =
      "approximate minimum degree (Amestoy, Davis and Duff 1996): complete factors fill in little";
};
template <class Fields>
void describe(Fields&, AmdOrdering&) {}

struct NestedDissectionOrdering {
  static constexpr std::string_view type = "nested_dissection";
  static constexpr std::string_view doc =
      "nested dissection by METIS, in builds that have it: of large grids, complete factors fill in less than with amd";
};
template <class Fields>
void describe(Fields&, NestedDissectionOrdering&) {}

struct ColorOrdering {
  static constexpr std::string_view type = "color";
  static constexpr std::string_view doc =
      "by colors of rows that do not meet: triangular solves have as many steps as there are colors, and "
      "factorizations without fill lose quality";
};
template <class Fields>
void describe(Fields&, ColorOrdering&) {}

struct AutoOrdering {
  static constexpr std::string_view type = "auto";
  static constexpr std::string_view doc =
      "what suits the matrix and the preconditioner, by the rules of `krill inspect`";
};
template <class Fields>
void describe(Fields&, AutoOrdering&) {}

struct NoMatching {
  static constexpr std::string_view type = "none";
  static constexpr std::string_view doc = "rows stay in their places";
};
template <class Fields>
void describe(Fields&, NoMatching&) {}

struct GreatestProduct {
  static constexpr std::string_view type = "product";
  static constexpr std::string_view doc =
      "the product of the diagonal's moduli is the greatest possible, rows and columns are scaled so that these are 1 "
      "and no entry is greater (Duff and Koster 2001)";
};
template <class Fields>
void describe(Fields&, GreatestProduct&) {}

struct AutoMatching {
  static constexpr std::string_view type = "auto";
  static constexpr std::string_view doc = "what suits the matrix, by the rules of `krill inspect`";
};
template <class Fields>
void describe(Fields&, AutoMatching&) {}

/// The registry of matchings: rows are permuted, and scaled, before anything else is done to the system.
using MatchingOptions = std::variant<NoMatching, GreatestProduct, AutoMatching>;

/// The registry of orderings: the system is reordered symmetrically before it is solved.
using OrderingOptions =
    std::variant<NaturalOrdering, RcmOrdering, AmdOrdering, NestedDissectionOrdering, ColorOrdering, AutoOrdering>;

struct NoScaling {
  static constexpr std::string_view type = "none";
  static constexpr std::string_view doc = "entries stay as they are";
};
template <class Fields>
void describe(Fields&, NoScaling&) {}

struct DiagonalScaling {
  static constexpr std::string_view type = "diagonal";
  static constexpr std::string_view doc = "rows and columns by 1 / sqrt |a_ii|";
  static constexpr ScalingMethod method = ScalingMethod::diagonal;
};
template <class Fields>
void describe(Fields&, DiagonalScaling&) {}

struct SymmetricScaling {
  static constexpr std::string_view type = "symmetric";
  static constexpr std::string_view doc = "rows and columns by 1 / sqrt of the greatest modulus in both together";
  static constexpr ScalingMethod method = ScalingMethod::symmetric;
};
template <class Fields>
void describe(Fields&, SymmetricScaling&) {}

struct RuizScaling {
  static constexpr std::string_view type = "ruiz";
  static constexpr std::string_view doc =
      "rows and columns by factors of their own, which bring the greatest modulus in each to 1 (Ruiz 2001); symmetric "
      "where A is";
  static constexpr ScalingMethod method = ScalingMethod::ruiz;
};
template <class Fields>
void describe(Fields&, RuizScaling&) {}

struct NegativeScaling {
  static constexpr std::string_view type = "negative";
  static constexpr std::string_view doc =
      "rows by -1: a negative definite matrix becomes positive definite, as pcg and ic0 need it";
  static constexpr ScalingMethod method = ScalingMethod::negative;
};
template <class Fields>
void describe(Fields&, NegativeScaling&) {}

struct AutoScaling {
  static constexpr std::string_view type = "auto";
  static constexpr std::string_view doc = "what suits the matrix, by the rules of `krill inspect`";
};
template <class Fields>
void describe(Fields&, AutoScaling&) {}

/// The registry of scalings: the system is scaled before it is reordered and solved.
using ScalingOptions =
    std::variant<NoScaling, DiagonalScaling, SymmetricScaling, RuizScaling, NegativeScaling, AutoScaling>;

struct RowsPartition {
  static constexpr std::string_view type = "rows";
  static constexpr std::string_view doc =
      "rows that follow each other, of about equal cost, from multiples of 32 rows on";
};
template <class Fields>
void describe(Fields&, RowsPartition&) {}

struct GraphPartition {
  static constexpr std::string_view type = "graph";
  static constexpr std::string_view doc =
      "parts of the matrix's graph, of about equal cost and with few entries between two of them, by METIS, in builds "
      "that have it";
};
template <class Fields>
void describe(Fields&, GraphPartition&) {}

/// For programs: the rank of each row, the same numbers on all ranks; some ranks may have no rows.
struct GivenPartition {
  std::shared_ptr<const std::vector<std::int32_t>> ranks;
};

/// The registry of partitions: which of the ranks of a team (Context::team) has which rows. But for `rows` the rows of
/// each rank are brought together by an ordering: in the order that they have after OrderingOptions, they follow those
/// of lower ranks. After a matching, a row is that of the unknown of its number. One process has no use for it.
using PartitionOptions = std::variant<RowsPartition, GraphPartition, GivenPartition>;

template <class Fields>
void describe(Fields& fields, FormatLayout& o) {
  fields.value(
      "block_rows", o.block_rows, Range{0, largest_blocked_ell_dim},
      "rows of a block, in formats that have blocks; most of these take up to 64 (krill formats); 0: 2 to 8, what "
      "takes least memory");
  fields.value("block_cols", o.block_cols, Range{0, largest_block_dim},
               "columns of a block (gebsr, gebsc); 0: as block_rows");
  fields.value("block_columns", o.block_columns, any_value,
               "true: the insides of blocks lie by columns (bsr, bsrx, gebsr, gebsc)");
  fields.value("slice_rows", o.slice_rows, Range{1, 1048576}, "rows of a slice (sell, hll)");
  fields.value("sort_window", o.sort_window, at_least_zero,
               "rows that are sorted by length among each other (sell, hll); 0: rows keep their order");
  fields.value("hack_rows", o.hack_rows, Range{1, 1048576}, "rows that have diagonals of their own (hdia)");
  fields.value("ell_width", o.ell_width, Range{-1, 2147483647},
               "entries of a row in the ell part (hyb); -1: the mean row length, rounded up");
}

/// What the user vouches for where a solve would otherwise be refused.
enum class Assume { nothing, spd };
inline constexpr std::array<std::string_view, 2> assume_names{"nothing", "spd"};

/// What follows where a solve fails. automatic: the ladder where the solver is auto, else nothing.
enum class OnFailure { automatic, stop, ladder };
inline constexpr std::array<std::string_view, 3> on_failure_names{"auto", "stop", "ladder"};

/// How a system is solved. Each part that is auto is left to the rules in choose.hpp.
struct SolveOptions {
  SolverOptions solver = AutoSolver{};
  PreconditionerOptions preconditioner = AutoPreconditioner{};
  OrderingOptions ordering = AutoOrdering{};
  ScalingOptions scaling = AutoScaling{};
  MatchingOptions matching = AutoMatching{};
  Format format = Format::automatic;  ///< of the products; automatic: chosen by the clock
  FormatLayout layout = {};
  Assume assume = Assume::nothing;
  OnFailure on_failure = OnFailure::automatic;
  PartitionOptions partition = RowsPartition{};
  int contraction_steps = 0;  ///< by which contraction() measures the preconditioner; 0: it is not measured
};

}  // namespace krill

// What a user can choose about multigrid methods.
#pragma once
#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "solvers/range.hpp"
#include "sparse/coarsen/strength.hpp"

namespace krill {

/// How coarse spaces are made of aggregates: smoothed, or piecewise constant as they are.
enum class MultigridMethod { smoothed_aggregation, aggregation, automatic };
inline constexpr std::array<std::string_view, 3> multigrid_method_names{"smoothed_aggregation", "aggregation", "auto"};

/// How aggregates are found.
enum class AggregateChoice { automatic, mis2, matching };
inline constexpr std::array<std::string_view, 3> aggregate_choice_names{"auto", "mis2", "matching"};

/// What smoothed aggregation restricts by: the adjoint of the interpolation, or that of the one that A^H would have.
enum class RestrictionChoice { interpolation, adjoint_matrix };
inline constexpr std::array<std::string_view, 2> restriction_choice_names{"interpolation", "adjoint_matrix"};

/// How often, and how, a level asks the next coarser one.
enum class MultigridCycle { v, w, f, k };
inline constexpr std::array<std::string_view, 4> multigrid_cycle_names{"v", "w", "f", "k"};

/// What levels are smoothed by.
enum class SmootherKind { automatic, chebyshev, l1_jacobi, multicolor_gauss_seidel, ilu0, isai };
inline constexpr std::array<std::string_view, 6> smoother_kind_names{
    "auto", "chebyshev", "l1_jacobi", "multicolor_gauss_seidel", "ilu0", "isai"};

/// What new values of the matrix leave as it is.
enum class HierarchyReuse { nothing, aggregates, interpolation, hierarchy };
inline constexpr std::array<std::string_view, 4> hierarchy_reuse_names{"nothing", "aggregates", "interpolation",
                                                                       "hierarchy"};

/// Whether it is a polynomial in D^-1 A; the others are preconditioners.
constexpr bool is_polynomial(SmootherKind kind) {
  return kind == SmootherKind::automatic || kind == SmootherKind::chebyshev || kind == SmootherKind::l1_jacobi;
}

struct SmootherOptions {
  static constexpr int max_degree = 6;
  SmootherKind type = SmootherKind::automatic;
  int degree = 2;
  int eigenvalue_steps = 10;
};
template <class Fields>
void describe(Fields& fields, SmootherOptions& o) {
  fields.choice(
      "type", o.type, smoother_kind_names,
      "chebyshev: an optimized polynomial of the fourth kind in D^-1 A (Lottes 2023), for Hermitian positive "
      "definite matrices; l1_jacobi: Jacobi steps with the sums of moduli of rows in place of the diagonal, "
      "which never diverge; multicolor_gauss_seidel: sweeps in the order of colors, forth before and back after a "
      "coarser level is asked; ilu0, isai: steps with these preconditioners of each level, undamped; auto: "
      "chebyshev where the matrix is Hermitian with a positive diagonal, else l1_jacobi");
  fields.value("degree", o.degree, Range{1.0, SmootherOptions::max_degree},
               "of the polynomial, or steps: products with A before and after a coarser level is asked");
  fields.value(
      "eigenvalue_steps", o.eigenvalue_steps, Range{0.0, 1000.0},
      "Lanczos steps at most, a product with A each, that estimate the largest eigenvalue of D^-1 A of each level; 0: "
      "it is bounded by the sums of rows, which needs no product and no wait");
}

/// Strength on each level.
struct LevelStrength : Strength {
  double level_factor = 1;

  Strength at(std::size_t level) const {
    Strength own = *this;
    for (; level > 0; --level) own.threshold *= level_factor;
    return own;
  }
};
template <class Fields>
void describe(Fields& fields, LevelStrength& o) {
  fields.choice("measure", o.measure, strength_measure_names,
                "relative: |a_ij|^2 >= threshold^2 m_i m_j, with m the largest modulus beside the diagonal of a row; "
                "diagonal: |a_ij|^2 >= threshold^2 |a_ii a_jj| (Vanek, Mandel and Brezina 1996)");
  fields.value("threshold", o.threshold, Range{0.0, 1.0}, "entries below it do not bind rows into an aggregate");
  fields.value("level_factor", o.level_factor, Range{0.0, 1.0, true},
               "the threshold of a level is that of the next finer one times this");
}

/// What coarse spaces have to represent.
enum class CandidateKind { constant, rigid_body, file };
inline constexpr std::array<std::string_view, 3> candidate_kind_names{"constant", "rigid_body", "file"};

struct NearNullSpaceOptions {
  CandidateKind type = CandidateKind::constant;
  int block_dim = 1;
  std::string path = {};
};
template <class Fields>
void describe(Fields& fields, NearNullSpaceOptions& o) {
  fields.choice(
      "type", o.type, candidate_kind_names,
      "vectors that A nearly maps to 0. constant: one for each unknown of a node; rigid_body: translations "
      "and rotations, 3 in two dimensions and 6 in three, from the coordinates of nodes; file: the columns of "
      "a dense Matrix Market file");
  fields.value("block_dim", o.block_dim, Range{1.0, 16.0},
               "unknowns of a node, which follow each other; aggregates are of nodes");
  fields.path(
      "path", o.path, {},
      "of rigid_body: a dense Matrix Market file with a row of coordinates for each node, in place of those that "
      "come with the matrix; of file: one with a column for each vector");
}

struct MultigridOptions {
  MultigridMethod method = MultigridMethod::smoothed_aggregation;
  AggregateChoice aggregates = AggregateChoice::automatic;
  int matching_passes = 3;
  LevelStrength strength = {};
  double interpolation_damping = 4.0 / 3;
  RestrictionChoice restriction = RestrictionChoice::interpolation;
  NearNullSpaceOptions near_null_space = {};
  MultigridCycle cycle = MultigridCycle::v;
  double over_correction = 1;
  SmootherOptions smoother = {};
  int coarse_rows = 512;
  int max_levels = 25;
  double growth_limit = 4;
  HierarchyReuse reuse = HierarchyReuse::nothing;

  bool smoothed() const { return method == MultigridMethod::smoothed_aggregation; }
  /// By which coarse corrections are multiplied.
  double correction_factor() const { return smoothed() ? 1 : over_correction; }
  bool by_matching() const {
    return aggregates == AggregateChoice::automatic ? !smoothed() : aggregates == AggregateChoice::matching;
  }
};
template <class Fields>
void describe(Fields& fields, MultigridOptions& o) {
  fields.choice(
      "method", o.method, multigrid_method_names,
      "smoothed_aggregation: interpolation is smoothed (Vanek, Mandel and Brezina 1996); aggregation: "
      "piecewise constant, cheaper to set up, best with cycle k (Notay 2010); auto: aggregation with "
      "over_correction 1.7 where rows have more than 6 and up to 8 entries in the mean, or more than 20 and up "
      "to 32, and all moduli are within a factor of 32, as on grids in three dimensions, else "
      "smoothed_aggregation");
  fields.choice("aggregates", o.aggregates, aggregate_choice_names,
                "mis2: around rows that are three or more apart; matching: pairs of pairs of rows; auto: mis2 for "
                "smoothed_aggregation, matching for aggregation");
  fields.value("matching_passes", o.matching_passes, Range{1.0, 4.0},
               "of matching: each doubles the size of aggregates");
  fields.section("strength", o.strength, "which entries bind rows into an aggregate");
  fields.value("damping", o.interpolation_damping, Range{0.0, 2.0},
               "of smoothed_aggregation: over the largest eigenvalue, the factor of the Jacobi step that smooths the "
               "interpolation");
  fields.choice("restriction", o.restriction, restriction_choice_names,
                "of smoothed_aggregation. interpolation: R = P^H; adjoint_matrix: R = Q^H, where Q is what the "
                "interpolation P would be for A^H (Sala and Tuminaro 2008), for matrices that are not Hermitian; for "
                "Hermitian ones both are the same");
  fields.section("near_null_space", o.near_null_space, "what coarse levels have to represent");
  fields.choice(
      "cycle", o.cycle, multigrid_cycle_names,
      "v: a coarser level is asked once; w: twice; f: by f and then by v; k: it is solved with two steps of a "
      "Krylov method, for which solver fcg or fgmres is needed");
  fields.value("over_correction", o.over_correction, Range{1.0, 2.0},
               "of aggregation: coarse corrections are multiplied by this (Braess 1995: 1.5 to 1.8 with cycle v)");
  fields.section("smoother", o.smoother, "what levels are smoothed by, before and after a coarser level is asked");
  fields.value("coarse_rows", o.coarse_rows, Range{1.0, 2048.0},
               "a level of no more rows is the last one, solved by its dense inverse");
  fields.value("max_levels", o.max_levels, Range{1.0, 100.0}, "levels, the finest included");
  fields.value("growth_limit", o.growth_limit, Range{1.0, Range{}.max},
               "no further level is made once all have this many times the entries of the finest");
  fields.choice(
      "reuse", o.reuse, hierarchy_reuse_names,
      "for callers of the library that give new values. aggregates: levels keep these alone, and interpolate "
      "anew; interpolation: they keep the interpolation, too; hierarchy: coarser levels stay as they are, and "
      "only the finest one follows; nothing: new values take a new preconditioner. Levels of the first two "
      "keep what makes them again, and their matrices in CSR");
}

}  // namespace krill

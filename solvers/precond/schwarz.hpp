// Solves in parts of the matrix, beside each other.
#pragma once
#include <array>
#include <string_view>

#include "solvers/precond/boxed.hpp"
#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"
#include "solvers/range.hpp"

namespace krill {

/// Which rows a part has. rows: neighboring ones, of about equal cost. graph: those of a partition of the graph by
/// METIS, which cuts few entries.
enum class PartKind { rows, graph };
inline constexpr std::array<std::string_view, 2> part_kind_names{"rows", "graph"};

/// A coarse space beside the parts. constants: of vectors that are constant in each part.
enum class CoarseSpace { none, constants };
inline constexpr std::array<std::string_view, 2> coarse_space_names{"none", "constants"};

/// The preconditioner inside: precond/options.hpp has it.
struct PartInverse;

struct SchwarzOptions {
  static constexpr std::string_view type = "schwarz";
  static constexpr std::string_view doc =
      "the matrix without the entries between different parts of the rows (additive Schwarz): short chains of rows on "
      "a "
      "GPU, and what several processes run that solve one system, each with parts of its own rows";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = false;
  static constexpr int max_coarse = 2048;  ///< parts of all processes
  int parts = 1;
  PartKind partition = PartKind::rows;
  Boxed<PartInverse> inner = {};
  int overlap = 0;
  CoarseSpace coarse = CoarseSpace::none;
  KeptPrecision precision = KeptPrecision::automatic;

  /// That of the preconditioner inside, without an overlap.
  PcgFit suits_pcg() const;
  std::string_view varies() const;
  /// What cannot stand inside: schwarz itself, with an overlap what needs rows in the order of A, and what the
  /// preconditioner inside refuses.
  OptionConflict conflict() const;
};
template <class Fields>
void describe(Fields& fields, SchwarzOptions& o) {
  fields.value("parts", o.parts, at_least_one,
               "of the rows of each process, one matrix each; 1: only several processes make a difference");
  fields.choice(
      "partition", o.partition, part_kind_names,
      "rows: a part has neighboring rows; graph: those that METIS puts together, which cuts fewer entries and "
      "takes a while");
  describe_inside(fields, o.inner.value(),
                  "what stands for the inverse of the parts: any preconditioner with its own keys, but schwarz; auto: "
                  "ic0 where parts are Hermitian with a positive diagonal, else ilu0 whose pivots of 0 are replaced");
  fields.value("overlap", o.overlap, Range{0.0, 1.0},
               "1: a part also has the rows beside it, those of other processes, too, whose results are dropped "
               "(restricted: Cai and Sarkis 1999), for solvers of nonsymmetric systems");
  fields.choice(
      "coarse", o.coarse, coarse_space_names,
      "constants: adds a correction that is constant in each part, from a dense system with as many rows as "
      "there are parts (Nicolaides 1987), 2048 at most; for many parts by graph, slabs of neighboring rows lose by it");
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const SchwarzOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const SchwarzOptions&, const PreconditionerInput<T>&);

}  // namespace krill

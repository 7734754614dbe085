// The inverses of diagonal blocks.
#pragma once
#include <cstdint>
#include <string_view>

#include "solvers/precond/descriptor.hpp"
#include "solvers/precond/kept_precision.hpp"
#include "solvers/range.hpp"

namespace krill {

inline constexpr std::int32_t max_block_jacobi_dim = 32;

struct BlockJacobiOptions {
  static constexpr std::string_view type = "block_jacobi";
  static constexpr std::string_view doc = "the inverses of the blocks on the diagonal";
  static constexpr bool solves_triangles = false;
  static constexpr bool multiplies_with_matrix = false;
  int block_dim = 0;
  KeptPrecision precision = KeptPrecision::automatic;

  static constexpr PcgFit suits_pcg() { return {true}; }
  static OptionConflict conflict() { return {}; }
};
template <class Fields>
void describe(Fields& fields, BlockJacobiOptions& o) {
  fields.value(
      "block_dim", o.block_dim, Range{0.0, max_block_jacobi_dim},
      "rows of a block; 0: the blocks of a matrix in bsr, else those of 2 to 8 rows that its pattern has, else 8");
  detail::describe_precision(fields, o.precision);
}

template <class T>
MadePreconditioner<T> make(Context&, const BlockJacobiOptions&, const PreconditionerInput<T>&);
template <class T>
HeldMemory memory(MemoryLedger&, Context& host, const BlockJacobiOptions&, const PreconditionerInput<T>&);

}  // namespace krill

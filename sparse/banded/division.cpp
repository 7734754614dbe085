#include "sparse/banded/division.hpp"

namespace krill::detail {
namespace {

/// Not varied on the host; on an H200 where a word says so.
struct DivisionTuning {
  static constexpr std::int32_t host_rows_of_two_ends = 64;  ///< of single systems; shorter ones go from one end
  static constexpr std::int32_t undivided_rows = 32;         ///< of systems that never go in chunks; varied
  static constexpr std::int32_t rows_of_two_ends = 12;       ///< of those, that go from both ends
  static constexpr std::int32_t min_systems = 10000;         ///< that go from one end whatever their rows; varied
  static constexpr std::int32_t short_rows_apart = 8;        ///< of so many one after the other; varied
  /// Interleaved systems of five diagonals that go from two ends, for their chunks take more arithmetic: 4096 x 4096 by
  /// qr 1.50 ms on an H200, in chunks 2.40. Of three diagonals, lu 0.75 from two ends and 0.52 in chunks.
  static constexpr std::int32_t min_of_two_ends_with_five = 1500;
  static constexpr std::int32_t min_with_factor = 1024;  ///< not varied
};

/// Whether systems of many rows, fewer than min_systems, go from two ends.
bool have_two_ends(const BandLayout& vectors, std::int32_t min_systems) {
  return vectors.is_interleaved() && vectors.batch >= min_systems;
}

}  // namespace

BandDivision division_of(bool on_cuda, const BandLayout& vectors, int diagonals, BandedMethod method) {
  using Tuning = DivisionTuning;
  using enum BandDivision;
  if (!on_cuda) return vectors.batch == 1 && vectors.rows >= Tuning::host_rows_of_two_ends ? two_ends : one_end;
  if (vectors.batch >= Tuning::min_systems) {
    const bool apart = !vectors.is_interleaved() && vectors.rows > Tuning::short_rows_apart;
    return apart && (diagonals == 3 || method == BandedMethod::thomas) ? chunks : one_end;
  }
  if (vectors.rows <= Tuning::undivided_rows) return vectors.rows >= Tuning::rows_of_two_ends ? two_ends : one_end;
  return diagonals == 5 && have_two_ends(vectors, Tuning::min_of_two_ends_with_five) ? two_ends : chunks;
}

BandDivision factor_division_of(bool on_cuda, const BandLayout& vectors, int diagonals, BandedMethod method) {
  const BandDivision as_plan = division_of(on_cuda, vectors, diagonals, method);
  if (as_plan != BandDivision::chunks || !have_two_ends(vectors, DivisionTuning::min_with_factor)) return as_plan;
  return BandDivision::two_ends;
}

}  // namespace krill::detail

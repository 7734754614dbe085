#include "krill/apps/plan/memory_model.hpp"

#include <algorithm>

#include "krill/solvers/precond/block_jacobi_passes.hpp"
#include "krill/solvers/precond/kept_precision.hpp"
#include "krill/sparse/core/overloaded.hpp"
#include "krill/sparse/inverse/sparse_inverse.hpp"
#include "krill/sparse/spmv/csr_tiles.hpp"

namespace krill::apps {
namespace {

constexpr std::size_t index = sizeof(std::int32_t);  // bytes of a row, a column or a place
constexpr std::size_t count64 = sizeof(std::int64_t);

/// What CUB's radix sort of n pairs counts in, beside the pairs: about 1 kB a tile of some 30 kB of keys.
std::size_t radix_counts(std::size_t n, std::size_t key_bytes) { return 8192 + n * key_bytes / 28; }

}  // namespace

MemoryModel::Held MemoryModel::csr(const MatrixSizes& m) {
  Held held = hold((m.n() + 1) * m.offset);
  held += hold(m.entries() * index);
  held += hold(m.entries() * m.scalar);
  return held;
}

/// On the host a counter for each column and thread; on CUDA the buckets of large matrices, the radix sort of others,
/// in two passes at least.
void MemoryModel::transpose_scratch(const MatrixSizes& m, bool keeps_permutation) {
  constexpr std::int64_t least_entries_for_buckets = 500'000;
  if (!on_cuda_) {
    const int parts = Host{threads_, {}, nullptr}.threads_for(m.nnz);
    return ledger_.scratch({m.n() * m.offset * static_cast<std::size_t>(parts)});
  }
  const std::size_t indices = m.entries() * index, offsets = m.entries() * m.offset;
  if (m.nnz < least_entries_for_buckets)
    return ledger_.scratch({(m.n() + 1) * m.offset, indices, indices, offsets, keeps_permutation ? 0 : offsets,
                            indices + offsets + radix_counts(m.entries(), index)});  // of CUB: pairs once more, too
  const std::size_t payload = keeps_permutation ? m.offset : m.scalar;
  ledger_.scratch({m.entries() * (payload > 8 ? 32 : 16)});
}

/// On CUDA a radix sort of pairs, which keeps them once more where the keys need a second pass.
void MemoryModel::sort_by_depth(const MatrixSizes& m, std::int32_t deepest) {
  constexpr std::int32_t most_in_one_pass = 255;
  const std::size_t each = m.n() * index;
  if (on_cuda_)
    ledger_.scratch({each, each, (deepest > most_in_one_pass ? 2 * each : 0) + radix_counts(m.n(), index)});
  else
    ledger_.scratch({(static_cast<std::size_t>(deepest) + 2) * index});
}

MemoryModel::Held MemoryModel::reordered(const MatrixSizes& m) {
  const Held old_rows = hold(m.entries() * index), new_rows = hold(m.entries() * index);
  Held kept = hold(m.entries() * index);  // columns
  const Held permutation = hold(m.entries() * m.offset);
  if (on_cuda_) {
    const std::size_t keys = m.entries() * sizeof(std::uint64_t), payload = m.entries() * m.offset;
    ledger_.scratch({keys, payload, keys, payload, radix_counts(m.entries(), sizeof(std::uint64_t))});
  } else {
    constexpr std::size_t record = 16;  // a pair as a key, and its place
    ledger_.scratch({m.entries() * record, m.entries() * record});
  }
  kept += hold((m.n() + 1) * m.offset);
  kept += hold(m.entries() * m.scalar);
  return kept;
}

MemoryModel::Held MemoryModel::coloring(const MatrixSizes& m) {
  Held kept = hold(m.n() * index);  // order
  kept += hold(m.n() * index);      // places
  const Held colors = hold(m.n() * index);
  if (!m.symmetric_pattern) {
    const Held offsets = hold((m.n() + 1) * m.offset), columns = hold(m.entries() * index);
    transpose_scratch(m, false);
  }
  const Held sorted = hold(m.n() * index);
  constexpr std::int32_t few_colors = 16;
  sort_by_depth(m, few_colors);
  return kept;
}

MemoryModel::Held MemoryModel::transformation(const MatrixSizes& m, const ScalingOptions& scaling,
                                              const OrderingOptions& ordering, Held& matrix, Held& original) {
  ledger_.begin("transformation");
  const bool scales = !std::holds_alternative<NoScaling>(scaling);
  Held kept, scaled;
  if (scales) {
    Held factors = hold(2 * m.n() * sizeof(double));
    const Held norms = hold(2 * m.n() * sizeof(double));
    if (!std::holds_alternative<DiagonalScaling>(scaling)) {
      const Held transposed = csr(m);
      transpose_scratch(m, false);
    }
    kept += hold(2 * m.n() * m.real);
    factors = Held();
    scaled = csr(m);
  }
  if (!std::holds_alternative<NaturalOrdering>(ordering)) {
    if (std::holds_alternative<ColorOrdering>(ordering)) {
      kept += coloring(m);
    } else {
      if (std::holds_alternative<RcmOrdering>(ordering)) {
        const Held transposed = csr(m);
        transpose_scratch(m, false);
      }
      kept += hold(2 * m.n() * index);
    }
    scaled = reordered(m);
  }
  if (scaled.bytes() > 0) {
    if (scales) original = std::move(matrix);
    matrix = std::move(scaled);
  }
  return kept;
}

void MemoryModel::conversion(const MatrixSizes& m, Format format, std::size_t bytes, Held& matrix) {
  ledger_.begin("conversion");
  Held step;  // by way of another format
  if (format == Format::coo_aos) step = hold(m.entries() * (2 * index + m.scalar));
  if (format == Format::bsrx || format == Format::gebsc) step = hold(bytes);
  if (format == Format::hyb) step = hold((m.n() + 1) * count64);
  if (format == Format::dia) step = hold((2 * m.n() - 1) * count64);  // a number for each diagonal that there can be
  if (format == Format::ell || format == Format::hyb) ledger_.scratch({1});
  if (format == Format::csc) transpose_scratch(m, false);
  matrix = hold(bytes);  // what was there goes when it is made
}

MemoryModel::Held MemoryModel::products(const MatrixSizes& m, Format format) {
  const bool by_rows = format == Format::coo || format == Format::coo_aos || format == Format::hyb;
  Held kept = by_rows ? hold((m.n() + 1) * count64) : Held();
  if (format == Format::coo_aos) {
    const Held split = hold(m.entries() * (2 * index + m.scalar));
    kept += hold(m.entries() * index);
  }
  if (format == Format::csc || format == Format::gebsc) {
    const Held entries = format == Format::gebsc ? csr(m) : Held();
    kept += csr(m);
    if (format == Format::csc) kept += hold(m.entries() * m.offset);
    transpose_scratch(m, format == Format::csc);
  }
  if (by_rows || format == Format::csc) kept += tiles(m);
  return kept;
}

MemoryModel::Held MemoryModel::csr_of_format(const MatrixSizes& m, Format format,
                                             const PreconditionerOptions& options) {
  if (std::holds_alternative<NoPreconditioner>(options)) return {};
  const bool takes_diagonal = std::holds_alternative<JacobiOptions>(options);
  if (takes_diagonal && format == Format::coo) return {};
  Held made = csr(m);
  if (takes_diagonal) made += hold((m.n() + 1) * (count64 - m.offset));
  return made;
}

MemoryModel::Held MemoryModel::tiles(const MatrixSizes& m) {
  if (!on_cuda_) return {};
  const CsrTiling tiling = CsrTiling::of(m.rows, m.nnz);
  const auto count = static_cast<std::size_t>(tiling.count(m.rows, m.nnz));
  Held kept = hold((count + 1) * sizeof(CsrTile));
  kept += hold(2 * count * std::max<std::size_t>(m.scalar, 2 * sizeof(double)));
  kept += hold(count * sizeof(unsigned));
  kept += hold((count + 2) * index);
  kept += hold(static_cast<std::size_t>(tiling.most_long_rows(m.nnz)) * index);
  return kept;
}

MemoryModel::Held MemoryModel::schedule(const MatrixSizes& m, std::int32_t levels, bool known) {
  Held kept = hold(m.n() * index);
  kept += hold(m.n() * index);
  if (levels == 0) return kept;
  if (!known) {
    const Held depths = hold(m.n() * index), sorted = hold(m.n() * index);
    sort_by_depth(m, levels);
  }
  kept += hold((static_cast<std::size_t>(levels) + 1) * index);
  return kept;
}

MemoryModel::Held MemoryModel::exact_triangle(const MatrixSizes& m, const TriangleSizes& t, bool turned,
                                              bool stored_diagonal, bool levels_known) {
  const auto slices = static_cast<std::size_t>(t.slices), places = static_cast<std::size_t>(t.places);
  Held kept;
  {
    Held transposed;
    if (turned) {
      transposed = csr(m);
      kept += hold(m.entries() * m.offset);
      transpose_scratch(m, true);
    }
    kept += schedule(m, t.levels, levels_known);
    kept += hold(m.n() * t.row_bytes);
    const Held counts = hold(m.n() * index), slice_entries = hold((slices + 1) * count64);
    kept += hold((slices + 1) * count64);
    const Held each = hold(2 * slices * count64);
    kept += hold(static_cast<std::size_t>(t.tasks) * t.task_bytes);
    kept += hold(places * index);
  }
  kept += hold(places * m.scalar);
  if (stored_diagonal) kept += hold(m.n() * m.scalar);
  if (on_cuda_) late_scratch_ = m.n() * m.scalar;  // results that other rows wait for
  return kept;
}

MemoryModel::Held MemoryModel::approximate_triangle(const MatrixSizes& m, const TriangleSizes& t, bool turned,
                                                    bool stored_diagonal, bool isai, int steps) {
  MatrixSizes part = m;
  part.nnz = t.entries + (isai ? m.rows : 0);
  Held kept = hold(m.n() * m.offset);
  if (stored_diagonal) kept += hold(m.n() * m.scalar);
  for (int matrix = 0; matrix < (isai && steps > 0 ? 2 : 1); ++matrix) {
    kept += csr(part);
    if (turned) {
      kept += csr(part);
      kept += hold(part.entries() * m.offset);
      transpose_scratch(part, true);
    }
    kept += tiles(part);
  }
  if (!isai || steps > 0) late_ += 2 * m.n() * m.scalar;
  return kept;
}

MemoryModel::Held MemoryModel::triangle(const MatrixSizes& m, const TriangleSizes& t, const FactorSolveOptions& o,
                                        bool turned, bool stored_diagonal, bool levels_known) {
  if (o.method == TriangularSolve::jacobi) return approximate_triangle(m, t, turned, stored_diagonal, false, o.sweeps);
  if (o.method == TriangularSolve::isai)
    return approximate_triangle(m, t, turned, stored_diagonal, true, o.corrections);
  return exact_triangle(m, t, turned, stored_diagonal, levels_known);
}

MemoryModel::Held MemoryModel::factor_solves(const MatrixSizes& m, const FactorSolveOptions& o, bool cholesky,
                                             bool levels_known) {
  Held kept = triangle(m, m.lower, o, false, cholesky, levels_known);
  const bool approximate = o.method == TriangularSolve::jacobi || o.method == TriangularSolve::isai;
  kept += triangle(m, cholesky && approximate ? m.lower : m.upper, o, cholesky, true, false);
  return kept;
}

MemoryModel::Held MemoryModel::incomplete(const MatrixSizes& m, const FactorSolveOptions& o, bool cholesky) {
  Held factor = schedule(m, on_cuda_ ? std::max(m.lower.levels, 1) : 0, false);
  factor += csr(m);
  factor += hold(m.n() * m.offset);
  if (on_cuda_) {
    const Held row_indices = hold(m.entries() * index), of_rows = hold(m.n() * index), counts = hold(m.entries());
    const auto slices = static_cast<std::size_t>(m.items.slices), places = static_cast<std::size_t>(m.items.places);
    const Held each = hold(3 * (slices + 1) * count64);
    factor += hold((slices + 1) * count64);
    factor += hold(m.n() * m.items.row_bytes);
    factor += hold(slices * m.offset);
    factor += hold(places * m.offset);
    factor += hold(places);
    ledger_.scratch({static_cast<std::size_t>(m.items.shown) * m.scalar});
  } else {
    ledger_.scratch({m.n() * m.offset});
  }
  return factor_solves(m, o, cholesky, on_cuda_);
}

MemoryModel::Held MemoryModel::by_sweeps(const MatrixSizes& m, const FactorSolveOptions& o, bool cholesky) {
  Held factor = csr(m);
  const auto unknowns = static_cast<std::size_t>(m.lower.entries + m.rows + (cholesky ? 0 : m.upper.entries));
  {
    const Held diagonals = hold(m.n() * m.offset);
    Held turned;
    if (!cholesky) {
      turned = csr(m);
      turned += hold(m.entries() * m.offset);
      transpose_scratch(m, true);
    }
    factor += hold((m.n() + 1) * m.offset);
    if (!cholesky) factor += hold((m.n() + 1) * m.offset);
    factor += hold(2 * unknowns * index + unknowns * m.offset);
  }
  ledger_.scratch({unknowns * m.scalar, unknowns * m.scalar, unknowns * m.scalar});
  return factor_solves(m, o, cholesky, false);
}

MemoryModel::Held MemoryModel::sweep(const MatrixSizes& m, SweepDirection direction) {
  const bool both = direction == SweepDirection::symmetric;
  const Held inverse = hold(m.n() * m.scalar);
  const Held split = both ? csr(m) : Held();
  Held kept;
  if (direction != SweepDirection::backward) kept += exact_triangle(m, m.lower, false, true, false);
  if (direction != SweepDirection::forward) kept += exact_triangle(m, m.upper, false, !both, false);
  return kept;
}

MemoryModel::Held MemoryModel::inverse(const MatrixSizes& m) {
  MatrixSizes made = m;
  made.nnz = m.inverse.entries;
  Held kept;
  {
    Held order;
    {
      const Held begins = hold(m.n() * m.offset), classes = hold(m.n() * index);
      kept = hold((m.n() + 1) * m.offset);
      kept += hold(made.entries() * index);
      if (on_cuda_) {
        order = hold(m.n() * index);
        const Held sorted = hold(m.n() * index);
        sort_by_depth(m, SparseInverse<float>::classes);
      }
    }
    kept += hold(made.entries() * m.scalar);
    const Held outcomes = hold(m.n());
    if (on_cuda_ && m.inverse.long_rows > 0) {
      constexpr std::size_t most = std::size_t{64} << 20;
      const std::size_t most_blocks = m.scalar == sizeof(float) ? 792 : 660;  // as many stay on an H200
      const auto dim = static_cast<std::size_t>(m.inverse.longest), system = dim * (dim + 1);
      const auto blocks = std::min({most_blocks, static_cast<std::size_t>(m.inverse.long_rows),
                                    std::max<std::size_t>(1, most / (system * m.scalar))});
      ledger_.scratch({blocks * system * m.scalar, blocks * dim * index});
    }
  }
  kept += tiles(made);
  if (!m.inverse.factored) return kept;
  kept += csr(made);
  kept += hold(made.entries() * m.offset);
  transpose_scratch(made, true);
  kept += tiles(made);
  late_ += m.n() * m.scalar;
  return kept;
}

MemoryModel::Held MemoryModel::block_jacobi(const MatrixSizes& m, std::int32_t block_dim) {
  return hold(static_cast<std::size_t>(BlockLayout{block_dim}.size(m.rows)) * m.scalar);
}

MemoryModel::Held MemoryModel::chebyshev(const MatrixSizes& m, bool multiplies_itself) {
  Held kept = multiplies_itself ? tiles(m) : Held();
  { const Held diagonal = hold(m.n() * m.scalar); }
  kept += hold(m.n() * m.real);
  kept += hold(2 * m.n() * m.scalar);
  const Held residual = hold(m.n() * m.scalar);
  return kept;
}

MemoryModel::Held MemoryModel::of(const PreconditionerOptions& options, const MatrixSizes& m, const MatrixSizes& filled,
                                  std::size_t bsr, std::int32_t block_dim, bool multiplies_itself) {
  const auto in_blocks = [&](const FactorSolveOptions& o, bool cholesky) {
    const Held blocks = hold(bsr), entries = csr(filled);
    return incomplete(filled, o, cholesky);
  };
  return std::visit(
      Overloaded{[](const NoPreconditioner&) { return Held(); }, [](const AutoPreconditioner&) { return Held(); },
                 [&](const JacobiOptions&) { return hold(m.n() * m.scalar); },
                 [&](const BlockJacobiOptions&) { return block_jacobi(m, block_dim); },
                 [&](const ChebyshevOptions&) { return chebyshev(m, multiplies_itself); },
                 [&](const GaussSeidelOptions& o) { return sweep(m, o.direction); },
                 [&](const SsorOptions&) { return sweep(m, SweepDirection::symmetric); },
                 [&](const IsaiOptions&) { return inverse(m); },
                 [&](const Bilu0Options& o) { return in_blocks(o.solve, false); },
                 [&](const Bic0Options& o) { return in_blocks(o.solve, true); },
                 [&](const Ilu0Options& o) { return incomplete(m, o.solve, false); },
                 [&](const Ic0Options& o) { return incomplete(m, o.solve, true); },
                 [&](const Parilu0Options& o) { return by_sweeps(m, o.solve, false); },
                 [&](const Paric0Options& o) { return by_sweeps(m, o.solve, true); }},
      options);
}

MemoryModel::Held MemoryModel::preconditioner(const PreconditionerOptions& options, const MatrixSizes& m,
                                              const MatrixSizes& filled, std::size_t bsr, std::int32_t block_dim) {
  ledger_.begin("preconditioner");
  const bool lower = m.real == sizeof(double) && is_kept_in_float32(options);
  if (!lower) return of(options, m, filled, bsr, block_dim, false);
  const MatrixSizes low = m.lowered();
  Held matrix = csr(low);
  Held kept = of(options, low, filled.lowered(), bsr, block_dim, true);
  if (std::holds_alternative<ChebyshevOptions>(options)) kept += std::move(matrix);
  late_ += 2 * m.n() * low.scalar;
  return kept;
}

MemoryModel::Held MemoryModel::first_use() {
  if (late_scratch_ > 0) ledger_.scratch({late_scratch_});
  return hold(late_);
}

MemoryModel::Held MemoryModel::solver(const SolverOptions& options, const MatrixSizes& m, bool preconditioned) {
  ledger_.begin("solve");
  const std::size_t z = preconditioned ? 1 : 0, wide = m.scalar == m.real ? sizeof(double) : 2 * sizeof(double);
  std::size_t vectors = 3;  // b, x, r
  Held kept = hold((static_cast<std::size_t>(max_iterations(options)) + 1) * sizeof(double));
  std::visit(
      Overloaded{[&](const PcgOptions&) { vectors += 2 + z; }, [&](const BicgstabOptions&) { vectors += 4 + 2 * z; },
                 [&](const RichardsonOptions&) { vectors += 1 + z; },
                 [&](const GmresOptions& o) {
                   const auto restart = static_cast<std::size_t>(
                       std::clamp(std::min({o.restart, o.max_iterations, m.rows}), 1, o.restart));
                   vectors += restart + 2 + z;
                   kept += hold((restart + 1) * restart * wide);
                 },
                 [](const AutoSolver&) {}},
      options);
  for (std::size_t v = 0; v < vectors; ++v) kept += hold(m.n() * m.scalar);
  return kept;
}

}  // namespace krill::apps

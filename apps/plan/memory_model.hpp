// The memory of set-up and solve, step by step: each function holds in a ledger what the code of its name holds, for as
// long. Tests compare it with what runs hold, so a set-up that changes its arrays has to change its model.
#pragma once
#include "krill/apps/case/case.hpp"
#include "krill/apps/plan/ledger.hpp"
#include "krill/apps/plan/sizes.hpp"

namespace krill::apps {

class MemoryModel {
 public:
  using Held = Ledger::Held;

  MemoryModel(Ledger& ledger, bool on_cuda, int threads) : ledger_(ledger), on_cuda_(on_cuda), threads_(threads) {}

  /// A matrix in CSR.
  Held csr(const MatrixSizes&);
  /// Scales and reorders: what stays is the ordering and the factors; `matrix`, the one that is solved with, is
  /// replaced.
  Held transformation(const MatrixSizes&, const ScalingOptions&, const OrderingOptions&, Held& matrix, Held& original);
  /// The conversion from CSR to another format of so many bytes, which takes the place of `matrix`.
  void conversion(const MatrixSizes&, Format, std::size_t bytes, Held& matrix);
  /// Products in CSR: tiles on CUDA, nothing on the host.
  Held tiles(const MatrixSizes&);
  /// What products in another format keep beside the matrix.
  Held products(const MatrixSizes&, Format);
  /// What preconditioners make of a matrix that is not in CSR, while they are made.
  Held csr_of_format(const MatrixSizes&, Format, const PreconditionerOptions&);
  /// What a preconditioner keeps.
  Held preconditioner(const PreconditionerOptions&, const MatrixSizes&, const MatrixSizes& filled, std::size_t bsr,
                      std::int32_t block_dim);
  /// What that preconditioner takes when it is first applied.
  Held first_use();
  /// A solver's own vectors. `preconditioned`: z is another vector than r.
  Held solver(const SolverOptions&, const MatrixSizes&, bool preconditioned);

 private:
  Held hold(std::size_t bytes) { return ledger_.hold(bytes); }
  void transpose_scratch(const MatrixSizes&, bool keeps_permutation);
  void sort_by_depth(const MatrixSizes&, std::int32_t deepest);
  Held reordered(const MatrixSizes&);
  Held coloring(const MatrixSizes&);
  Held schedule(const MatrixSizes&, std::int32_t levels, bool known);
  Held exact_triangle(const MatrixSizes&, const TriangleSizes&, bool turned, bool stored_diagonal, bool levels_known);
  Held approximate_triangle(const MatrixSizes&, const TriangleSizes&, bool turned, bool stored_diagonal, bool isai,
                            int steps);
  Held triangle(const MatrixSizes&, const TriangleSizes&, const FactorSolveOptions&, bool turned, bool stored_diagonal,
                bool levels_known);
  Held factor_solves(const MatrixSizes&, const FactorSolveOptions&, bool cholesky, bool levels_known);
  Held incomplete(const MatrixSizes&, const FactorSolveOptions&, bool cholesky);
  Held by_sweeps(const MatrixSizes&, const FactorSolveOptions&, bool cholesky);
  Held sweep(const MatrixSizes&, SweepDirection);
  Held inverse(const MatrixSizes&);
  Held block_jacobi(const MatrixSizes&, std::int32_t block_dim);
  Held chebyshev(const MatrixSizes&, bool multiplies_itself);
  Held of(const PreconditionerOptions&, const MatrixSizes&, const MatrixSizes& filled, std::size_t bsr,
          std::int32_t block_dim, bool multiplies_itself);

  Ledger& ledger_;
  bool on_cuda_;
  int threads_;
  std::size_t late_ = 0, late_scratch_ = 0;  ///< bytes of first_use()
};

}  // namespace krill::apps

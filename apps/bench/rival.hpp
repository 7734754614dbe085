// Another library that does the same work on the same arrays, in the same run.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sparse/core/half.hpp"
#include "sparse/formats/any_matrix.hpp"
#include "sparse/formats/banded.hpp"
#include "sparse/formats/blocked_ell.hpp"
#include "sparse/formats/sparse_vector.hpp"
#include "sparse/spmm/batch.hpp"
#include "sparse/triangular/triangle.hpp"

namespace krill::apps::bench {

/// Operands in 16 bits: a matrix in one of two forms, the other one null, and dense ones without padding.
struct HalfTask {
  const Csr<Half>* csr = nullptr;
  const BlockedEll<Half>* blocks = nullptr;
  const Array<Half>* x = nullptr;
  Array<Half>* y = nullptr;
};

/// Vectors side by side in memory of the backend: `columns` of them, `stride` values apart.
template <class T>
struct StackedVectors {
  std::int64_t rows, columns, stride;
  const T* values;
};

/// One call of a kernel, as both Krill and the rival are to make it. What a kernel does not use is null. All of it has
/// to outlive the rival's RivalRun.
template <class T>
struct Task {
  /// "spmv" (y = A x), "spmm" (the same of matrices without padding), "sddmm" (A's values become x y
  /// at its places, x being row-major), "spgemm" (A B), "spgeam" (A + B), "triple_product" (R A B), all with
  /// "_values" for new values in a pattern that is known, "prune", "prune_percentage", "csr2csc", "csr2coo", "coo2csr",
  /// "triangular" (A y = x), "triangular_many" (8 columns), "triangular_plan" (what has to be done once), "ilu0", "ic0"
  /// (the factor in values), "ilu0_analysis", "ic0_analysis", "color" (a color for each row to `indices`); of bands (A
  /// y = x) those of banded_bench.cpp; of a batch "spmm_batch"; of a sparse vector x with a dense y "axpby" (y += x),
  /// "gather", "scatter", "rotate" (c = 0, s = 1), "dot" (the result in values), "gemvi" (values = D x); of stacked
  /// vectors V "basis_dots" (y = V^H x of `columns` vectors x), "basis_update" (y -= V x), "dense_product" (y = V x)
  std::string_view kernel;
  const AnyMatrix<T>* A = nullptr;
  const AnyMatrix<T>* B = nullptr;  ///< of spgemm, spgeam and triple_product
  const AnyMatrix<T>* R = nullptr;  ///< of triple_product
  // In the place of A, which is null; where all are, no rival knows anything of the kind.
  const Banded<T>* bands = nullptr;
  const CsrBatch<T>* batch = nullptr;
  const HalfTask* half = nullptr;  ///< of spmm, computed in float; x and y are there, too
  SparseVector<T>* vector = nullptr;
  const Dense<T>* D = nullptr;  ///< of gemvi, column-major
  const StackedVectors<T>* stacked = nullptr;
  const Array<T>* x = nullptr;
  Array<T>* y = nullptr;
  Array<std::int32_t>* offsets = nullptr;  ///< of the result, where that is a matrix
  Array<std::int32_t>* indices = nullptr;
  Array<T>* values = nullptr;
  Triangle triangle = {};
  std::int32_t columns = 1;   ///< of spmm: of x and y; of sddmm: of x
  bool by_rows = false;       ///< of spmm: x and y are row-major; of sddmm: y is
  std::int64_t x_stride = 0;  ///< of spmm_batch: from one to the next; 0: one for all
  double threshold = 0;       ///< of prune, and the percentage
};

/// A task with all that its algorithm prepares in advance.
class RivalRun {
 public:
  virtual ~RivalRun() = default;
  virtual void operator()() = 0;  ///< asynchronous on CUDA; raises Error
  /// Brings back what a call has overwritten of the rival's inputs; false where that is nothing. As asynchronous.
  virtual bool restore() { return false; }
  /// Bytes of memory that it has asked for so far beyond operands and result; nothing where that is not known.
  virtual std::optional<std::int64_t> workspace() const { return {}; }
};

/// A x = b from x = 0 on, until ||b - A x|| <= relative ||b||.
template <class T>
struct SolveTask {
  std::string_view solver, preconditioner;  ///< names of Krill: "pcg", "ic0"
  const AnyMatrix<T>& A;
  const Array<T>& b;
  double relative;
  int max_iterations;
  int restart = 0;  ///< vectors, of gmres
};

/// A solve with all that is done once a matrix.
class SolveRun : public RivalRun {
 public:
  virtual std::string variant() const = 0;
  /// Of the last call; nothing where it did not converge.
  virtual std::optional<int> iterations() const = 0;
};

template <class T>
class Rival {
 public:
  virtual ~Rival() = default;
  virtual std::string name() const = 0;
  /// Those that do the task's kernel on the task's format; none where the rival has no such thing.
  virtual std::vector<std::string> algorithms(const Task<T>&) const = 0;
  virtual std::unique_ptr<RivalRun> prepare(Context&, const std::string& algorithm, const Task<T>&) const = 0;
  /// Null where the rival has no such solver or preconditioner.
  virtual std::unique_ptr<SolveRun> prepare_solve(Context&, const SolveTask<T>&) const { return nullptr; }
};

inline constexpr std::array<std::string_view, 3> compare_names{"none", "cusparse", "eigen"};

/// Raises InvalidArgument where the rival does not run on the context's backend, or is not there.
void require_rival(const Context&, std::string_view compare);

/// The rival that `compare` names, ready for the context; null for "none". Raises as require_rival().
template <class T>
std::unique_ptr<Rival<T>> make_rival(Context&, std::string_view compare);

// The rivals, each with a library of its own behind it: eigen_rival.cpp and cusparse_loader.cpp.
template <class T>
std::unique_ptr<Rival<T>> make_eigen_rival(int threads);
template <class T>
std::unique_ptr<SolveRun> make_eigen_solve(const SolveTask<T>&);  // eigen_solver_rival.cpp
template <class T>
std::unique_ptr<RivalRun> make_eigen_banded(const Task<T>&);  // eigen_banded_rival.cpp
template <class T>
std::unique_ptr<Rival<T>> make_cusparse_rival(Context&);
void require_cusparse_module();

}  // namespace krill::apps::bench

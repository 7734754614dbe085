// What every kernel's benchmark is made of: jobs that are timed, checked, and set against a rival.
#pragma once
#include <array>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/result.hpp"
#include "apps/bench/rival.hpp"
#include "sparse/core/team.hpp"

namespace krill::apps::bench {

/// `batch` systems of `rows` rows.
struct BandedShape {
  std::int32_t rows, batch;
  std::string name() const;  ///< "1024 x 256"
  friend bool operator==(const BandedShape&, const BandedShape&) = default;
};

/// The matrix under test and all that a kernel's benchmark has to know. A is in CSR form.
template <class T>
struct BenchSubject {
  Context& ctx;
  std::string name;                         ///< of the matrix
  std::string precision;                    ///< name of T
  std::shared_ptr<const AnyMatrix<T>> A;    ///< null on ranks that make their own rows of it, but for rank 0
  const Rival<T>* rival;                    ///< null: none
  double ceiling;                           ///< GB/s
  bool warm;                                ///< data may stay in the cache
  const std::vector<std::string>& formats;  ///< what --format names; empty: all
  std::function<void(const Row&)> report;
  std::span<const BandedShape> shapes = {};           ///< of banded systems, which need no A
  std::span<const std::string> preconditioners = {};  ///< that solvers are measured with; empty: all
  Team* team = nullptr;                               ///< of scaling, whose ranks share A
  const BenchMatrix* source = nullptr;                ///< what A was made from, for more rows of it

  bool wants(std::string_view format) const;
  /// A row that is still empty but for its names.
  Row row(std::string_view kernel, std::string_view variant) const;
};

/// One copy of the work. Copies do the same with arrays of their own.
template <class T>
struct Job {
  std::function<void()> run;
  double bytes = 0;                           ///< that it moves, and goes round over
  Task<T> task;                               ///< the same work for the rival
  std::shared_ptr<const void> keeps;          ///< what run and task refer to
  std::function<std::string()> fault;         ///< what is wrong with the result that stands there now; may be empty
  std::function<std::int64_t()> colors = {};  ///< how many the coloring has that stands there now; may be empty
  double flops = 0;                           ///< 0: not counted
  /// Bytes that one more run takes beyond operands and result, at its most; may be empty.
  std::function<std::int64_t()> workspace = {};
};

/// The matrix itself as copy 0, else a copy with arrays of its own.
template <class T>
std::shared_ptr<const AnyMatrix<T>> source_copy(const BenchSubject<T>&, std::size_t copy);

/// Times as many copies of a job as the cache asks for, then the algorithms of the rival on the same arrays, and fills
/// in the row. Where make(copy) or the work raises Error, the row gets its text; where the rival does, rival_error.
template <class T>
void measure_job(const BenchSubject<T>&, Row&, const std::function<Job<T>(std::size_t copy)>& make);

/// Runs f; the text of what it raises, empty where it does not.
std::string failure_of(const std::function<void()>& f);

// The kernels' benchmarks: spmv_bench.cpp, spmm_bench.cpp, half_bench.cpp, batch_bench.cpp, sddmm_bench.cpp,
// spgemm_bench.cpp, prune_bench.cpp, conversion_bench.cpp, triangular_bench.cpp, factor_bench.cpp, color_bench.cpp,
// coarsen_bench.cpp, vector_bench.cpp, basis_bench.cpp, banded_bench.cpp, solver_bench.cpp, amg_bench.cpp,
// scaling_bench.cpp.
template <class T>
void bench_spmv(const BenchSubject<T>&);
template <class T>
void bench_spmv_dot(const BenchSubject<T>&);
template <class T>
void bench_spmm(const BenchSubject<T>&);
void bench_half_products(const BenchSubject<float>&);  // rows of spmm
template <class T>
void bench_sddmm(const BenchSubject<T>&);
template <class T>
void bench_spgemm(const BenchSubject<T>&);
template <class T>
void bench_spgeam(const BenchSubject<T>&);
template <class T>
void bench_triple_product(const BenchSubject<T>&);
template <class T>
void bench_prune(const BenchSubject<T>&);
template <class T>
void bench_vector(const BenchSubject<T>&);
template <class T>
void bench_basis(const BenchSubject<T>&);
template <class T>
void bench_batch(const BenchSubject<T>&);
template <class T>
void bench_convert(const BenchSubject<T>&);
template <class T>
void bench_csr2csc(const BenchSubject<T>&);
template <class T>
void bench_triangular(const BenchSubject<T>&);
template <class T>
void bench_factor(const BenchSubject<T>&);
template <class T>
void bench_color(const BenchSubject<T>&);
template <class T>
void bench_coarsen(const BenchSubject<T>&);
template <class T>
void bench_contraction(const BenchSubject<T>&);  // rows of coarsen
template <class T>
void bench_banded(const BenchSubject<T>&);
template <class T>
void bench_amg(const BenchSubject<T>&);
template <class T, class SolverOptions>
void bench_solver(const BenchSubject<T>&);
/// An iteration on all ranks of the team beside one on rank 0 alone. All ranks take part, and report the same rows.
template <class T>
void bench_scaling(const BenchSubject<T>&);

/// The formats that --format may name: the storage forms that spmv is measured for.
std::vector<std::string> spmv_formats();

/// The preconditioners that --preconditioner may name, as rows of solvers name them.
std::vector<std::string> solver_preconditioners();

/// Of the aggregates that are contracted: up to 8 rows.
inline constexpr int matching_passes = 3;

/// What several ranks measure, and the preconditioners that they do it with: the first two, or those that are named.
inline constexpr const char* scaling_kernel = "scaling";
inline constexpr std::array<std::string_view, 5> scaling_preconditioners{"none", "jacobi", "chebyshev", "isai",
                                                                         "schwarz"};

/// The kernel that --shapes is for.
inline constexpr const char* banded_kernel = "banded";

}  // namespace krill::apps::bench

// The C interface between the program and libkrill_bench_cusparse.so, which alone is linked to cuSPARSE and cuBLAS and
// is opened by `krill bench --compare cusparse`. Pointers are device pointers of the caller's; work goes into the
// caller's stream.
//
// A kernel is a name, so another one (spsv, ilu0, spmm) needs no new function here: a line in the module's table, and a
// member of KrillRivalTask where it has an operand that no other kernel has.
#pragma once
#include <cstddef>
#include <cstdint>

struct CUstream_st;

extern "C" {

/// Raised when a struct below changes; a module with another number is refused.
inline constexpr int krill_rival_interface = 9;
inline constexpr const char* krill_rival_entry = "krill_rival_module";

enum KrillRivalScalar : std::int32_t {
  krill_rival_float32,
  krill_rival_float64,
  krill_rival_complex64,
  krill_rival_complex128
};

enum KrillRivalLayout : std::int32_t {
  krill_rival_none,         ///< no matrix
  krill_rival_csr,          ///< offsets of rows, col_indices
  krill_rival_csc,          ///< offsets of columns, row_indices
  krill_rival_coo,          ///< row_indices, col_indices
  krill_rival_sell,         ///< offsets of slices, col_indices with -1 as padding, slice_rows
  krill_rival_bsr,          ///< offsets of block rows, col_indices of blocks, block_dim
  krill_rival_dense,        ///< values alone, row by row
  krill_rival_blocked_ell,  ///< col_indices of blocks, block_dim, ell_cols
  krill_rival_bands,        ///< bands of one system or a batch of them
  krill_rival_vector,       ///< a sparse vector of `rows` entries: col_indices, values
  krill_rival_basis         ///< `cols` vectors of `rows` values each, `values_stride` apart
};

/// A matrix, zero-based. Where it is a result, it is written to, and its sizes are known in advance.
struct KrillRivalMatrix {
  KrillRivalLayout layout = krill_rival_none;
  std::int32_t offset_bytes = 4;         ///< 4 or 8
  std::int32_t block_dim = 0;            ///< of bsr and blocked_ell
  std::int32_t blocks_column_major = 0;  ///< of bsr: how the entries of a block lie
  std::int32_t slice_rows = 0;           ///< of sell
  std::int64_t ell_cols = 0;             ///< of blocked_ell: places of a row
  std::int64_t rows = 0, cols = 0, nnz = 0;
  std::int64_t stored = 0;  ///< values with padding: of sell and bsr
  const void* offsets = nullptr;
  const std::int32_t *row_indices = nullptr, *col_indices = nullptr;
  const void* values = nullptr;
  /// Of bands: the diagonals from the second below to the second above, the outer ones null where there are three, zero
  /// where they leave the matrix. Systems of `rows` each lie one after the other, or interleaved, as the kernel has it.
  const void* bands[5] = {};
  std::int64_t batch = 0;                              ///< of bands and csr; 0: no batch
  std::int64_t offsets_stride = 0, values_stride = 0;  ///< of a batch in csr, 0: all have the first one's; of a basis
};

struct KrillRivalTask {
  const char* kernel =
      nullptr;  ///< spmv, spmm, spmm_batch, sddmm, spgemm, spgemm_values, spgeam, spgeam_values, triple_product,
                ///< triple_product_values, prune, prune_percentage, csr2csc, csr2coo, coo2csr, csr2bsr, csr2dense,
                ///< dense2csr, triangular, triangular_many (8 columns, one after the other), triangular_plan, ilu0,
                ///< ic0, ilu0_analysis, ic0_analysis, color, gtsv2, gtsv2_nopivot, gtsv2_strided, gtsv_interleaved
                ///< thomas, lu or qr, gpsv_interleaved; of a sparse vector: axpby, gather, scatter, rotate, dot, gemvi;
                ///< of a basis V: basis_dots (y = V^H x, 2 columns), basis_update (y -= V x), dense_product (y = V x),
                ///< column_dots (y_j = v_j^H x_j, as many vectors x without gaps);
                ///< whole solves A y = x from y = 0 on: pcg, gmres, bicgstab, whose algorithms are preconditioners
  const char* algorithm = nullptr;  ///< one of those that `algorithms` lists
  KrillRivalScalar scalar = krill_rival_float64;
  std::int32_t half = 0;  ///< of spmm: values are of 16 bits, `scalar` is what they are computed in
  KrillRivalMatrix a{};
  KrillRivalMatrix b{};  ///< of spgemm (A B), spgeam (A + B), and gemvi (a dense matrix, column by column)
  KrillRivalMatrix c{};  ///< of triple_product (C A B)
  KrillRivalMatrix
      result{};  ///< of conversions, spgemm and spgeam; of factorizations the values; of color: row_indices, the colors
  const void* x = nullptr;    ///< of spmv: y = A x; of triangular and bands: A y = x
  void* y = nullptr;          ///< the dense vector of axpby, gather, scatter, rotate and dot; the result of gemvi
  std::int64_t x_stride = 0;  ///< of spmm_batch; 0: one x for all
  double threshold = 0;       ///< of prune; of prune_percentage in percent; of a solve ||r|| / ||b|| to reach
  std::int32_t max_iterations = 0, restart = 0;  ///< of a solve
  const void* inverse_diagonal = nullptr;        ///< of a solve with jacobi
  std::int32_t* iterations = nullptr;         ///< of a solve, on the host: written by each run; -1: it did not converge
  std::int32_t upper = 0, unit_diagonal = 0;  ///< of triangular
  std::int32_t columns = 1, by_rows = 0;      ///< as in Task; dense matrices have no padding
};

/// Functions that can fail return 0, or another number with the reason in `message`.
struct KrillRivalModule {
  int interface;     ///< krill_rival_interface
  const char* name;  ///< "cuSPARSE 12.6.3"
  /// Algorithms for a kernel on a layout, separated by blanks; "" where there are none.
  const char* (*algorithms)(const char* kernel, KrillRivalLayout);
  /// A handle for one device and stream.
  int (*open)(int device, CUstream_st* stream, void** session, char* message, std::size_t size);
  void (*close)(void* session);
  /// Descriptors, workspace and analysis: everything that is done once a matrix. The session has to outlive the run.
  int (*prepare)(void* session, const KrillRivalTask*, void** run, char* message, std::size_t size);
  int (*run)(void* run, char* message, std::size_t size);
  /// Brings back what a run has overwritten of its inputs; `restored` becomes 0 where that is nothing.
  int (*restore)(void* run, int* restored, char* message, std::size_t size);
  /// Bytes of memory beyond operands and result that the run has so far; -1: not known.
  std::int64_t (*workspace)(const void* run);
  void (*destroy)(void* run);
};

/// The one symbol of the module.
const KrillRivalModule* krill_rival_module();
}

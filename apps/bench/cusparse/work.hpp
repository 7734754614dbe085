// What the kernels of libkrill_bench_cusparse.so share: checks, the session, descriptors, and tasks that have been
// prepared.
#pragma once
#define DISABLE_CUSPARSE_DEPRECATED  // csr2bsr, csrcolor and the factorizations have no successors
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <vector>

#include "apps/bench/cusparse_interface.hpp"

namespace krill::apps::bench::cusparse {

inline void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("{}: {}", what, cusparseGetErrorString(status)));
}
inline void check(cublasStatus_t status, const char* what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("{}: {}", what, cublasGetStatusString(status)));
}
inline void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // reported here, so not again by the next check
  throw std::runtime_error(fmt::format("{}: {}", what, cudaGetErrorString(status)));
}

class Session {
 public:
  Session(int device, cudaStream_t stream) : stream_(stream) {
    check(cudaSetDevice(device), "cudaSetDevice");
    check(cusparseCreate(&handle_), "cusparseCreate");
    check(cusparseSetStream(handle_, stream), "cusparseSetStream");
  }
  ~Session() {
    cusparseDestroy(handle_);
    if (blas_) cublasDestroy(blas_);
  }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  cusparseHandle_t handle() const { return handle_; }
  cudaStream_t stream() const { return stream_; }
  /// Made when it is first asked for.
  cublasHandle_t blas() const {
    if (!blas_) {
      check(cublasCreate(&blas_), "cublasCreate");
      check(cublasSetStream(blas_, stream_), "cublasSetStream");
    }
    return blas_;
  }

 private:
  cudaStream_t stream_;
  cusparseHandle_t handle_ = nullptr;
  mutable cublasHandle_t blas_ = nullptr;
};

/// Memory that stays from run to run, and grows where a run wants more.
class Workspace {
 public:
  Workspace() = default;
  ~Workspace() { cudaFree(memory_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* reserve(std::size_t bytes) {
    if (memory_ == nullptr || bytes > size_) {
      cudaFree(memory_);
      memory_ = nullptr, size_ = 0;
      check(cudaMalloc(&memory_, std::max<std::size_t>(bytes, 1)), "cudaMalloc of cuSPARSE's workspace");
      size_ = bytes;
    }
    return memory_;
  }
  /// step(&bytes, memory) says with null how much it needs, and runs with that much.
  template <class Step>
  void with(const char* what, Step&& step) {
    std::size_t bytes = 0;
    check(step(&bytes, nullptr), what);
    check(step(&bytes, reserve(bytes)), what);
  }
  void* get() const { return memory_; }
  std::int64_t size() const { return static_cast<std::int64_t>(size_); }

 private:
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

inline std::int64_t size_of(std::span<const Workspace> buffers) {
  std::int64_t bytes = 0;
  for (const Workspace& buffer : buffers) bytes += buffer.size();
  return bytes;
}

inline cudaDataType data_type(KrillRivalScalar scalar) {
  constexpr cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
  return types[scalar];
}

/// A factor in the scalar type of a task, aligned as cuDoubleComplex and cuComplex are.
struct CusparseScalar {
  alignas(16) double as_double[2] = {};
  alignas(8) float as_float[2] = {};
  CusparseScalar(double value) { as_double[0] = value, as_float[0] = static_cast<float>(value); }
  const void* in(KrillRivalScalar scalar) const {
    const bool single = scalar == krill_rival_float32 || scalar == krill_rival_complex64;
    return single ? static_cast<const void*>(as_float) : as_double;
  }
};

inline cusparseIndexType_t offset_type(const KrillRivalMatrix& m) {
  return m.offset_bytes == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
}

inline int as_int(std::int64_t count, const char* what) {
  if (count > std::numeric_limits<int>::max())
    throw std::runtime_error(fmt::format("{} takes at most 2^31 - 1 entries, there are {}", what, count));
  return static_cast<int>(count);
}

inline const int* int_offsets(const KrillRivalMatrix& m, const char* what) {
  if (m.offset_bytes != 4) throw std::runtime_error(fmt::format("{} takes 32-bit offsets alone", what));
  return static_cast<const int*>(m.offsets);
}

/// What a conversion writes to: the caller's arrays, which the interface shares with inputs.
template <class T>
T* output(const T* pointer) {
  return const_cast<T*>(pointer);
}

class SparseDescriptor {
 public:
  SparseDescriptor(const KrillRivalMatrix& m, cudaDataType type) { create(m, type); }
  SparseDescriptor(const KrillRivalMatrix& m, KrillRivalScalar scalar) : SparseDescriptor(m, data_type(scalar)) {}
  ~SparseDescriptor() {
    cusparseDestroySpMat(matrix_);
    cudaFree(short_offsets_);
  }
  SparseDescriptor(const SparseDescriptor&) = delete;
  SparseDescriptor& operator=(const SparseDescriptor&) = delete;
  operator cusparseSpMatDescr_t() const { return matrix_; }

 private:
  void create(const KrillRivalMatrix& m, cudaDataType type) {
    constexpr auto narrow = CUSPARSE_INDEX_32I;
    constexpr auto zero_based = CUSPARSE_INDEX_BASE_ZERO;
    int *rows = output(m.row_indices), *cols = output(m.col_indices);
    void *offsets = output(m.offsets), *values = output(m.values);
    switch (m.layout) {
      case krill_rival_csr:
        return check(cusparseCreateCsr(&matrix_, m.rows, m.cols, m.nnz, offsets, cols, values, offset_type(m), narrow,
                                       zero_based, type),
                     "cusparseCreateCsr");
      case krill_rival_csc:
        return check(cusparseCreateCsc(&matrix_, m.rows, m.cols, m.nnz, offsets, rows, values, offset_type(m), narrow,
                                       zero_based, type),
                     "cusparseCreateCsc");
      case krill_rival_coo:
        return check(cusparseCreateCoo(&matrix_, m.rows, m.cols, m.nnz, rows, cols, values, narrow, zero_based, type),
                     "cusparseCreateCoo");
      case krill_rival_sell:
        return check(cusparseCreateSlicedEll(&matrix_, m.rows, m.cols, m.nnz, m.stored, m.slice_rows, short_offsets(m),
                                             cols, values, narrow, narrow, zero_based, type),
                     "cusparseCreateSlicedEll");
      case krill_rival_bsr:
        return check(cusparseCreateBsr(&matrix_, blocks(m.rows, m), blocks(m.cols, m),
                                       m.stored / (std::int64_t{m.block_dim} * m.block_dim), m.block_dim, m.block_dim,
                                       offsets, cols, values, offset_type(m), narrow, zero_based, type,
                                       m.blocks_column_major ? CUSPARSE_ORDER_COL : CUSPARSE_ORDER_ROW),
                     "cusparseCreateBsr");
      case krill_rival_blocked_ell:
        return check(cusparseCreateBlockedEll(&matrix_, m.rows, m.cols, m.block_dim, m.ell_cols, cols, values, narrow,
                                              zero_based, type),
                     "cusparseCreateBlockedEll");
      case krill_rival_none:
      case krill_rival_dense:
      case krill_rival_bands:
      case krill_rival_vector:
      case krill_rival_basis:
        break;
    }
    throw std::runtime_error("cuSPARSE has no sparse matrix of this layout");
  }
  /// cuSPARSE takes slice offsets and columns of one width only.
  void* short_offsets(const KrillRivalMatrix& m) {
    const auto count = static_cast<std::size_t>((m.rows + m.slice_rows - 1) / m.slice_rows + 1);
    std::vector<std::int64_t> wide(count);
    check(cudaMemcpy(wide.data(), m.offsets, count * sizeof(std::int64_t), cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (wide.back() > std::numeric_limits<int>::max())
      throw std::runtime_error("too large for cusparseCreateSlicedEll");
    const std::vector<int> narrow(wide.begin(), wide.end());
    check(cudaMalloc(&short_offsets_, count * sizeof(int)), "cudaMalloc");
    check(cudaMemcpy(short_offsets_, narrow.data(), count * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
    return short_offsets_;
  }
  static std::int64_t blocks(std::int64_t size, const KrillRivalMatrix& m) {
    return (size + m.block_dim - 1) / m.block_dim;
  }

  cusparseSpMatDescr_t matrix_ = nullptr;
  void* short_offsets_ = nullptr;
};

class DenseDescriptor {
 public:
  DenseDescriptor(const KrillRivalMatrix& m, KrillRivalScalar scalar) {
    check(
        cusparseCreateDnMat(&matrix_, m.rows, m.cols, m.cols, output(m.values), data_type(scalar), CUSPARSE_ORDER_ROW),
        "cusparseCreateDnMat");
  }
  DenseDescriptor(std::int64_t rows, std::int64_t cols, const void* values, cudaDataType type, bool by_rows) {
    check(cusparseCreateDnMat(&matrix_, rows, cols, by_rows ? cols : rows, output(values), type,
                              by_rows ? CUSPARSE_ORDER_ROW : CUSPARSE_ORDER_COL),
          "cusparseCreateDnMat");
  }
  DenseDescriptor(std::int64_t rows, std::int64_t cols, const void* values, KrillRivalScalar scalar,
                  bool by_rows = false)
      : DenseDescriptor(rows, cols, values, data_type(scalar), by_rows) {}
  ~DenseDescriptor() { cusparseDestroyDnMat(matrix_); }
  DenseDescriptor(const DenseDescriptor&) = delete;
  DenseDescriptor& operator=(const DenseDescriptor&) = delete;
  operator cusparseDnMatDescr_t() const { return matrix_; }

 private:
  cusparseDnMatDescr_t matrix_ = nullptr;
};

class VectorDescriptor {
 public:
  VectorDescriptor(std::int64_t size, const void* values, KrillRivalScalar scalar) {
    check(cusparseCreateDnVec(&vector_, size, output(values), data_type(scalar)), "cusparseCreateDnVec");
  }
  ~VectorDescriptor() { cusparseDestroyDnVec(vector_); }
  VectorDescriptor(const VectorDescriptor&) = delete;
  VectorDescriptor& operator=(const VectorDescriptor&) = delete;
  operator cusparseDnVecDescr_t() const { return vector_; }

 private:
  cusparseDnVecDescr_t vector_ = nullptr;
};

/// The triangle of a task, in CSR.
class TriangleDescriptor : public SparseDescriptor {
 public:
  explicit TriangleDescriptor(const KrillRivalTask& task) : SparseDescriptor(task.a, task.scalar) {
    cusparseFillMode_t fill = task.upper ? CUSPARSE_FILL_MODE_UPPER : CUSPARSE_FILL_MODE_LOWER;
    cusparseDiagType_t diagonal = task.unit_diagonal ? CUSPARSE_DIAG_TYPE_UNIT : CUSPARSE_DIAG_TYPE_NON_UNIT;
    check(cusparseSpMatSetAttribute(*this, CUSPARSE_SPMAT_FILL_MODE, &fill, sizeof fill), "cusparseSpMatSetAttribute");
    check(cusparseSpMatSetAttribute(*this, CUSPARSE_SPMAT_DIAG_TYPE, &diagonal, sizeof diagonal),
          "cusparseSpMatSetAttribute");
  }
};

using ScalarTypes = std::tuple<float, double, cuComplex, cuDoubleComplex>;

/// A task that has been prepared.
class CusparseWork {
 public:
  CusparseWork(const Session& session, const KrillRivalTask& task) : session_(session), task_(task) {}
  virtual ~CusparseWork() = default;
  CusparseWork(const CusparseWork&) = delete;
  CusparseWork& operator=(const CusparseWork&) = delete;
  virtual void run() = 0;
  /// Brings back the inputs that a run overwrites; false where there are none.
  virtual bool restore() { return false; }
  /// Bytes of memory beyond operands and result; -1: not counted.
  virtual std::int64_t workspace() const { return -1; }

 protected:
  cusparseHandle_t handle() const { return session_.handle(); }
  const void* one() const { return one_.in(task_.scalar); }
  cudaDataType type() const { return data_type(task_.scalar); }
  /// Of the operands' values; type() is what they are computed in.
  cudaDataType value_type() const { return task_.half ? CUDA_R_16F : type(); }
  /// f.operator()<i>(), i being the place of the task's type in ScalarTypes.
  template <class F>
  void with_type(F&& f) const {
    switch (task_.scalar) {
      case krill_rival_float32:
        return f.template operator()<0>();
      case krill_rival_float64:
        return f.template operator()<1>();
      case krill_rival_complex64:
        return f.template operator()<2>();
      case krill_rival_complex128:
        return f.template operator()<3>();
    }
  }
  void copy(void* to, const void* from, std::size_t bytes) const {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, session_.stream()), "cudaMemcpyAsync");
  }

  const Session& session_;
  const CusparseScalar one_ = 1;
  const KrillRivalTask task_;  // its names are gone after the constructor
};

/// What cuSPARSE can be asked for.
struct CusparseEntry {
  std::string_view kernel;
  KrillRivalLayout layout;
  const char* algorithms;
  std::unique_ptr<CusparseWork> (*make)(const Session&, const KrillRivalTask&);
};

template <class W>
std::unique_ptr<CusparseWork> make_work(const Session& session, const KrillRivalTask& task) {
  return std::make_unique<W>(session, task);
}

/// The entries of each file.
std::span<const CusparseEntry> products();
std::span<const CusparseEntry> conversions();
std::span<const CusparseEntry> solves();
std::span<const CusparseEntry> factorizations();
std::span<const CusparseEntry> banded_solves();
std::span<const CusparseEntry> sums_and_products();
std::span<const CusparseEntry> pruning();
std::span<const CusparseEntry> sparse_vectors();
std::span<const CusparseEntry> bases();
std::span<const CusparseEntry> textbook_loops();

}  // namespace krill::apps::bench::cusparse

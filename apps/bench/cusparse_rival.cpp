// libkrill_bench_cusparse.so: cuSPARSE behind the interface of cusparse_interface.hpp. Nothing else links cuSPARSE.
#define DISABLE_CUSPARSE_DEPRECATED  // the factorisations have no successors
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

#include "krill/apps/bench/cusparse_interface.hpp"

namespace {

void check(cusparseStatus_t status, const char* what) {
  if (status != CUSPARSE_STATUS_SUCCESS)
    throw std::runtime_error(fmt::format("{}: {}", what, cusparseGetErrorString(status)));
}
void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // reported here, so not again by the next check
  throw std::runtime_error(fmt::format("{}: {}", what, cudaGetErrorString(status)));
}

class Session {
 public:
  Session(int device, cudaStream_t stream) {
    check(cudaSetDevice(device), "cudaSetDevice");
    check(cusparseCreate(&handle_), "cusparseCreate");
    check(cusparseSetStream(handle_, stream), "cusparseSetStream");
  }
  ~Session() { cusparseDestroy(handle_); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  cusparseHandle_t handle() const { return handle_; }

 private:
  cusparseHandle_t handle_ = nullptr;
};

class Workspace {
 public:
  Workspace() = default;
  ~Workspace() { cudaFree(memory_); }
  Workspace(const Workspace&) = delete;
  Workspace& operator=(const Workspace&) = delete;

  void* reserve(std::size_t bytes) {
    check(cudaMalloc(&memory_, std::max<std::size_t>(bytes, 1)), "cudaMalloc of cuSPARSE's workspace");
    return memory_;
  }
  void* get() const { return memory_; }

 private:
  void* memory_ = nullptr;
};

cudaDataType data_type(KrillRivalScalar scalar) {
  constexpr cudaDataType types[] = {CUDA_R_32F, CUDA_R_64F, CUDA_C_32F, CUDA_C_64F};
  return types[scalar];
}

/// A factor in the scalar type of a task.
struct Factor {
  double as_double[2] = {};
  float as_float[2] = {};
  Factor(double value) { as_double[0] = value, as_float[0] = static_cast<float>(value); }
  const void* in(KrillRivalScalar scalar) const {
    const bool single = scalar == krill_rival_float32 || scalar == krill_rival_complex64;
    return single ? static_cast<const void*>(as_float) : as_double;
  }
};

cusparseIndexType_t offset_type(const KrillRivalMatrix& m) {
  return m.offset_bytes == 8 ? CUSPARSE_INDEX_64I : CUSPARSE_INDEX_32I;
}

int as_int(std::int64_t count, const char* what) {
  if (count > std::numeric_limits<int>::max())
    throw std::runtime_error(fmt::format("{} takes at most 2^31 - 1 entries, there are {}", what, count));
  return static_cast<int>(count);
}

const int* int_offsets(const KrillRivalMatrix& m, const char* what) {
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
  SparseDescriptor(const KrillRivalMatrix& m, KrillRivalScalar scalar) { create(m, data_type(scalar)); }
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
      case krill_rival_none:
      case krill_rival_dense:
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
  /// By columns.
  DenseDescriptor(std::int64_t rows, std::int64_t cols, const void* values, KrillRivalScalar scalar) {
    check(cusparseCreateDnMat(&matrix_, rows, cols, rows, output(values), data_type(scalar), CUSPARSE_ORDER_COL),
          "cusparseCreateDnMat");
  }
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

/// A task that has been prepared.
class Work {
 public:
  Work(const Session& session, const KrillRivalTask& task) : session_(session), task_(task) {}
  virtual ~Work() = default;
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  virtual void run() = 0;

 protected:
  cusparseHandle_t handle() const { return session_.handle(); }
  const void* one() const { return one_.in(task_.scalar); }
  cudaDataType type() const { return data_type(task_.scalar); }

  const Session& session_;
  const Factor one_ = 1;
  const KrillRivalTask task_;  // its names are gone after the constructor
};

class Spmv final : public Work {
 public:
  Spmv(const Session& session, const KrillRivalTask& task)
      : Work(session, task),
        algorithm_(algorithm_of(task.algorithm)),
        a_(task.a, task.scalar),
        x_(task.a.cols, task.x, task.scalar),
        y_(task.a.rows, task.y, task.scalar) {
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(handle(), op, one(), a_, x_, zero(), y_, type(), algorithm_, &bytes),
          "cusparseSpMV_bufferSize");
    workspace_.reserve(bytes);
    if (task.a.layout == krill_rival_csr)
      check(cusparseSpMV_preprocess(handle(), op, one(), a_, x_, zero(), y_, type(), algorithm_, workspace_.get()),
            "cusparseSpMV_preprocess");
  }
  void run() override {
    check(cusparseSpMV(handle(), op, one(), a_, x_, zero(), y_, type(), algorithm_, workspace_.get()), "cusparseSpMV");
  }

 private:
  static constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static cusparseSpMVAlg_t algorithm_of(std::string_view name) {
    if (name == "CSR_ALG1") return CUSPARSE_SPMV_CSR_ALG1;
    if (name == "CSR_ALG2") return CUSPARSE_SPMV_CSR_ALG2;
    if (name == "COO_ALG1") return CUSPARSE_SPMV_COO_ALG1;
    if (name == "COO_ALG2") return CUSPARSE_SPMV_COO_ALG2;
    if (name == "SELL_ALG1") return CUSPARSE_SPMV_SELL_ALG1;
    if (name == "BSR_ALG1") return CUSPARSE_SPMV_BSR_ALG1;
    return CUSPARSE_SPMV_ALG_DEFAULT;
  }
  const void* zero() const { return zero_.in(task_.scalar); }

  Factor zero_ = 0;
  cusparseSpMVAlg_t algorithm_;
  SparseDescriptor a_;
  VectorDescriptor x_, y_;
  Workspace workspace_;
};

class CsrToCsc final : public Work {
 public:
  CsrToCsc(const Session& session, const KrillRivalTask& task)
      : Work(session, task), nnz_(as_int(task.a.nnz, "cusparseCsr2cscEx2")) {
    std::size_t bytes = 0;
    check(
        cusparseCsr2cscEx2_bufferSize(handle(), rows(), cols(), nnz_, task_.a.values, offsets(), task_.a.col_indices,
                                      values(), out_offsets(), out_rows(), data_type(task_.scalar),
                                      CUSPARSE_ACTION_NUMERIC, CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, &bytes),
        "cusparseCsr2cscEx2_bufferSize");
    workspace_.reserve(bytes);
  }
  void run() override {
    check(cusparseCsr2cscEx2(handle(), rows(), cols(), nnz_, task_.a.values, offsets(), task_.a.col_indices, values(),
                             out_offsets(), out_rows(), data_type(task_.scalar), CUSPARSE_ACTION_NUMERIC,
                             CUSPARSE_INDEX_BASE_ZERO, CUSPARSE_CSR2CSC_ALG1, workspace_.get()),
          "cusparseCsr2cscEx2");
  }

 private:
  int rows() const { return static_cast<int>(task_.a.rows); }
  int cols() const { return static_cast<int>(task_.a.cols); }
  const int* offsets() const { return int_offsets(task_.a, "cusparseCsr2cscEx2"); }
  void* values() const { return output(task_.result.values); }
  int* out_offsets() const { return static_cast<int*>(output(task_.result.offsets)); }
  int* out_rows() const { return output(task_.result.row_indices); }

  int nnz_;
  Workspace workspace_;
};

class CsrToCoo final : public Work {
 public:
  CsrToCoo(const Session& session, const KrillRivalTask& task)
      : Work(session, task), nnz_(as_int(task.a.nnz, "cusparseXcsr2coo")) {}
  void run() override {
    check(cusparseXcsr2coo(handle(), int_offsets(task_.a, "cusparseXcsr2coo"), nnz_, static_cast<int>(task_.a.rows),
                           output(task_.result.row_indices), CUSPARSE_INDEX_BASE_ZERO),
          "cusparseXcsr2coo");
  }

 private:
  int nnz_;
};

class CooToCsr final : public Work {
 public:
  CooToCsr(const Session& session, const KrillRivalTask& task)
      : Work(session, task), nnz_(as_int(task.a.nnz, "cusparseXcoo2csr")) {}
  void run() override {
    check(cusparseXcoo2csr(handle(), task_.a.row_indices, nnz_, static_cast<int>(task_.a.rows),
                           output(int_offsets(task_.result, "cusparseXcoo2csr")), CUSPARSE_INDEX_BASE_ZERO),
          "cusparseXcoo2csr");
  }

 private:
  int nnz_;
};

// cuSPARSE 12.6 calls csr2bsr and csrcolor deprecated and has nothing in their place.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

/// Both steps, the count of the blocks and the blocks; the result's arrays are large enough already.
class CsrToBsr final : public Work {
 public:
  CsrToBsr(const Session& session, const KrillRivalTask& task) : Work(session, task) {
    check(cusparseCreateMatDescr(&descriptor_), "cusparseCreateMatDescr");
  }
  ~CsrToBsr() override { cusparseDestroyMatDescr(descriptor_); }

  void run() override {
    switch (task_.scalar) {
      case krill_rival_float32:
        return convert<float>(cusparseScsr2bsr);
      case krill_rival_float64:
        return convert<double>(cusparseDcsr2bsr);
      case krill_rival_complex64:
        return convert<cuComplex>(cusparseCcsr2bsr);
      case krill_rival_complex128:
        return convert<cuDoubleComplex>(cusparseZcsr2bsr);
    }
  }

 private:
  template <class T, class Function>
  void convert(Function function) {
    const KrillRivalMatrix &a = task_.a, &b = task_.result;
    const auto order = b.blocks_column_major ? CUSPARSE_DIRECTION_COLUMN : CUSPARSE_DIRECTION_ROW;
    const int rows = static_cast<int>(a.rows), cols = static_cast<int>(a.cols);
    const int* offsets = int_offsets(a, "cusparseXcsr2bsr");
    int* out_offsets = output(int_offsets(b, "cusparseXcsr2bsr"));
    int blocks = 0;
    check(cusparseXcsr2bsrNnz(handle(), order, rows, cols, descriptor_, offsets, a.col_indices, b.block_dim,
                              descriptor_, out_offsets, &blocks),
          "cusparseXcsr2bsrNnz");
    check(function(handle(), order, rows, cols, descriptor_, static_cast<const T*>(a.values), offsets, a.col_indices,
                   b.block_dim, descriptor_, static_cast<T*>(output(b.values)), out_offsets, output(b.col_indices)),
          "cusparseXcsr2bsr");
  }

  cusparseMatDescr_t descriptor_ = nullptr;
};

/// The colors and the order of the rows that they give.
class CsrColor final : public Work {
 public:
  CsrColor(const Session& session, const KrillRivalTask& task)
      : Work(session, task), nnz_(as_int(task.a.nnz, "cusparseXcsrcolor")) {
    check(cusparseCreateMatDescr(&descriptor_), "cusparseCreateMatDescr");
    check(cusparseCreateColorInfo(&info_), "cusparseCreateColorInfo");
    order_.reserve(static_cast<std::size_t>(task.a.rows) * sizeof(int));
  }
  ~CsrColor() override {
    cusparseDestroyColorInfo(info_);
    cusparseDestroyMatDescr(descriptor_);
  }

  void run() override {
    switch (task_.scalar) {
      case krill_rival_float32:
        return color<float, float>(cusparseScsrcolor);
      case krill_rival_float64:
        return color<double, double>(cusparseDcsrcolor);
      case krill_rival_complex64:
        return color<cuComplex, float>(cusparseCcsrcolor);
      case krill_rival_complex128:
        return color<cuDoubleComplex, double>(cusparseZcsrcolor);
    }
  }

 private:
  template <class T, class Real, class Function>
  void color(Function function) {
    const KrillRivalMatrix& a = task_.a;
    const Real fraction = 1;
    int colors = 0;
    check(function(handle(), static_cast<int>(a.rows), nnz_, descriptor_, static_cast<const T*>(a.values),
                   int_offsets(a, "cusparseXcsrcolor"), a.col_indices, &fraction, &colors,
                   output(task_.result.row_indices), static_cast<int*>(order_.get()), info_),
          "cusparseXcsrcolor");
  }

  int nnz_;
  Workspace order_;
  cusparseMatDescr_t descriptor_ = nullptr;
  cusparseColorInfo_t info_ = nullptr;
};
#pragma GCC diagnostic pop

class CsrToDense final : public Work {
 public:
  CsrToDense(const Session& session, const KrillRivalTask& task)
      : Work(session, task), a_(task.a, task.scalar), dense_(task.result, task.scalar) {
    std::size_t bytes = 0;
    check(cusparseSparseToDense_bufferSize(handle(), a_, dense_, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, &bytes),
          "cusparseSparseToDense_bufferSize");
    workspace_.reserve(bytes);
  }
  void run() override {
    check(cusparseSparseToDense(handle(), a_, dense_, CUSPARSE_SPARSETODENSE_ALG_DEFAULT, workspace_.get()),
          "cusparseSparseToDense");
  }

 private:
  SparseDescriptor a_;
  DenseDescriptor dense_;
  Workspace workspace_;
};

/// Both steps, the count of the entries and the entries; the result's arrays are large enough already.
class DenseToCsr final : public Work {
 public:
  DenseToCsr(const Session& session, const KrillRivalTask& task)
      : Work(session, task), dense_(task.a, task.scalar), csr_(task.result, task.scalar) {
    std::size_t bytes = 0;
    check(cusparseDenseToSparse_bufferSize(handle(), dense_, csr_, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, &bytes),
          "cusparseDenseToSparse_bufferSize");
    workspace_.reserve(bytes);
  }
  void run() override {
    const KrillRivalMatrix& b = task_.result;
    check(cusparseDenseToSparse_analysis(handle(), dense_, csr_, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, workspace_.get()),
          "cusparseDenseToSparse_analysis");
    check(cusparseCsrSetPointers(csr_, output(b.offsets), output(b.col_indices), output(b.values)),
          "cusparseCsrSetPointers");
    check(cusparseDenseToSparse_convert(handle(), dense_, csr_, CUSPARSE_DENSETOSPARSE_ALG_DEFAULT, workspace_.get()),
          "cusparseDenseToSparse_convert");
  }

 private:
  DenseDescriptor dense_;
  SparseDescriptor csr_;
  Workspace workspace_;
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

/// A solve; with `only_analysis`, what comes before the first one.
template <bool only_analysis>
class Spsv final : public Work {
 public:
  Spsv(const Session& session, const KrillRivalTask& task)
      : Work(session, task), a_(task), b_(task.a.rows, task.x, task.scalar), x_(task.a.rows, task.y, task.scalar) {
    create();
    std::size_t bytes = 0;
    check(cusparseSpSV_bufferSize(handle(), op, one(), a_, b_, x_, type(), algorithm, state_, &bytes),
          "cusparseSpSV_bufferSize");
    workspace_.reserve(bytes);
    analyse();
  }
  ~Spsv() override { cusparseSpSV_destroyDescr(state_); }
  void run() override {
    if constexpr (only_analysis) {
      cusparseSpSV_destroyDescr(state_);
      create();
      std::size_t bytes = 0;
      check(cusparseSpSV_bufferSize(handle(), op, one(), a_, b_, x_, type(), algorithm, state_, &bytes),
            "cusparseSpSV_bufferSize");
      analyse();
    } else {
      check(cusparseSpSV_solve(handle(), op, one(), a_, b_, x_, type(), algorithm, state_), "cusparseSpSV_solve");
    }
  }

 private:
  static constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr auto algorithm = CUSPARSE_SPSV_ALG_DEFAULT;
  void create() { check(cusparseSpSV_createDescr(&state_), "cusparseSpSV_createDescr"); }
  void analyse() {
    check(cusparseSpSV_analysis(handle(), op, one(), a_, b_, x_, type(), algorithm, state_, workspace_.get()),
          "cusparseSpSV_analysis");
  }
  TriangleDescriptor a_;
  VectorDescriptor b_, x_;
  Workspace workspace_;
  cusparseSpSVDescr_t state_ = nullptr;
};

class Spsm final : public Work {
 public:
  Spsm(const Session& session, const KrillRivalTask& task)
      : Work(session, task),
        a_(task),
        b_(task.a.rows, columns, task.x, task.scalar),
        x_(task.a.rows, columns, task.y, task.scalar) {
    check(cusparseSpSM_createDescr(&state_), "cusparseSpSM_createDescr");
    std::size_t bytes = 0;
    check(cusparseSpSM_bufferSize(handle(), op, op, one(), a_, b_, x_, type(), algorithm, state_, &bytes),
          "cusparseSpSM_bufferSize");
    workspace_.reserve(bytes);
    check(cusparseSpSM_analysis(handle(), op, op, one(), a_, b_, x_, type(), algorithm, state_, workspace_.get()),
          "cusparseSpSM_analysis");
  }
  ~Spsm() override { cusparseSpSM_destroyDescr(state_); }
  void run() override {
    check(cusparseSpSM_solve(handle(), op, op, one(), a_, b_, x_, type(), algorithm, state_), "cusparseSpSM_solve");
  }

 private:
  static constexpr std::int64_t columns = 8;
  static constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr auto algorithm = CUSPARSE_SPSM_ALG_DEFAULT;
  TriangleDescriptor a_;
  DenseDescriptor b_, x_;
  Workspace workspace_;
  cusparseSpSMDescr_t state_ = nullptr;
};

// Factorisations of the old interface, the only ones that there are; a function for each scalar type.
struct Ilu0Functions {
  using Info = csrilu02Info_t;
  static constexpr auto create = cusparseCreateCsrilu02Info;
  static constexpr auto destroy = cusparseDestroyCsrilu02Info;
  static constexpr auto sizes = std::make_tuple(cusparseScsrilu02_bufferSize, cusparseDcsrilu02_bufferSize,
                                                cusparseCcsrilu02_bufferSize, cusparseZcsrilu02_bufferSize);
  static constexpr auto analyses = std::make_tuple(cusparseScsrilu02_analysis, cusparseDcsrilu02_analysis,
                                                   cusparseCcsrilu02_analysis, cusparseZcsrilu02_analysis);
  static constexpr auto numerics =
      std::make_tuple(cusparseScsrilu02, cusparseDcsrilu02, cusparseCcsrilu02, cusparseZcsrilu02);
};
struct Ic0Functions {
  using Info = csric02Info_t;
  static constexpr auto create = cusparseCreateCsric02Info;
  static constexpr auto destroy = cusparseDestroyCsric02Info;
  static constexpr auto sizes = std::make_tuple(cusparseScsric02_bufferSize, cusparseDcsric02_bufferSize,
                                                cusparseCcsric02_bufferSize, cusparseZcsric02_bufferSize);
  static constexpr auto analyses = std::make_tuple(cusparseScsric02_analysis, cusparseDcsric02_analysis,
                                                   cusparseCcsric02_analysis, cusparseZcsric02_analysis);
  static constexpr auto numerics =
      std::make_tuple(cusparseScsric02, cusparseDcsric02, cusparseCcsric02, cusparseZcsric02);
};
using ScalarTypes = std::tuple<float, double, cuComplex, cuDoubleComplex>;

/// A factorisation, the copy of the values included, which it overwrites; with `only_analysis`, what comes before.
template <class Functions, bool only_analysis>
class Factorisation final : public Work {
 public:
  Factorisation(const Session& session, const KrillRivalTask& task)
      : Work(session, task),
        rows_(as_int(task.a.rows, "an incomplete factorisation")),
        nnz_(as_int(task.a.nnz, "an incomplete factorisation")),
        offsets_(int_offsets(task.a, "an incomplete factorisation")) {
    check(cusparseCreateMatDescr(&descriptor_), "cusparseCreateMatDescr");
    create();
    reset_values();
    int bytes = 0;
    with_type([&]<std::size_t type>() {
      check(std::get<type>(Functions::sizes)(handle(), rows_, nnz_, descriptor_, values<type>(), offsets_,
                                             task_.a.col_indices, info_, &bytes),
            "size of the workspace of a factorisation");
    });
    workspace_.reserve(static_cast<std::size_t>(bytes));
    analyse();
  }
  ~Factorisation() override {
    if constexpr (!only_analysis) Functions::destroy(info_);
    cusparseDestroyMatDescr(descriptor_);
  }
  void run() override {
    if constexpr (only_analysis) {
      create();  // the old one stays until the end: cuSPARSE 12.6 frees twice where nothing was factored with it
      return analyse();
    }
    reset_values();
    with_type([&]<std::size_t type>() {
      check(std::get<type>(Functions::numerics)(handle(), rows_, nnz_, descriptor_, values<type>(), offsets_,
                                                task_.a.col_indices, info_, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                                                workspace_.get()),
            "factorisation");
    });
  }

 private:
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
  template <std::size_t type>
  auto* values() const {
    return static_cast<std::tuple_element_t<type, ScalarTypes>*>(output(task_.result.values));
  }
  void create() { check(Functions::create(&info_), "info of a factorisation"); }
  void analyse() {
    with_type([&]<std::size_t type>() {
      check(std::get<type>(Functions::analyses)(handle(), rows_, nnz_, descriptor_, values<type>(), offsets_,
                                                task_.a.col_indices, info_, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                                                workspace_.get()),
            "analysis of a factorisation");
    });
  }
  void reset_values() {
    cudaStream_t stream = nullptr;
    check(cusparseGetStream(handle(), &stream), "cusparseGetStream");
    std::size_t bytes = 0;
    with_type([&]<std::size_t type>() { bytes = sizeof(*values<type>()) * static_cast<std::size_t>(nnz_); });
    check(cudaMemcpyAsync(output(task_.result.values), task_.a.values, bytes, cudaMemcpyDeviceToDevice, stream),
          "cudaMemcpyAsync");
  }

  int rows_, nnz_;
  const int* offsets_;
  cusparseMatDescr_t descriptor_ = nullptr;
  typename Functions::Info info_ = nullptr;
  Workspace workspace_;
};

/// What cuSPARSE can be asked for.
struct Entry {
  std::string_view kernel;
  KrillRivalLayout layout;
  const char* algorithms;
  std::unique_ptr<Work> (*make)(const Session&, const KrillRivalTask&);
};

template <class W>
std::unique_ptr<Work> make(const Session& session, const KrillRivalTask& task) {
  return std::make_unique<W>(session, task);
}

constexpr Entry entries[] = {
    {"spmv", krill_rival_csr, "CSR_ALG1 CSR_ALG2", make<Spmv>},
    {"spmv", krill_rival_csc, "CSR_ALG1 CSR_ALG2", make<Spmv>},
    {"spmv", krill_rival_coo, "COO_ALG1 COO_ALG2", make<Spmv>},
    {"spmv", krill_rival_sell, "SELL_ALG1", make<Spmv>},
    {"spmv", krill_rival_bsr, "BSR_ALG1", make<Spmv>},
    {"triangular", krill_rival_csr, "SPSV_ALG_DEFAULT", make<Spsv<false>>},
    {"triangular_plan", krill_rival_csr, "SPSV_ALG_DEFAULT", make<Spsv<true>>},
    {"triangular_many", krill_rival_csr, "SPSM_ALG_DEFAULT", make<Spsm>},
    {"ilu0", krill_rival_csr, "csrilu02", make<Factorisation<Ilu0Functions, false>>},
    {"ilu0_analysis", krill_rival_csr, "csrilu02", make<Factorisation<Ilu0Functions, true>>},
    {"ic0", krill_rival_csr, "csric02", make<Factorisation<Ic0Functions, false>>},
    {"ic0_analysis", krill_rival_csr, "csric02", make<Factorisation<Ic0Functions, true>>},
    {"color", krill_rival_csr, "csrcolor", make<CsrColor>},
    {"csr2csc", krill_rival_csr, "CSR2CSC_ALG1", make<CsrToCsc>},
    {"csr2coo", krill_rival_csr, "Xcsr2coo", make<CsrToCoo>},
    {"coo2csr", krill_rival_coo, "Xcoo2csr", make<CooToCsr>},
    {"csr2bsr", krill_rival_csr, "csr2bsr", make<CsrToBsr>},
    {"csr2dense", krill_rival_csr, "SPARSETODENSE_ALG_DEFAULT", make<CsrToDense>},
    {"dense2csr", krill_rival_dense, "DENSETOSPARSE_ALG_DEFAULT", make<DenseToCsr>},
};

const Entry* find(std::string_view kernel, KrillRivalLayout layout) {
  const auto* const found = std::find_if(std::begin(entries), std::end(entries), [&](const Entry& entry) {
    return entry.kernel == kernel && entry.layout == layout;
  });
  return found == std::end(entries) ? nullptr : found;
}

/// Runs f, with what it throws as a message: no exception crosses the interface.
template <class F>
int guarded(char* message, std::size_t size, F&& f) {
  try {
    f();
    return 0;
  } catch (const std::exception& error) {
    std::strncpy(message, error.what(), size - 1);
    message[size - 1] = '\0';
    return 1;
  }
}

const char* algorithms(const char* kernel, KrillRivalLayout layout) {
  const Entry* entry = find(kernel, layout);
  return entry ? entry->algorithms : "";
}

int open(int device, CUstream_st* stream, void** session, char* message, std::size_t size) {
  return guarded(message, size, [&] { *session = new Session(device, stream); });
}

void close(void* session) { delete static_cast<Session*>(session); }

int prepare(void* session, const KrillRivalTask* task, void** run, char* message, std::size_t size) {
  return guarded(message, size, [&] {
    const Entry* entry = find(task->kernel, task->a.layout);
    if (!entry) throw std::runtime_error(fmt::format("cuSPARSE has no {} of this layout", task->kernel));
    *run = entry->make(*static_cast<Session*>(session), *task).release();
  });
}

int run(void* work, char* message, std::size_t size) {
  return guarded(message, size, [&] { static_cast<Work*>(work)->run(); });
}

void destroy(void* work) { delete static_cast<Work*>(work); }

}  // namespace

extern "C" __attribute__((visibility("default"))) const KrillRivalModule* krill_rival_module() {
  static const std::string name =
      fmt::format("cuSPARSE {}.{}.{}", CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH);
  static const KrillRivalModule module{
      krill_rival_interface, name.c_str(), algorithms, open, close, prepare, run, destroy};
  return &module;
}

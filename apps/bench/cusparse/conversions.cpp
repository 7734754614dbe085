// Conversions between storage formats.
#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {
namespace {

class CsrToCsc final : public CusparseWork {
 public:
  CsrToCsc(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task), nnz_(as_int(task.a.nnz, "cusparseCsr2cscEx2")) {
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

class CsrToCoo final : public CusparseWork {
 public:
  CsrToCoo(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task), nnz_(as_int(task.a.nnz, "cusparseXcsr2coo")) {}
  void run() override {
    check(cusparseXcsr2coo(handle(), int_offsets(task_.a, "cusparseXcsr2coo"), nnz_, static_cast<int>(task_.a.rows),
                           output(task_.result.row_indices), CUSPARSE_INDEX_BASE_ZERO),
          "cusparseXcsr2coo");
  }

 private:
  int nnz_;
};

class CooToCsr final : public CusparseWork {
 public:
  CooToCsr(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task), nnz_(as_int(task.a.nnz, "cusparseXcoo2csr")) {}
  void run() override {
    check(cusparseXcoo2csr(handle(), task_.a.row_indices, nnz_, static_cast<int>(task_.a.rows),
                           output(int_offsets(task_.result, "cusparseXcoo2csr")), CUSPARSE_INDEX_BASE_ZERO),
          "cusparseXcoo2csr");
  }

 private:
  int nnz_;
};

/// Both steps, the count of the blocks and the blocks; the result's arrays are large enough already.
class CsrToBsr final : public CusparseWork {
 public:
  CsrToBsr(const Session& session, const KrillRivalTask& task) : CusparseWork(session, task) {
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
class CsrToDense final : public CusparseWork {
 public:
  CsrToDense(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task), a_(task.a, task.scalar), dense_(task.result, task.scalar) {
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
class DenseToCsr final : public CusparseWork {
 public:
  DenseToCsr(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task), dense_(task.a, task.scalar), csr_(task.result, task.scalar) {
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

constexpr CusparseEntry entries[] = {
    {"csr2csc", krill_rival_csr, "CSR2CSC_ALG1", make_work<CsrToCsc>},
    {"csr2coo", krill_rival_csr, "Xcsr2coo", make_work<CsrToCoo>},
    {"coo2csr", krill_rival_coo, "Xcoo2csr", make_work<CooToCsr>},
    {"csr2bsr", krill_rival_csr, "csr2bsr", make_work<CsrToBsr>},
    {"csr2dense", krill_rival_csr, "SPARSETODENSE_ALG_DEFAULT", make_work<CsrToDense>},
    {"dense2csr", krill_rival_dense, "DENSETOSPARSE_ALG_DEFAULT", make_work<DenseToCsr>},
};

}  // namespace

std::span<const CusparseEntry> conversions() { return entries; }

}  // namespace krill::apps::bench::cusparse

// Products of a sparse matrix with a vector and with a dense matrix, and of dense ones at its places.
#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {
namespace {

class Spmv final : public CusparseWork {
 public:
  Spmv(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task),
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
#if CUSPARSE_VERSION >= 12600  // which comes with CUDA 13.0
    if (name == "BSR_ALG1") return CUSPARSE_SPMV_BSR_ALG1;
#endif
    return CUSPARSE_SPMV_ALG_DEFAULT;
  }
  const void* zero() const { return zero_.in(task_.scalar); }

  CusparseScalar zero_ = 0;
  cusparseSpMVAlg_t algorithm_;
  SparseDescriptor a_;
  VectorDescriptor x_, y_;
  Workspace workspace_;
};

/// Of a batch, too; there "as_one" is one product with all columns, where A is one matrix.
class Spmm final : public CusparseWork {
 public:
  Spmm(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task),
        algorithm_(algorithm_of(task.algorithm)),
        columns_(as_one() ? task.columns * task.a.batch : task.columns),
        a_(task.a, value_type()),
        b_(task.a.cols, columns_, task.x, value_type(), task.by_rows),
        c_(task.a.rows, columns_, task.y, value_type(), task.by_rows) {
    if (task.a.batch > 0 && !as_one()) {
      const auto count = static_cast<int>(task.a.batch);
      check(cusparseCsrSetStridedBatch(a_, count, task.a.offsets_stride, task.a.values_stride),
            "cusparseCsrSetStridedBatch");
      check(cusparseDnMatSetStridedBatch(b_, count, task.x_stride), "cusparseDnMatSetStridedBatch");
      check(cusparseDnMatSetStridedBatch(c_, count, task.a.rows * task.columns), "cusparseDnMatSetStridedBatch");
    }
    std::size_t bytes = 0;
    check(cusparseSpMM_bufferSize(handle(), op, op, one(), a_, b_, zero(), c_, type(), algorithm_, &bytes),
          "cusparseSpMM_bufferSize");
    workspace_.reserve(bytes);
    if (task.a.layout == krill_rival_csr)
      check(cusparseSpMM_preprocess(handle(), op, op, one(), a_, b_, zero(), c_, type(), algorithm_, workspace_.get()),
            "cusparseSpMM_preprocess");
  }
  void run() override {
    check(cusparseSpMM(handle(), op, op, one(), a_, b_, zero(), c_, type(), algorithm_, workspace_.get()),
          "cusparseSpMM");
  }

 private:
  static constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr auto one_product = CUSPARSE_SPMM_ALG_DEFAULT;
  static cusparseSpMMAlg_t algorithm_of(std::string_view name) {
    if (name == "CSR_ALG1") return CUSPARSE_SPMM_CSR_ALG1;
    if (name == "CSR_ALG2") return CUSPARSE_SPMM_CSR_ALG2;
    if (name == "CSR_ALG3") return CUSPARSE_SPMM_CSR_ALG3;
    if (name == "BLOCKED_ELL_ALG1") return CUSPARSE_SPMM_BLOCKED_ELL_ALG1;
    return one_product;
  }
  const void* zero() const { return zero_.in(task_.scalar); }
  bool as_one() const { return task_.a.batch > 0 && task_.a.values_stride == 0 && algorithm_ == one_product; }

  CusparseScalar zero_ = 0;
  cusparseSpMMAlg_t algorithm_;
  std::int64_t columns_;
  SparseDescriptor a_;
  DenseDescriptor b_, c_;
  Workspace workspace_;
};

/// C = (A B) at the places of C: x is A, row-major, y is B.
class Sddmm final : public CusparseWork {
 public:
  Sddmm(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task),
        c_(task.a, task.scalar),
        a_(task.a.rows, task.columns, task.x, task.scalar, true),
        b_(task.columns, task.a.cols, task.y, task.scalar, task.by_rows) {
    std::size_t bytes = 0;
    check(cusparseSDDMM_bufferSize(handle(), op, op, one(), a_, b_, zero(), c_, type(), algorithm, &bytes),
          "cusparseSDDMM_bufferSize");
    workspace_.reserve(bytes);
    check(cusparseSDDMM_preprocess(handle(), op, op, one(), a_, b_, zero(), c_, type(), algorithm, workspace_.get()),
          "cusparseSDDMM_preprocess");
  }
  void run() override {
    check(cusparseSDDMM(handle(), op, op, one(), a_, b_, zero(), c_, type(), algorithm, workspace_.get()),
          "cusparseSDDMM");
  }

 private:
  static constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr auto algorithm = CUSPARSE_SDDMM_ALG_DEFAULT;
  const void* zero() const { return zero_.in(task_.scalar); }

  CusparseScalar zero_ = 0;
  SparseDescriptor c_;
  DenseDescriptor a_, b_;
  Workspace workspace_;
};

constexpr CusparseEntry entries[] = {
    {"spmv", krill_rival_csr, "CSR_ALG1 CSR_ALG2", make_work<Spmv>},
    {"spmv", krill_rival_csc, "CSR_ALG1 CSR_ALG2", make_work<Spmv>},
    {"spmv", krill_rival_coo, "COO_ALG1 COO_ALG2", make_work<Spmv>},
    {"spmv", krill_rival_sell, "SELL_ALG1", make_work<Spmv>},
    {"spmv", krill_rival_bsr, "BSR_ALG1", make_work<Spmv>},
    {"spmm", krill_rival_csr, "CSR_ALG1 CSR_ALG2 CSR_ALG3", make_work<Spmm>},
    {"spmm", krill_rival_blocked_ell, "BLOCKED_ELL_ALG1", make_work<Spmm>},
    {"spmm_batch", krill_rival_csr, "CSR_ALG1 CSR_ALG2 as_one", make_work<Spmm>},
    {"sddmm", krill_rival_csr, "ALG_DEFAULT", make_work<Sddmm>},
};

}  // namespace

std::span<const CusparseEntry> products() { return entries; }

}  // namespace krill::apps::bench::cusparse

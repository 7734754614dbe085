// Products of a sparse matrix with a vector.
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

constexpr CusparseEntry entries[] = {
    {"spmv", krill_rival_csr, "CSR_ALG1 CSR_ALG2", make_work<Spmv>},
    {"spmv", krill_rival_csc, "CSR_ALG1 CSR_ALG2", make_work<Spmv>},
    {"spmv", krill_rival_coo, "COO_ALG1 COO_ALG2", make_work<Spmv>},
    {"spmv", krill_rival_sell, "SELL_ALG1", make_work<Spmv>},
    {"spmv", krill_rival_bsr, "BSR_ALG1", make_work<Spmv>},
};

}  // namespace

std::span<const CusparseEntry> products() { return entries; }

}  // namespace krill::apps::bench::cusparse

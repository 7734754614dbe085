// Solves with a triangle of a matrix.
#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {
namespace {

/// A solve; with `only_analysis`, what comes before the first one.
template <bool only_analysis>
class Spsv final : public CusparseWork {
 public:
  Spsv(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task),
        a_(task),
        b_(task.a.rows, task.x, task.scalar),
        x_(task.a.rows, task.y, task.scalar) {
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

class Spsm final : public CusparseWork {
 public:
  Spsm(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task),
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

constexpr CusparseEntry entries[] = {
    {"triangular", krill_rival_csr, "SPSV_ALG_DEFAULT", make_work<Spsv<false>>},
    {"triangular_plan", krill_rival_csr, "SPSV_ALG_DEFAULT", make_work<Spsv<true>>},
    {"triangular_many", krill_rival_csr, "SPSM_ALG_DEFAULT", make_work<Spsm>},
};

}  // namespace

std::span<const CusparseEntry> solves() { return entries; }

}  // namespace krill::apps::bench::cusparse

// Sparse vectors with dense ones, and dense matrices with sparse vectors.
#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {
namespace {

/// x, a sparse vector, and y.
class WithSparseVector : public CusparseWork {
 public:
  WithSparseVector(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task), y_(task.a.rows, task.y, task.scalar) {
    check(cusparseCreateSpVec(&x_, task.a.rows, task.a.nnz, output(task.a.col_indices), output(task.a.values),
                              CUSPARSE_INDEX_32I, CUSPARSE_INDEX_BASE_ZERO, type()),
          "cusparseCreateSpVec");
  }
  ~WithSparseVector() override { cusparseDestroySpVec(x_); }

 protected:
  const void* zero() const { return zero_.in(task_.scalar); }

  CusparseScalar zero_ = 0;
  cusparseSpVecDescr_t x_ = nullptr;
  VectorDescriptor y_;
};

class AxpbyCall final : public WithSparseVector {
 public:
  using WithSparseVector::WithSparseVector;
  void run() override { check(cusparseAxpby(handle(), one(), x_, one(), y_), "cusparseAxpby"); }
};

class GatherCall final : public WithSparseVector {
 public:
  using WithSparseVector::WithSparseVector;
  void run() override { check(cusparseGather(handle(), y_, x_), "cusparseGather"); }
};

class ScatterCall final : public WithSparseVector {
 public:
  using WithSparseVector::WithSparseVector;
  void run() override { check(cusparseScatter(handle(), x_, y_), "cusparseScatter"); }
};

class RotateCall final : public WithSparseVector {
 public:
  using WithSparseVector::WithSparseVector;
  void run() override { check(cusparseRot(handle(), zero(), one(), x_, y_), "cusparseRot"); }
};

/// The result stays on the device, as Krill's does.
class DotCall final : public WithSparseVector {
 public:
  DotCall(const Session& session, const KrillRivalTask& task) : WithSparseVector(session, task) {
    std::size_t bytes = 0;
    check(cusparseSpVV_bufferSize(handle(), op, x_, y_, result(), type(), &bytes), "cusparseSpVV_bufferSize");
    workspace_.reserve(bytes);
  }
  void run() override {
    check(cusparseSetPointerMode(handle(), CUSPARSE_POINTER_MODE_DEVICE), "cusparseSetPointerMode");
    const auto status = cusparseSpVV(handle(), op, x_, y_, result(), type(), workspace_.get());
    check(cusparseSetPointerMode(handle(), CUSPARSE_POINTER_MODE_HOST), "cusparseSetPointerMode");
    check(status, "cusparseSpVV");
  }

 private:
  static constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  void* result() const { return output(task_.result.values); }

  Workspace workspace_;
};

/// D x for a dense matrix without padding, column by column.
class Gemvi final : public CusparseWork {
 public:
  Gemvi(const Session& session, const KrillRivalTask& task) : CusparseWork(session, task) {
    with_functions([&](auto bytes_of, auto) {
      int bytes = 0;
      check(bytes_of(&bytes), "cusparseXgemvi_bufferSize");
      workspace_.reserve(static_cast<std::size_t>(bytes));
    });
  }
  void run() override {
    with_functions([&](auto, auto multiply) { check(multiply(), "cusparseXgemvi"); });
  }

 private:
  /// f(function for the size of the workspace, function for the product)
  template <class F>
  void with_functions(F&& f) {
    switch (task_.scalar) {
      case krill_rival_float32:
        return with<float>(cusparseSgemvi_bufferSize, cusparseSgemvi, f);
      case krill_rival_float64:
        return with<double>(cusparseDgemvi_bufferSize, cusparseDgemvi, f);
      case krill_rival_complex64:
        return with<cuComplex>(cusparseCgemvi_bufferSize, cusparseCgemvi, f);
      case krill_rival_complex128:
        return with<cuDoubleComplex>(cusparseZgemvi_bufferSize, cusparseZgemvi, f);
    }
  }
  template <class T, class Size, class Multiply, class F>
  void with(Size size, Multiply multiply, F&& f) {
    const KrillRivalMatrix &x = task_.a, &d = task_.b;
    const int rows = as_int(d.rows, "gemvi"), cols = as_int(d.cols, "gemvi"), nnz = as_int(x.nnz, "gemvi");
    f([&](int* bytes) { return size(handle(), op, rows, cols, nnz, bytes); },
      [&] {
        return multiply(handle(), op, rows, cols, static_cast<const T*>(one()), static_cast<const T*>(d.values), rows,
                        nnz, static_cast<const T*>(x.values), x.col_indices,
                        static_cast<const T*>(zero_.in(task_.scalar)), static_cast<T*>(output(task_.result.values)),
                        CUSPARSE_INDEX_BASE_ZERO, workspace_.get());
      });
  }
  static constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;

  CusparseScalar zero_ = 0;
  Workspace workspace_;
};

constexpr CusparseEntry entries[] = {
    {"axpby", krill_rival_vector, "Axpby", make_work<AxpbyCall>},
    {"gather", krill_rival_vector, "Gather", make_work<GatherCall>},
    {"scatter", krill_rival_vector, "Scatter", make_work<ScatterCall>},
    {"rotate", krill_rival_vector, "Rot", make_work<RotateCall>},
    {"dot", krill_rival_vector, "SpVV", make_work<DotCall>},
    {"gemvi", krill_rival_vector, "gemvi", make_work<Gemvi>},
};

}  // namespace

std::span<const CusparseEntry> sparse_vectors() { return entries; }

}  // namespace krill::apps::bench::cusparse

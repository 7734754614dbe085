// Tall, narrow dense matrices and small square ones, by cuBLAS.
#include "apps/bench/cusparse/blas.hpp"

namespace krill::apps::bench::cusparse {
namespace {

enum class BasisTask { dots, update, product };

/// By gemv, a call for each vector, or by gemm.
template <BasisTask task>
class BasisWork final : public CusparseWork {
 public:
  BasisWork(const Session& session, const KrillRivalTask& given)
      : CusparseWork(session, given), by_gemm_(std::string_view(given.algorithm) == "gemm") {
    session.blas();
  }
  void run() override {
    with_type([&]<std::size_t type>() {
      using T = typename Blas<type>::T;
      const KrillRivalMatrix& V = task_.a;
      const Blas<type> blas(session_, V.rows);
      const auto *values = static_cast<const T*>(V.values), *x = static_cast<const T*>(task_.x);
      auto* y = static_cast<T*>(task_.y);
      const int columns = as_int(V.cols, "cuBLAS");
      constexpr bool adjoint = task == BasisTask::dots;
      constexpr double factor = task == BasisTask::update ? -1 : 1, kept = task == BasisTask::update ? 1 : 0;
      if (by_gemm_)
        return blas.multiply_basis(adjoint, factor, values, V.values_stride, columns, task_.columns, x, kept, y);
      for (std::int64_t k = 0; k < task_.columns; ++k)
        blas.multiply_basis(adjoint, factor, values, V.values_stride, columns, x + k * (adjoint ? V.rows : V.cols),
                            kept, y + k * (adjoint ? V.cols : V.rows));
    });
  }

 private:
  bool by_gemm_;
};

/// Dots of the columns of two bases, as products of matrices of one column each.
class ColumnDots final : public CusparseWork {
 public:
  ColumnDots(const Session& session, const KrillRivalTask& task) : CusparseWork(session, task) { session.blas(); }
  void run() override {
    with_type([&]<std::size_t type>() {
      using T = typename Blas<type>::T;
      const KrillRivalMatrix& V = task_.a;
      Blas<type>(session_, V.rows)
          .column_dots(static_cast<const T*>(V.values), V.values_stride, as_int(V.cols, "cuBLAS"),
                       static_cast<const T*>(task_.x), V.rows, static_cast<T*>(task_.y));
    });
  }
};

constexpr CusparseEntry entries[] = {
    {"basis_dots", krill_rival_basis, "gemv gemm", make_work<BasisWork<BasisTask::dots>>},
    {"basis_update", krill_rival_basis, "gemv gemm", make_work<BasisWork<BasisTask::update>>},
    {"column_dots", krill_rival_basis, "gemvStridedBatched", make_work<ColumnDots>},
    {"dense_product", krill_rival_basis, "gemv gemm", make_work<BasisWork<BasisTask::product>>},
};

}  // namespace

std::span<const CusparseEntry> bases() { return entries; }

}  // namespace krill::apps::bench::cusparse

// What a multigrid method keeps of a level.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "solvers/multigrid/dense_inverse.hpp"
#include "solvers/multigrid/multigrid_passes.hpp"
#include "solvers/multigrid/smoother.hpp"
#include "solvers/multigrid/transfer.hpp"
#include "solvers/preconditioner.hpp"
#include "solvers/spectrum.hpp"

namespace krill {

template <class T>
struct MultigridLevel {
  std::unique_ptr<AnyMatrix<T>> A;  ///< of all but the finest, which is the caller's
  std::unique_ptr<MatrixOperator<T>> own_products;
  const Operator<T>* products = nullptr;
  Work product_work;  ///< of one by own_products, its vectors apart
  std::unique_ptr<Smoother<T>> smoother;
  PolynomialSmoother<T>* polynomial = nullptr;  ///< the smoother, where it is one
  Array<real_t<T>> inverse;                     ///< of the diagonal, where it is none
  std::optional<DenseInverse<T>> dense;
  Array<T> kernel;  ///< of the last level: what it may map to nothing; empty: not known
  std::unique_ptr<Transfer<T>> transfer;
  /// New values of the next level from those of this one.
  std::function<void(Context&, const AnyMatrix<T>& fine, AnyMatrix<T>& coarse)> recompute;
  std::size_t remaking_bytes = 0;  ///< that `recompute` keeps
  /// What the report is still to be told, on the backend's side.
  Array<detail::AggregateSizes> aggregate_sizes;
  Array<std::int64_t> dead_columns;
  LevelReport report;
  bool definite = false, chebyshev = false;  ///< as far as the diagonal tells; what smooths
  /// What the smoother was made of, on the backend's side.
  Array<detail::DiagonalFacts> facts{1, "facts of the diagonal"};
  Array<double> max_eigenvalue{1, "largest eigenvalue"};
  /// What estimates it, where new values may come.
  struct Lanczos {
    static constexpr double early_margin = 1.15;
    Lanczos(std::int64_t n, int steps) : process(n, steps, early_margin), d(n, "lanczos d"), w(n, "lanczos w") {}
    LanczosProcess<T> process;
    Array<T> d, w;
  };
  std::optional<Lanczos> lanczos;
  detail::DiagonalFacts diagonal;  ///< `facts`, as they were last looked at
  detail::DenseFacts dense_facts;  ///< of `dense`, the same
  Array<T> b, x;                   ///< of all but the finest

  struct KrylovVectors {
    explicit KrylovVectors(std::int64_t n)
        : c1(n, "cycle c1"), v1(n, "cycle v1"), c2(n, "cycle c2"), v2(n, "cycle v2"), r(n, "cycle r") {}
    Array<T> c1, v1, c2, v2, r;
    Array<wide_t<T>> s1_v1{1}, s1_b{1}, s1_v2{1}, s2_v2{1}, s2_r{1};
  };
  std::optional<KrylovVectors> krylov;
};

/// From the finest to the coarsest.
template <class T>
using MultigridLevels = std::vector<std::unique_ptr<MultigridLevel<T>>>;

}  // namespace krill

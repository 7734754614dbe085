// Bases of Krylov methods and small dense matrices; no matrix is given.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "apps/bench/job.hpp"
#include "solvers/basis.hpp"
#include "solvers/multigrid/dense_inverse.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/vector/column_dots.hpp"

namespace krill::apps::bench {
namespace {

using krill::detail::BasisDots;
using krill::detail::BasisUpdate;
using krill::detail::BasisView;

template <class T>
Array<T> filled(std::int64_t size, const char* name, const auto& value) {
  Array<T> made(size, name);
  for (std::int64_t i = 0; T & entry : made.edit()) entry = T(value(i++));
  return made;
}

/// Vectors of ones, so that sums are whole numbers.
template <class T>
struct BasisOperands {
  using K = kernel_t<T>;
  std::int64_t rows;
  int columns;
  Basis<T> V;
  Array<std::int32_t> none{0};                    ///< what `columns` of a kernel counts from
  Array<T> pair, sums, factors, y;                ///< u and then w; V^H [u w]; c; w - V c
  Array<wide_t<T>> with_u, with_w, wide_factors;  ///< the same as our kernels have them
  StackedVectors<T> stacked{};

  BasisOperands(Context& ctx, std::int64_t rows_, int columns_)
      : rows(rows_),
        columns(columns_),
        V(rows, columns, BasisPrecision::float64, "basis"),
        pair(filled<T>(2 * rows, "u and w", [this](std::int64_t i) { return i < rows ? 1 : 2; })),
        sums(2 * std::int64_t{columns}, "sums"),
        factors(filled<T>(columns, "factors", sign)),
        y(filled<T>(rows, "y", [](std::int64_t) { return 3; })),
        with_u(columns, "V^H u"),
        with_w(columns, "V^H w"),
        wide_factors(filled<wide_t<T>>(columns, "factors", sign)) {
    Array<T> left(rows, "left");
    ctx.dispatch([&](const auto& where) {
      V.view(where, [&]<class S>(const BasisView<S>& view) {
        for (int k = 0; k < columns; ++k)  // each as the vector after none
          run_update<K, S>(where, {.basis = {view.vector(k), view.rows, view.stride},
                                   .columns = none.read(where),
                                   .extra = 0,
                                   .capacity = 1,
                                   .u = pair.read(where),
                                   .a = nullptr,
                                   .w = nullptr,
                                   .c = nullptr,
                                   .out = left.write(where),
                                   .factors = nullptr,
                                   .then = {}});
        if constexpr (std::is_same_v<S, K>)
          stacked = {rows, columns, view.stride, reinterpret_cast<const T*>(view.values)};
      });
    });
    ctx.synchronize();
  }
  BasisOperands(const BasisOperands&) = delete;
  BasisOperands& operator=(const BasisOperands&) = delete;
  static int sign(std::int64_t k) { return k % 2 == 0 ? 1 : -1; }

  void dots(Context& ctx) {
    ctx.dispatch([&](const auto& where) {
      V.view(where, [&]<class S>(const BasisView<S>& view) {
        const K* const u = pair.read(where);
        run_dots<K, S>(where, {{view.values, view.rows, view.stride},
                               none.read(where),
                               columns,
                               columns,
                               u,
                               u + rows,
                               with_u.write(where),
                               with_w.write(where),
                               {}});
      });
    });
  }
  void update(Context& ctx) {
    ctx.dispatch([&](const auto& where) {
      V.view(where, [&]<class S>(const BasisView<S>& view) {
        K* const w = y.update(where);
        run_update<K, S>(
            where,
            {view, none.read(where), columns, columns, nullptr, nullptr, w, wide_factors.read(where), w, nullptr, {}});
      });
    });
  }
  /// Of ours, or of a rival's, whichever has been left there; clears both.
  std::string wrong_dots() {
    const auto ours_u = with_u.edit(), ours_w = with_w.edit();
    const auto theirs = sums.edit();
    const auto n = static_cast<double>(rows);
    const auto count = static_cast<std::size_t>(columns);
    bool ours = true, others = true;
    for (std::size_t k = 0; k < count; ++k) {
      ours = ours && ours_u[k] == wide_t<T>(n) && ours_w[k] == wide_t<T>(2 * n);
      others = others && theirs[k] == static_cast<T>(static_cast<real_t<T>>(n)) &&
               theirs[count + k] == static_cast<T>(static_cast<real_t<T>>(2 * n));
    }
    std::ranges::fill(ours_u, wide_t<T>{}), std::ranges::fill(ours_w, wide_t<T>{}), std::ranges::fill(theirs, T{});
    return ours || others ? "" : "wrong result";
  }
  /// Factors cancel, so y is as before. That something was done is not seen here.
  std::string wrong_update() const {
    return std::ranges::all_of(y.host(), [](const T& entry) { return entry == T(3); }) ? "" : "wrong result";
  }
};

template <class T>
Row row_of(const BenchSubject<T>& s, std::string name, std::string_view variant, std::int64_t rows) {
  Row row;
  row.kernel = "basis", row.matrix = std::move(name), row.precision = s.precision, row.variant = variant;
  row.rows = rows;
  return row;
}

template <class T>
void measure_basis(const BenchSubject<T>& s, std::int64_t rows, int columns, bool dots) {
  Row row = row_of(s, fmt::format("{} vectors of {} rows", columns, rows), dots ? "V^H [u w]" : "w - V c", rows);
  measure_job<T>(s, row, [&](std::size_t) {
    auto operands = std::make_shared<BasisOperands<T>>(s.ctx, rows, columns);
    auto* const o = operands.get();
    const double n = static_cast<double>(rows), k = columns;
    Job<T> job;
    job.bytes = (k * n + 2 * n) * sizeof(T), job.flops = multiply_add<T> * k * n * (dots ? 2 : 1);
    job.task.stacked = &o->stacked;
    if (dots) {
      job.run = [&ctx = s.ctx, o] { o->dots(ctx); };
      job.task.kernel = "basis_dots", job.task.x = &o->pair, job.task.y = &o->sums, job.task.columns = 2;
      job.fault = [o] { return o->wrong_dots(); };
    } else {
      job.run = [&ctx = s.ctx, o] { o->update(ctx); };
      job.task.kernel = "basis_update", job.task.x = &o->factors, job.task.y = &o->y;
      job.fault = [o] { return o->wrong_update(); };
    }
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

/// The dots of the columns of X, twos, and Y, threes.
template <class T>
void measure_column_dots(const BenchSubject<T>& s, std::int64_t rows, std::int32_t columns, Order order) {
  struct Operands {
    Dense<T> X, Y;
    Array<wide_t<T>> ours;
    Array<T> theirs;
    StackedVectors<T> stacked{};
  };
  const bool by_rows = order == Order::row_major;
  Row row =
      row_of(s, fmt::format("{} columns of {} rows{}", columns, rows, by_rows ? ", row-major" : ""), "x_j^H y_j", rows);
  measure_job<T>(s, row, [&](std::size_t) {
    const std::int64_t size = rows * columns;
    const auto all = [&](const char* name, int value) {
      return Dense<T>(rows, columns, filled<T>(size, name, [value](std::int64_t) { return value; }), order);
    };
    auto operands = std::make_shared<Operands>(
        Operands{all("X", 2), all("Y", 3), Array<wide_t<T>>(columns, "dots"), Array<T>(columns, "dots")});
    auto* const o = operands.get();
    s.ctx.dispatch([&](const auto& where) {
      o->stacked = {rows, columns, rows, reinterpret_cast<const T*>(o->X.values().read(where))};
    });
    Job<T> job;
    job.bytes = 2 * static_cast<double>(size) * sizeof(T), job.flops = multiply_add<T> * static_cast<double>(size);
    job.run = [&ctx = s.ctx, o] { column_dots(ctx, o->X, o->Y, o->ours); };
    if (!by_rows)
      job.task.kernel = "column_dots", job.task.stacked = &o->stacked, job.task.x = &o->Y.values(),
      job.task.y = &o->theirs;
    job.fault = [o, rows] {
      const auto ours = o->ours.edit();
      const auto theirs = o->theirs.edit();
      const auto expected = 6 * static_cast<double>(rows);
      const bool right =
          std::ranges::all_of(ours, [&](const auto& dot) { return dot == wide_t<T>(expected); }) ||
          std::ranges::all_of(theirs, [&](const T& dot) { return dot == T(static_cast<real_t<T>>(expected)); });
      std::ranges::fill(ours, wide_t<T>{}), std::ranges::fill(theirs, T{});
      return std::string(right ? "" : "wrong result");
    };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

/// y = D x with D of ones.
template <class T>
void measure_dense(const BenchSubject<T>& s, std::int32_t n) {
  struct Operands {
    Array<T> D, x, y;
    StackedVectors<T> stacked{};
  };
  Row row = row_of(s, fmt::format("dense {0} x {0}", n), "D x", n);
  measure_job<T>(s, row, [&](std::size_t) {
    const auto one = [](std::int64_t) { return 1; };
    auto operands = std::make_shared<Operands>(
        Operands{filled<T>(std::int64_t{n} * n, "D", one), filled<T>(n, "x", one), Array<T>(n, "y")});
    auto* const o = operands.get();
    s.ctx.dispatch([&](const auto& where) { o->stacked = {n, n, n, reinterpret_cast<const T*>(o->D.read(where))}; });
    Job<T> job;
    const double size = n;
    job.bytes = (size * size + 2 * size) * sizeof(T), job.flops = multiply_add<T> * size * size;
    job.run = [&ctx = s.ctx, o, n] {
      ctx.dispatch([&](const auto& where) {
        krill::detail::dense_product(where, n, o->D.read(where), o->x.read(where), o->y.write(where));
      });
    };
    job.task.kernel = "dense_product", job.task.stacked = &o->stacked, job.task.x = &o->x, job.task.y = &o->y;
    job.fault = [o, n] {
      const auto found = o->y.edit();
      const bool right =
          std::ranges::all_of(found, [&](const T& entry) { return entry == T(static_cast<real_t<T>>(n)); });
      std::ranges::fill(found, T{});
      return std::string(right ? "" : "wrong result");
    };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

}  // namespace

template <class T>
void bench_basis(const BenchSubject<T>& s) {
  const bool cuda = s.ctx.on_cuda();
  const std::int64_t rows = cuda ? 1 << 20 : 1 << 16;
  for (const int columns : {10, 30, 100, 1000})
    for (const bool dots : {true, false})
      if (cuda || columns <= 100) measure_basis(s, rows, columns, dots);
  for (const Order order : {Order::column_major, Order::row_major}) measure_column_dots(s, rows, 8, order);
  for (const std::int32_t n : {64, 256, 1024}) measure_dense(s, n);
}

template <class T>
struct BasisBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_basis);
};
KRILL_INSTANTIATE(BasisBenchInstances);

}  // namespace krill::apps::bench

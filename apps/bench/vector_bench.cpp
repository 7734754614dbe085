// Sparse vectors with dense ones, and dense matrices with sparse vectors; no matrix is given.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "apps/bench/job.hpp"
#include "apps/system/linear_system.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/vector/gemvi.hpp"
#include "sparse/vector/sparse_dense.hpp"
#include "sparse/vector/work.hpp"

namespace krill::apps::bench {
namespace {

/// Operands of all operations. Values are whole numbers from 1 to 8, so that sums are exact and repeated calls can be
/// judged.
template <class T>
struct VectorOperands {
  SparseVector<T> x;
  Array<T> y;
  Array<T> result{1, "result"};

  VectorOperands(std::int32_t size, std::int32_t every)
      : x(size, indices_of(size, every), whole_numbers(size / every, 3)), y(whole_numbers(size, 5)) {}

  static Array<T> whole_numbers(std::int64_t count, std::int64_t step) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (std::size_t k = 0; k < values.size(); ++k)
      values[k] = static_cast<T>(static_cast<real_t<T>>(1 + static_cast<std::int64_t>(k) * step % 8));
    return Array<T>(std::move(values));
  }
  /// One of every so many, at changing places among them.
  static Array<std::int32_t> indices_of(std::int32_t size, std::int32_t every) {
    std::vector<std::int32_t> indices(static_cast<std::size_t>(size / every));
    for (std::size_t k = 0; k < indices.size(); ++k)
      indices[k] =
          static_cast<std::int32_t>(k) * every + static_cast<std::int32_t>(k * 7919 % static_cast<std::size_t>(every));
    return Array<std::int32_t>(std::move(indices));
  }
  T first_x(std::int64_t k) const { return static_cast<T>(static_cast<real_t<T>>(1 + k * 3 % 8)); }
  T first_y(std::int64_t i) const { return static_cast<T>(static_cast<real_t<T>>(1 + i * 5 % 8)); }

  /// "" where holds(x_k, y_i, k, i) for all entries of x.
  template <class Holds>
  std::string judged(Holds&& holds) const {
    const auto indices = x.indices().host();
    const auto xs = x.values().host(), ys = y.host();
    for (std::size_t k = 0; k < indices.size(); ++k)
      if (!holds(xs[k], ys[static_cast<std::size_t>(indices[k])], static_cast<std::int64_t>(k), indices[k]))
        return fmt::format("wrong result: entry {}", k);
    return {};
  }
};

/// A line of the table.
template <class T>
struct VectorOperation {
  const char* kernel;
  int values, multiply_adds;  ///< of an entry
  std::function<void(Context&, VectorOperands<T>&)> run;
  std::function<std::string(VectorOperands<T>&)> fault;
};

template <class T>
std::vector<VectorOperation<T>> vector_operations() {
  using O = VectorOperands<T>;
  return {{"axpby", 3, 1, [](Context& ctx, O& o) { axpby(ctx, T(1), o.x, T(1), o.y); },
           // y = y_0 + m x after m calls
           [](O& o) {
             std::optional<T> calls;
             return o.judged([&](T x, T y, std::int64_t, std::int64_t i) {
               const T m = (y - o.first_y(i)) / x;
               if (!calls) calls = m;
               return m == *calls && std::abs(m) >= 1;
             });
           }},
          {"gather", 2, 0, [](Context& ctx, O& o) { gather(ctx, o.y, o.x); },
           [](O& o) { return o.judged([](T x, T y, std::int64_t, std::int64_t) { return x == y; }); }},
          {"scatter", 2, 0, [](Context& ctx, O& o) { scatter(ctx, o.x, o.y); },
           [](O& o) { return o.judged([](T x, T y, std::int64_t, std::int64_t) { return x == y; }); }},
          {"rotate", 4, 2, [](Context& ctx, O& o) { rotate(ctx, o.x, o.y, T(0), T(1)); },
           // x, y = y, -x: after four calls all is as before
           [](O& o) {
             return o.judged([&](T x, T y, std::int64_t k, std::int64_t i) {
               const T a = o.first_x(k), b = o.first_y(i);
               return (x == a && y == b) || (x == b && y == -a) || (x == -a && y == -b) || (x == -b && y == a);
             });
           }},
          {"dot", 2, 1,
           [](Context& ctx, O& o) {
             if constexpr (std::is_same_v<wide_t<T>, T>) dot(ctx, o.x, o.y, o.result, Op::none);
           },
           [](O& o) {
             T sum{};
             static_cast<void>(o.judged([&](T x, T y, std::int64_t, std::int64_t) { return sum += x * y, true; }));
             const bool right = sum == o.result.host()[0];
             o.result.edit()[0] = T{};
             return right ? std::string() : std::string("wrong result");
           }}};
}

template <class T>
Row row_of(const BenchSubject<T>& s, std::string name, std::string_view variant, std::int64_t rows, std::int64_t nnz) {
  Row row;
  row.kernel = "vector", row.matrix = std::move(name), row.precision = s.precision, row.variant = variant;
  row.rows = rows, row.nnz = nnz;
  return row;
}

template <class T>
void measure_operation(const BenchSubject<T>& s, const VectorOperation<T>& operation, std::int32_t size,
                       std::int32_t every) {
  Row row = row_of(s, fmt::format("{} entries, one of {}", size, every), operation.kernel, size, size / every);
  measure_job<T>(s, row, [&](std::size_t) {
    auto operands = std::make_shared<VectorOperands<T>>(size, every);
    auto* const o = operands.get();
    Job<T> job;
    const Work work = sparse_vector_work(o->x, operation.values, operation.multiply_adds);
    job.bytes = work.bytes, job.flops = work.flops;
    job.run = [&ctx = s.ctx, o, run = operation.run] { run(ctx, *o); };
    job.task = {.kernel = operation.kernel, .vector = &o->x, .y = &o->y, .values = &o->result};
    job.fault = [o, fault = operation.fault] { return fault(*o); };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

/// A dense matrix times a sparse vector.
template <class T>
struct GemviOperands {
  VectorOperands<T> v;
  Dense<T> D;
  Array<T> y;

  GemviOperands(std::int32_t size, std::int32_t every)
      : v(size, every), D(size, size, VectorOperands<T>::whole_numbers(std::int64_t{size} * size, 7)), y(size, "y") {}

  /// All terms are whole numbers, and so is their sum.
  std::string fault() {
    const auto d = D.host();
    const auto indices = v.x.indices().host();
    const auto xs = v.x.values().host();
    const auto ys = y.edit();
    const std::int32_t step = std::max(1, D.rows() / 100);
    std::string found;
    for (std::int32_t i = 0; i < D.rows() && found.empty(); i += step) {
      T sum{};
      for (std::size_t k = 0; k < xs.size(); ++k) sum += d.at(i, indices[k]) * xs[k];
      if (sum != ys[static_cast<std::size_t>(i)]) found = fmt::format("wrong result: entry {}", i);
    }
    std::ranges::fill(ys, T{});
    return found;
  }
};

template <class T>
void measure_gemvi(const BenchSubject<T>& s, std::int32_t size, std::int32_t every) {
  Row row = row_of(s, fmt::format("{0} x {0}, one of {1}", size, every), "gemvi", size, size / every);
  measure_job<T>(s, row, [&](std::size_t) {
    auto operands = std::make_shared<GemviOperands<T>>(size, every);
    auto* const o = operands.get();
    Job<T> job;
    const Work work = gemvi_work(size, o->v.x);
    job.bytes = work.bytes, job.flops = work.flops;
    job.run = [&ctx = s.ctx, o] { gemvi(ctx, Op::none, T(1), o->D, o->v.x, T(0), o->y); };
    job.task = {.kernel = "gemvi", .vector = &o->v.x, .D = &o->D, .y = &o->v.y, .values = &o->y};
    job.fault = [o] { return o->fault(); };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

}  // namespace

template <class T>
void bench_vector(const BenchSubject<T>& s) {
  const std::int32_t size = s.ctx.on_cuda() ? 1 << 24 : 1 << 20, lines = s.ctx.on_cuda() ? 8192 : 1024;
  for (const std::int32_t every : {100, 10}) {
    for (const VectorOperation<T>& operation : vector_operations<T>())
      if (std::is_same_v<wide_t<T>, T> || std::string_view(operation.kernel) != "dot")
        measure_operation(s, operation, size, every);
    measure_gemvi(s, lines, every);
  }
}

template <class T>
struct VectorBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_vector);
};
KRILL_INSTANTIATE(VectorBenchInstances);

}  // namespace krill::apps::bench

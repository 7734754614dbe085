// Coloring the graph of a matrix.
#include <fmt/format.h>

#include <algorithm>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/order/coloring.hpp"
#include "sparse/order/work.hpp"

namespace krill::apps::bench {
namespace {

/// What a coloring reads and writes.
template <class T, class Offset>
struct Operands {
  std::shared_ptr<const AnyMatrix<T>> source;
  Array<std::int32_t> colors;

  Operands(const BenchSubject<T>& s, std::size_t copy) : source(source_copy(s, copy)), colors(rows(*s.A), "colors") {
    forget();
  }

  const Csr<T, Offset>& matrix() const { return std::get<Csr<T, Offset>>(*source); }
  std::int64_t count() const {
    const auto found = colors.host();
    return found.empty() ? 0 : 1 + *std::max_element(found.begin(), found.end());
  }
  /// Rows that meet have different colors. Whoever comes next finds none.
  std::string fault() {
    const auto found = colors.host();
    const auto offsets = matrix().row_offsets().host();
    std::string text;
    for (std::int32_t i = 0; i < matrix().rows() && text.empty(); ++i) {
      const auto row = static_cast<std::size_t>(i);
      if (found[row] < 0) text = fmt::format("wrong result: row {} has no color", i);
      for (auto k = static_cast<std::size_t>(offsets[row]); k < static_cast<std::size_t>(offsets[row + 1]); ++k) {
        const std::int32_t col = matrix().col_indices().host()[k];
        if (col != i && found[static_cast<std::size_t>(col)] == found[row])
          text = fmt::format("wrong result: rows {} and {}, which meet, have the color {}", i, col, found[row]);
      }
    }
    forget();
    return text;
  }

 private:
  void forget() { std::ranges::fill(colors.edit(), -1); }
};

template <class T, class Offset>
Job<T> make_job(const BenchSubject<T>& s, std::size_t copy) {
  auto operands = std::make_shared<Operands<T, Offset>>(s, copy);
  auto* const o = operands.get();
  Job<T> job;
  job.bytes = color_bytes<Offset>(rows(*s.A), nnz(*s.A));
  job.task = {.kernel = "color", .A = o->source.get()};
  job.task.indices = &o->colors;
  job.run = [&ctx = s.ctx, o] { o->colors = color(ctx, o->matrix()).colors; };
  job.colors = [o] { return o->count(); };
  job.fault = [o] { return o->fault(); };
  job.keeps = std::move(operands);
  return job;
}

}  // namespace

template <class T>
void bench_color(const BenchSubject<T>& s) {
  Row row = s.row("color", "greedy");
  if (rows(*s.A) != cols(*s.A)) {
    row.error = "the matrix is not square";
  } else {
    measure_job<T>(s, row, [&](std::size_t copy) {
      return with_csr(*s.A, [&]<class Offset>(const Csr<T, Offset>&) { return make_job<T, Offset>(s, copy); });
    });
  }
  s.report(row);
}

template <class T>
struct ColorBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_color);
};
KRILL_INSTANTIATE(ColorBenchInstances);

}  // namespace krill::apps::bench

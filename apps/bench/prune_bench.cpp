// The larger half of the entries of a matrix in CSR whose values are random.
#include <fmt/format.h>

#include <cmath>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "apps/system/linear_system.hpp"
#include "sparse/convert/prune.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::bench {
namespace {

constexpr double kept_above = 0.5, dropped_percent = 50;

template <class T>
struct PruneOperands {
  std::shared_ptr<const AnyMatrix<T>> A;
  bool by_percentage;
  std::optional<Csr<T>> C;
  // the rival's C
  Array<std::int32_t> offsets, columns;
  Array<T> values;

  PruneOperands(const BenchSubject<T>& s, std::size_t copy, bool by_percentage)
      : A(with_random_values(source_copy(s, copy))), by_percentage(by_percentage) {
    run(s.ctx);
    offsets = Array<std::int32_t>(std::vector<std::int32_t>(C->row_offsets().host().size()));
    columns = Array<std::int32_t>(C->nnz());
    values = Array<T>(C->nnz());
  }
  const Csr<T>& a() const { return std::get<Csr<T>>(*A); }

  void run(Context& ctx) {
    C.reset();
    C = by_percentage ? prune_percentage(ctx, a(), dropped_percent) : prune(ctx, a(), kept_above);
  }

  /// Of Krill's C, the first time; then of the rival's.
  std::string fault() {
    std::string found;
    if (C) {
      found = wrong_entry(C->row_offsets().host(), C->col_indices().host(), C->values().host());
      C.reset();
    } else {
      found = wrong_entry(offsets.host(), columns.host(), values.host());
      std::ranges::fill(offsets.edit(), 0);
    }
    return found;
  }

 private:
  static std::shared_ptr<const AnyMatrix<T>> with_random_values(const std::shared_ptr<const AnyMatrix<T>>& source) {
    Csr<T> matrix = std::get<Csr<T>>(*source).clone();
    matrix.values() = Array<T>(random_vector<T>(matrix.nnz(), 1, RandomPurpose::known_solution));
    return std::make_shared<const AnyMatrix<T>>(std::move(matrix));
  }
  /// Entry by entry: by a threshold all that are larger, by percentage as many as are left.
  std::string wrong_entry(std::span<const std::int32_t> c_offsets, std::span<const std::int32_t> c_columns,
                          std::span<const T> c_values) const {
    const auto a_offsets = a().row_offsets().host(), a_columns = a().col_indices().host();
    const auto a_values = a().values().host();
    const auto left = static_cast<double>(c_values.size()) / static_cast<double>(a_values.size());
    if (by_percentage && std::abs(left - (1 - dropped_percent / 100)) > 1e-6)
      return fmt::format("wrong result: {} of {} entries are left", c_values.size(), a_values.size());
    double threshold = kept_above;
    if (by_percentage) {
      threshold = HUGE_VAL;  // the least of what was kept
      for (const T& value : c_values) threshold = std::min(threshold, double{std::abs(value)});
      threshold = std::nextafter(threshold, 0.0);
    }
    for (std::size_t i = 0; i + 1 < a_offsets.size(); ++i) {
      auto at = static_cast<std::size_t>(c_offsets[i]);
      for (auto k = static_cast<std::size_t>(a_offsets[i]); k < static_cast<std::size_t>(a_offsets[i + 1]); ++k) {
        if (!(std::abs(a_values[k]) > threshold)) continue;
        if (at >= c_values.size() || c_columns[at] != a_columns[k] || c_values[at] != a_values[k])
          return fmt::format("wrong result: entry {} of row {}", at - static_cast<std::size_t>(c_offsets[i]), i);
        ++at;
      }
      if (at != static_cast<std::size_t>(c_offsets[i + 1])) return fmt::format("wrong result: the end of row {}", i);
    }
    return {};
  }
};

template <class T>
void measure(const BenchSubject<T>& s, bool by_percentage) {
  Row row = s.row("prune", by_percentage ? "by percentage" : "by threshold");
  measure_job<T>(s, row, [&](std::size_t copy) {
    auto operands = std::make_shared<PruneOperands<T>>(s, copy, by_percentage);
    auto* const o = operands.get();
    Job<T> job;
    job.bytes = static_cast<double>(o->a().bytes() + o->C->bytes());
    job.run = [&ctx = s.ctx, o] { o->run(ctx); };
    job.task = {.kernel = by_percentage ? "prune_percentage" : "prune", .A = o->A.get()};
    job.task.offsets = &o->offsets, job.task.indices = &o->columns, job.task.values = &o->values;
    job.task.threshold = by_percentage ? dropped_percent : kept_above;
    job.fault = [o] { return o->fault(); };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

}  // namespace

template <class T>
void bench_prune(const BenchSubject<T>& s) {
  if (!std::holds_alternative<Csr<T>>(*s.A)) return;
  for (const bool by_percentage : {false, true}) measure(s, by_percentage);
}

template <class T>
struct PruneBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_prune);
};
KRILL_INSTANTIATE(PruneBenchInstances);

}  // namespace krill::apps::bench

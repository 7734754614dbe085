// C = (A B) at the places of C: dense A and B of 32 and 128 columns and rows, lines of memory along the dots and not.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "apps/system/linear_system.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/sddmm.hpp"
#include "sparse/spmm/work.hpp"

namespace krill::apps::bench {
namespace {

constexpr std::int32_t all_inner[] = {32, 128};
constexpr std::int64_t most_entries = std::int64_t{1} << 29;  // of A or B
constexpr std::int32_t checked_rows = 1000;                   // at most, evenly spread

template <class T>
struct SddmmOperands {
  std::shared_ptr<AnyMatrix<T>> C;
  Dense<T> A, B;

  SddmmOperands(const BenchSubject<T>& s, std::int32_t inner, bool by_rows)
      : C(std::make_shared<AnyMatrix<T>>(with_csr(*s.A, [](const auto& a) { return AnyMatrix<T>(a.clone()); }))),
        A(random(rows(*C), inner, 1, Order::row_major)),
        B(random(inner, cols(*C), 2, by_rows ? Order::row_major : Order::column_major)) {}

  /// What is wrong with C, if anything: rounding of an entry's terms explains all of its error. Whoever comes next
  /// finds zeros.
  std::string fault() {
    std::string found;
    with_values([&](auto& csr) {
      found = wrong_entry(csr);
      std::ranges::fill(csr.values().edit(), T(0));
    });
    return found;
  }
  template <class F>
  void with_values(F&& f) {
    std::visit(
        [&]<class Matrix>(Matrix& matrix) {
          if constexpr (is_csr<Matrix>) f(matrix);
        },
        *C);
  }

 private:
  static Dense<T> random(std::int64_t rows, std::int64_t cols, std::uint64_t seed, Order order) {
    return {rows, cols, Array<T>(random_vector<T>(rows * cols, seed, RandomPurpose::rhs), "dense"), order};
  }
  template <class Offset>
  std::string wrong_entry(const Csr<T, Offset>& csr) const {
    const auto offsets = csr.row_offsets().host();
    const auto columns = csr.col_indices().host();
    const auto values = csr.values().host();
    const auto a = A.host(), b = B.host();
    const double epsilon = std::numeric_limits<real_t<T>>::epsilon();
    const std::int32_t step = std::max(1, csr.rows() / checked_rows);
    for (std::int32_t i = 0; i < csr.rows(); i += step)
      for (auto e = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
           e < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++e) {
        std::complex<double> sum;
        double size = 0;
        for (std::int32_t k = 0; k < A.cols(); ++k) {
          const auto term = std::complex<double>(a.at(i, k)) * std::complex<double>(b.at(k, columns[e]));
          sum += term, size += std::abs(term);
        }
        const double error = std::abs(sum - std::complex<double>(values[e]));
        if (!(error <= 4 * (A.cols() + 2.0) * epsilon * size))
          return fmt::format("wrong result: entry ({}, {}) is off by {:.2g} of its terms", i, columns[e], error / size);
      }
    return {};
  }
};

template <class T>
void measure(const BenchSubject<T>& s, std::int32_t inner, bool by_rows) {
  Row row = s.row("sddmm", fmt::format("{} {}", inner, by_rows ? "by rows" : "in lines"));
  measure_job<T>(s, row, [&](std::size_t) {
    auto operands = std::make_shared<SddmmOperands<T>>(s, inner, by_rows);
    auto* const o = operands.get();
    Job<T> job;
    const Work work = sddmm_work(*o->C, inner);
    job.bytes = work.bytes, job.flops = work.flops;
    job.run = [&ctx = s.ctx, o] {
      o->with_values([&](auto& csr) { sddmm<T>(ctx, Op::none, Op::none, T(1), o->A, o->B, T(0), csr); });
    };
    job.task = {.kernel = "sddmm", .A = o->C.get(), .x = &o->A.values(), .y = &o->B.values()};
    o->with_values([&](auto& csr) { job.task.values = &csr.values(); });
    job.task.columns = inner, job.task.by_rows = by_rows;
    job.fault = [o] { return o->fault(); };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

}  // namespace

template <class T>
void bench_sddmm(const BenchSubject<T>& s) {
  for (const bool by_rows : {false, true})
    for (const std::int32_t inner : all_inner)
      if (std::max(rows(*s.A), cols(*s.A)) <= most_entries / inner) measure(s, inner, by_rows);
}

template <class T>
struct SddmmBenchInstances {
  static constexpr auto list = instance<void(const BenchSubject<T>&)>(bench_sddmm);
};
KRILL_INSTANTIATE(SddmmBenchInstances);

}  // namespace krill::apps::bench

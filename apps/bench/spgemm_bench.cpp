// C = A A, C = A + A^T and C = P^T A P for a sparse matrix in CSR, the last by a contraction, too: with the search for
// the pattern, and new values alone.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "sparse/coarsen/contract.hpp"
#include "sparse/coarsen/matching.hpp"
#include "sparse/coarsen/work.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spgemm/spgemm.hpp"
#include "sparse/spgemm/work.hpp"

namespace krill::apps::bench {
namespace {

constexpr std::int32_t checked_rows = 1000;  // at most, evenly spread

std::complex<double> in_double(double value) { return value; }
template <class R>
std::complex<double> in_double(Complex<R> value) {
  return {value.re, value.im};
}

/// Exact values of a row of C, and the sizes of their terms, as far as double goes.
struct ReferenceRow {
  struct Entry {
    std::complex<double> sum;
    double size = 0;
    int terms = 0;
  };
  std::map<std::int32_t, Entry> entries;

  void add(std::int32_t column, std::complex<double> term) {
    Entry& entry = entries[column];
    entry.sum += term, entry.size += std::abs(term), ++entry.terms;
  }
  template <class T>
  void add_row(const CsrView<const T>& m, std::int32_t row, std::complex<double> factor) {
    for (std::int32_t k = m.row_offsets[row]; k < m.row_offsets[row + 1]; ++k)
      add(m.col_indices[k], factor * in_double(m.values[k]));
  }
};

/// What is wrong with a matrix, if anything: its rows have other columns than the reference, or values that rounding
/// does not explain. Columns may come in any order.
template <class T, class Reference>
std::string wrong_row(const CsrView<const T>& c, const Reference& reference) {
  const std::int32_t step = std::max(1, c.rows / checked_rows);
  for (std::int32_t i = 0; i < c.rows; i += step) {
    ReferenceRow expected;
    reference(i, expected);
    const auto count = static_cast<std::size_t>(c.row_offsets[i + 1] - c.row_offsets[i]);
    if (count != expected.entries.size())
      return fmt::format("wrong result: row {} has {} entries, not {}", i, count, expected.entries.size());
    for (std::int32_t k = c.row_offsets[i]; k < c.row_offsets[i + 1]; ++k) {
      const auto found = expected.entries.find(c.col_indices[k]);
      if (found == expected.entries.end())
        return fmt::format("wrong result: there is no entry ({}, {})", i, c.col_indices[k]);
      const auto& [sum, size, terms] = found->second;
      const double error = std::abs(sum - in_double(c.values[k]));
      if (!(error <= 4 * (terms + 2.0) * std::numeric_limits<real_t<T>>::epsilon() * size))
        return fmt::format("wrong result: entry ({}, {}) is off by {:.2g} of its terms", i, c.col_indices[k],
                           error / size);
    }
  }
  return {};
}

/// A plan that is used once, as spgemm() does, keeps no list.
SpgemmOptions options(bool for_many) { return for_many ? SpgemmOptions() : SpgemmOptions{.max_list_bytes = 0}; }

/// C = A A
template <class T>
struct Square {
  static constexpr const char *kernel = "spgemm", *values_kernel = "spgemm_values";
  using Plan = SpgemmPlan<T>;

  std::shared_ptr<const AnyMatrix<T>> A, B;

  Square(Context&, std::shared_ptr<const AnyMatrix<T>> a) : A(a), B(std::move(a)) {}
  const Csr<T>& a() const { return std::get<Csr<T>>(*A); }

  Plan plan(Context& ctx, bool for_many) const { return {ctx, Op::none, a(), Op::none, a(), options(for_many)}; }
  void update(Context& ctx, Plan& plan) const { plan.update(ctx, T(1), a(), a()); }
  Work work(const Csr<T>& c) const { return spgemm_work(a(), a(), c); }
  void reference(std::int32_t i, ReferenceRow& row) const {
    const auto from = a().view(Host{});
    for (std::int32_t k = from.row_offsets[i]; k < from.row_offsets[i + 1]; ++k)
      row.add_row(from, from.col_indices[k], in_double(from.values[k]));
  }
};

/// C = A + A^T, which is there as a matrix of its own.
template <class T>
struct Symmetrized {
  static constexpr const char *kernel = "spgeam", *values_kernel = "spgeam_values";
  using Plan = SpgeamPlan<T>;

  std::shared_ptr<const AnyMatrix<T>> A, B;

  Symmetrized(Context& ctx, std::shared_ptr<const AnyMatrix<T>> given)
      : A(std::move(given)), B(std::make_shared<const AnyMatrix<T>>(transpose(ctx, a()))) {}
  const Csr<T>& a() const { return std::get<Csr<T>>(*A); }
  const Csr<T>& b() const { return std::get<Csr<T>>(*B); }

  Plan plan(Context& ctx, bool) const { return {ctx, Op::none, a(), Op::none, b()}; }
  Csr<T> whole(Context& ctx) const { return spgeam(ctx, Op::none, Op::none, T(1), a(), T(1), b()); }
  void update(Context& ctx, Plan& plan) const { plan.update(ctx, T(1), a(), T(1), b()); }
  Work work(const Csr<T>& c) const { return spgeam_work(a(), b(), c); }
  void reference(std::int32_t i, ReferenceRow& row) const {
    row.add_row(a().view(Host{}), i, 1);
    row.add_row(b().view(Host{}), i, 1);
  }
};

/// C = P^T A P, where column k of P has ones in rows 8 k to 8 k + 7.
template <class T>
struct Coarse {
  static constexpr const char *kernel = "triple_product", *values_kernel = "triple_product_values";
  using Plan = TripleProductPlan<T>;
  static constexpr std::int32_t aggregate = 8;

  std::shared_ptr<const AnyMatrix<T>> A, B, R;

  Coarse(Context& ctx, std::shared_ptr<const AnyMatrix<T>> given)
      : A(std::move(given)),
        B(std::make_shared<const AnyMatrix<T>>(aggregates(a().rows()))),
        R(std::make_shared<const AnyMatrix<T>>(transpose(ctx, p()))) {}
  const Csr<T>& a() const { return std::get<Csr<T>>(*A); }
  const Csr<T>& p() const { return std::get<Csr<T>>(*B); }
  const Csr<T>& r() const { return std::get<Csr<T>>(*R); }

  Plan plan(Context& ctx, bool for_many) const { return {ctx, Op::none, r(), a(), p(), options(for_many)}; }
  void update(Context& ctx, Plan& plan) const { plan.update(ctx, T(1), r(), a(), p()); }
  Work work(const Csr<T>& c) const { return triple_product_work(r(), a(), p(), c); }
  void reference(std::int32_t i, ReferenceRow& row) const {
    const auto all = a().view(Host{});
    for (std::int32_t j = i * aggregate; j < std::min((i + 1) * aggregate, all.rows); ++j)
      for (std::int32_t k = all.row_offsets[j]; k < all.row_offsets[j + 1]; ++k)
        row.add(all.col_indices[k] / aggregate, in_double(all.values[k]));
  }

 private:
  static Csr<T> aggregates(std::int32_t rows) {
    std::vector<std::int32_t> offsets(static_cast<std::size_t>(rows) + 1), columns(static_cast<std::size_t>(rows));
    for (std::int32_t i = 0; i < rows; ++i) {
      offsets[static_cast<std::size_t>(i) + 1] = i + 1;
      columns[static_cast<std::size_t>(i)] = i / aggregate;
    }
    return {(rows + aggregate - 1) / aggregate, Array<std::int32_t>(std::move(offsets)),
            Array<std::int32_t>(std::move(columns)), Array<T>(std::vector<T>(static_cast<std::size_t>(rows), T(1)))};
  }
};

/// C = P0^H A P0 without a product, where P0 has a one in each row of an aggregate: those of matchings.
template <class T>
struct Contracted {
  static constexpr const char *kernel = "contraction", *values_kernel = "contraction_values";
  using Plan = ContractionPlan<T>;

  std::shared_ptr<const AnyMatrix<T>> A, B;  // no B
  Aggregates aggregates;

  Contracted(Context& ctx, std::shared_ptr<const AnyMatrix<T>> given)
      : A(std::move(given)), aggregates(aggregate_matching(ctx, a(), matching_passes, {})) {}
  const Csr<T>& a() const { return std::get<Csr<T>>(*A); }

  Plan plan(Context& ctx, bool) const { return {ctx, a(), aggregates}; }
  void update(Context& ctx, Plan& plan) const { plan.update(ctx, a(), aggregates); }
  Work work(const Csr<T>& c) const { return contraction_work(a(), aggregates, c); }
  void reference(std::int32_t i, ReferenceRow& row) const {
    const auto from = a().view(Host{});
    const auto of_row = aggregates.of_row.host();
    const auto begin = aggregates.offsets.host().begin() + i;
    for (const std::int32_t j : aggregates.rows.host().subspan(static_cast<std::size_t>(begin[0]),
                                                               static_cast<std::size_t>(begin[1] - begin[0])))
      for (std::int32_t k = from.row_offsets[j]; k < from.row_offsets[j + 1]; ++k) {
        const std::int32_t target = of_row[static_cast<std::size_t>(from.col_indices[k])];
        target < 0 ? row.add(i, 0) : row.add(target, in_double(from.values[k]));
      }
  }
};

template <class T, template <class> class Operation>
struct SparseOperands {
  Operation<T> operation;
  std::optional<typename Operation<T>::Plan> plan;
  std::optional<Csr<T>> made;  ///< without a plan
  bool values_alone;
  // the rival's C
  std::int32_t columns_of_C;
  Array<std::int32_t> offsets, columns;
  Array<T> values;

  SparseOperands(const BenchSubject<T>& s, std::size_t copy, bool values_alone)
      : operation(s.ctx, source_copy(s, copy)), plan(operation.plan(s.ctx, values_alone)), values_alone(values_alone) {
    const Csr<T>& c = plan->matrix();
    columns_of_C = c.cols();
    offsets = Array<std::int32_t>(std::vector<std::int32_t>(static_cast<std::size_t>(c.rows()) + 1));
    columns = Array<std::int32_t>(c.nnz());
    values = Array<T>(c.nnz());
  }

  void run(Context& ctx) {
    if (!values_alone) {
      plan.reset(), made.reset();
      if constexpr (requires { operation.whole(ctx); }) {
        made = operation.whole(ctx);
        return;
      }
      plan.emplace(operation.plan(ctx, false));
    }
    operation.update(ctx, *plan);
  }
  const Csr<T>& result() const { return made ? *made : plan->matrix(); }

  /// What a plan and its values take beyond C, in a context that has no workspace yet.
  std::int64_t workspace(Context& ctx) {
    plan.reset(), made.reset();
    ctx.synchronize();
    Context empty = ctx.dispatch([](const auto& where) {
      if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>)
        return Context::cuda({where.device, where.stream});
      else
        return Context::host(where.threads);
    });
    empty.restart_memory_peak();
    const std::size_t before = empty.memory_use().now;
    if (values_alone) plan.emplace(operation.plan(empty, true));
    run(empty);
    return static_cast<std::int64_t>(empty.memory_use().peak - before - result().bytes());
  }

  /// Of the plan's C, the first time; then of the rival's, unless that keeps its result to itself.
  std::string fault() {
    const auto reference = [this](std::int32_t i, ReferenceRow& row) { operation.reference(i, row); };
    if (plan || made) {
      std::string found = wrong_row(result().view(Host{}), reference);
      plan.reset(), made.reset();  // the rival may need the memory
      return found;
    }
    if (offsets.host().back() == 0) return {};
    std::string found =
        wrong_row(CsrView<const kernel_t<T>>{static_cast<std::int32_t>(offsets.size() - 1), columns_of_C, values.size(),
                                             offsets.host().data(), columns.host().data(), values.read(Host{})},
                  reference);
    std::ranges::fill(offsets.edit(), 0);
    return found;
  }
};

template <template <class> class Operation, class T>
void measure(const BenchSubject<T>& s, bool values_alone) {
  using Operands = SparseOperands<T, Operation>;
  Row row = s.row(Operation<T>::kernel, values_alone ? "new values" : "whole");
  measure_job<T>(s, row, [&](std::size_t copy) {
    auto operands = std::make_shared<Operands>(s, copy, values_alone);
    Operands* const o = operands.get();
    Job<T> job;
    const Work work = o->operation.work(o->plan->matrix());
    job.bytes = work.bytes, job.flops = work.flops;
    job.run = [&ctx = s.ctx, o] { o->run(ctx); };
    job.task.kernel = values_alone ? Operation<T>::values_kernel : Operation<T>::kernel;
    job.task.A = o->operation.A.get(), job.task.B = o->operation.B.get();
    if constexpr (requires { o->operation.R; }) job.task.R = o->operation.R.get();
    job.task.offsets = &o->offsets, job.task.indices = &o->columns, job.task.values = &o->values;
    job.fault = [o] { return o->fault(); };
    job.workspace = [&ctx = s.ctx, o] { return o->workspace(ctx); };
    job.keeps = std::move(operands);
    return job;
  });
  s.report(row);
}

template <template <class> class Operation, class T>
void measure_both(const BenchSubject<T>& s) {
  if (!std::holds_alternative<Csr<T>>(*s.A) || rows(*s.A) != cols(*s.A)) return;
  for (const bool values_alone : {false, true}) measure<Operation>(s, values_alone);
}

}  // namespace

template <class T>
void bench_spgemm(const BenchSubject<T>& s) {
  measure_both<Square>(s);
}
template <class T>
void bench_spgeam(const BenchSubject<T>& s) {
  measure_both<Symmetrized>(s);
}
template <class T>
void bench_triple_product(const BenchSubject<T>& s) {
  measure_both<Coarse>(s);
}
template <class T>
void bench_contraction(const BenchSubject<T>& s) {
  measure_both<Contracted>(s);
}

template <class T>
struct SpgemmBenchInstances {
  static constexpr std::tuple list{instance<void(const BenchSubject<T>&)>(bench_spgemm),
                                   instance<void(const BenchSubject<T>&)>(bench_spgeam),
                                   instance<void(const BenchSubject<T>&)>(bench_triple_product),
                                   instance<void(const BenchSubject<T>&)>(bench_contraction)};
};
KRILL_INSTANTIATE(SpgemmBenchInstances);

}  // namespace krill::apps::bench

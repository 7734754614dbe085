#include "sparse/triangular/triangular.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "sparse/convert/sort.hpp"
#include "sparse/convert/transpose.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/triangular/layout_sizes.hpp"
#include "sparse/triangular/triangular_passes.hpp"
#include "sparse/triangular/work.hpp"

namespace krill {

using namespace detail;
namespace {

struct Tuning {
  static constexpr std::int32_t max_level_kernels = 16;  ///< levels; with more, one kernel is quicker. Not varied.
  /// For one block: rows of a level, and entries of a row, on average. Beyond, what one multiprocessor loads takes
  /// longer than the half microsecond that a level takes where rows wait for each other: levels of 40 rows take 0.41 us
  /// in one block on an H200, levels of 100 rows 0.45 in the other kernel (docs/performance.md, triangular solves).
  static constexpr double max_rows_in_one_block = 48, max_entries_in_one_block = 32;
};

/// Two permutations in one: entry k was entry outer[k] of a matrix whose entry i was entry inner[i] of another, so it
/// was entry inner[outer[k]] of that. An empty `inner` is the identity.
template <class Offset>
Array<Offset> composed(Context& ctx, const Array<Offset>& inner, Array<Offset> outer) {
  if (inner.size() == 0) return outer;
  Array<Offset> both(outer.size(), "permutation");
  ctx.dispatch([&](const auto& where) {
    apply_permutation(where, outer.size(), inner.read(where), outer.read(where), both.write(where));
  });
  return both;
}

/// Whether rows stay as they stand.
bool keeps_order(TriangularMethod method, bool on_cuda) {
  return method == TriangularMethod::natural || (method == TriangularMethod::automatic && !on_cuda);
}

const LevelSchedule* known_levels(const TriangularOptions& options, std::int32_t rows, Triangle wanted) {
  const LevelSchedule* known = options.levels;
  return known && known->has_levels() && known->rows() == rows && known->fill() == wanted.solved() ? known : nullptr;
}

template <class T>
DenseView<T> as_column(std::int32_t rows, T* values) {
  return {rows, 1, rows, Order::column_major, values};
}

}  // namespace

template <class T, class Offset>
struct TriangularPlan<T, Offset>::Body {
  Triangle triangle;
  std::int32_t block_dim;
  bool on_cuda;
  bool awaited = false, one_block = false;  // on CUDA: rows wait for each other in one kernel; or it has one block
  std::int64_t nnz;
  LevelSchedule schedule;
  TriangularReport report;
  Array<Offset> permutation;
  Array<TriangleRow<Offset>> rows;
  Array<std::int64_t> begins;       // on the host
  Array<std::int64_t> slice_tasks;  // on CUDA, and tasks
  Array<TriangularTask> tasks;
  Array<std::int32_t> columns;
  Array<T> values, inverses;
  std::int32_t first_missing = no_row, longest = 0;  // longest: entries of a row
  Array<FirstRow> first_zero{1, "first zero on the diagonal"};

  Body(Context& ctx, const Csr<T, Offset>& A, Triangle wanted, TriangularOptions options, std::int32_t dim,
       Array<Offset> from)
      : Body(ctx, oriented(ctx, A, wanted.op, from), A, wanted, options, dim, from) {}

  // `turned`: op(A) where that is a matrix of its own.
  Body(Context& ctx, std::optional<Csr<T, Offset>> turned, const Csr<T, Offset>& A, Triangle wanted,
       TriangularOptions options, std::int32_t dim, Array<Offset>& from)
      : triangle(wanted),
        block_dim(dim),
        on_cuda(ctx.on_cuda()),
        nnz(A.nnz()),
        schedule(scheduled(ctx, turned ? *turned : A, wanted, options)),
        permutation(std::move(from)) {
    lay_out(ctx, turned ? *turned : A, options);
  }

  static std::optional<Csr<T, Offset>> oriented(Context& ctx, const Csr<T, Offset>& A, Op op, Array<Offset>& from) {
    require_size("triangular solve: columns of the matrix", A.cols(), A.rows());
    if (op == Op::none) return std::nullopt;
    Array<Offset> moved(0, "permutation");
    Csr<T, Offset> turned = transpose(ctx, A, op, &moved);
    from = composed(ctx, from, std::move(moved));
    return turned;
  }

  static LevelSchedule scheduled(Context& ctx, const Csr<T, Offset>& A, Triangle wanted, TriangularOptions options) {
    if (keeps_order(options.method, ctx.on_cuda())) return {ctx, A.rows(), wanted.solved()};
    if (const LevelSchedule* known = known_levels(options, A.rows(), wanted)) return known->copy(ctx);
    return {ctx, A.row_offsets(), A.col_indices(), wanted.solved()};
  }

  /// Rows of a level on average.
  double mean_level() const { return static_cast<double>(schedule.rows()) / std::max(1, schedule.levels()); }
  Steps steps() const { return {schedule.rows(), schedule.fill()}; }

  void lay_out(Context& ctx, const Csr<T, Offset>& A, TriangularOptions options) {
    const std::int32_t n = A.rows();
    rows = Array<TriangleRow<Offset>>(n, "triangle rows");
    Array<std::int32_t> counts(n, "entries of rows");
    Array<TriangleCount> count(1, "entries of the triangle");
    ctx.dispatch([&](const auto& where) {
      run_pass(
          where, n,
          LocateRows<Offset>{steps(), A.row_offsets().read(where), A.col_indices().read(where),
                             schedule.order().read(where), rows.write(where), counts.write(where), count.write(where)});
    });
    choose(count.host()[0], options);
    const std::int64_t places = on_cuda ? lay_in_slices(ctx, counts) : lay_in_rows(counts);
    columns = Array<std::int32_t>(places, "triangle columns");
    values = Array<T>(places, "triangle values");
    if (triangle.diagonal == Diagonal::stored) {
      inverses = Array<T>(n, "inverse diagonal");
      first_missing = count.host()[0].missing;
    } else {
      first_zero.edit()[0] = {};
    }
    ctx.dispatch([&](const auto& where) {
      run_pass(where, n,
               FillTriangleColumns<Offset>{
                   steps(), layout<const NoValue>(where), rows.read(where), A.col_indices().read(where),
                   awaited || one_block ? schedule.inverse().read(where) : nullptr, columns.write(where)});
    });
    if (awaited)
      ctx.dispatch([&](const auto& where) {
        auto to = layout<const NoValue>(where);
        to.columns = columns.read(where);
        run_pass(where, tasks.size(), FindWaits{to, tasks.update(where)});
      });
    report.entries = count.host()[0].entries, longest = count.host()[0].longest;
  }

  /// Both return the number of places for entries.
  std::int64_t lay_in_rows(const Array<std::int32_t>& counts) {
    begins = Array<std::int64_t>(counts.size() + 1, "triangle offsets");
    const auto each = counts.host();
    const auto to = begins.edit();
    to[0] = 0;
    std::inclusive_scan(each.begin(), each.end(), to.begin() + 1, std::plus<>{}, std::int64_t{0});
    return to.back();
  }

  std::int64_t lay_in_slices(Context& ctx, const Array<std::int32_t>& counts) {
    const auto n = static_cast<std::int32_t>(counts.size());
    const std::int64_t slices = detail::ceil_div(n, task_rows);
    Array<std::int64_t> slice_entries(slices + 1, "slice entries");
    slice_tasks = Array<std::int64_t>(slices + 1, "slice tasks");
    Array<std::int64_t> tasks_each(slices, "tasks of slices"), entries_each(slices, "entries of slices");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, slices, CountTasks{n, counts.read(where), tasks_each.write(where), entries_each.write(where)});
      scan_counts(where, slices, tasks_each.read(where), slice_tasks.write(where));
      scan_counts(where, slices, entries_each.read(where), slice_entries.write(where));
    });
    tasks = Array<TriangularTask>(last_offset(ctx, slice_tasks), "triangle tasks");
    ctx.dispatch([&](const auto& where) {
      run_pass(
          where, slices,
          FillTasks{n, counts.read(where), slice_tasks.read(where), slice_entries.read(where), tasks.write(where)});
    });
    return last_offset(ctx, slice_entries);
  }

  /// Where entries lie.
  template <class V, class Where>
  TriangleView<V> layout(const Where& where) const {
    return {schedule.rows(), schedule.order().read(where), on_cuda ? nullptr : begins.read(where),
            slice_tasks.read(where), tasks.read(where)};
  }

  void choose(const TriangleCount& count, TriangularOptions options) {
    report.levels = schedule.levels(), report.widest = schedule.widest();
    report.method = options.method;
    if (options.method == TriangularMethod::automatic) {
      const bool few = on_cuda && report.levels <= Tuning::max_level_kernels && count.longest <= max_shared_entries;
      const double mean_row = static_cast<double>(count.entries) / std::max(1, schedule.rows());
      const bool narrow = !few && mean_level() <= Tuning::max_rows_in_one_block &&
                          mean_row <= Tuning::max_entries_in_one_block && on_cuda;
      report.method = !schedule.has_levels() ? TriangularMethod::natural
                      : few                  ? TriangularMethod::level_kernels
                      : narrow               ? TriangularMethod::one_block
                                             : TriangularMethod::by_level;
      report.why = report.method == TriangularMethod::natural
                       ? "rows one after the other, as on a host"
                       : fmt::format("{} levels of {:.0f} rows on average, {:.1f} entries a row: {}", report.levels,
                                     mean_level(), mean_row,
                                     few      ? "a kernel for each"
                                     : narrow ? "one block of threads for all"
                                              : "one kernel, in which rows wait for each other");
    } else {
      report.why = "asked for";
    }
    one_block = on_cuda && report.method == TriangularMethod::one_block;
    awaited = on_cuda && !one_block && report.method != TriangularMethod::level_kernels;
  }

  void fill(Context& ctx, const Array<T>& from) {
    ctx.dispatch([&](const auto& where) {
      auto to = layout<kernel_t<T>>(where);
      to.columns = columns.read(where), to.values = values.write(where);
      if (inverses.size()) to.inverses = inverses.write(where);
      run_pass(where, schedule.rows(),
               FillTriangle<kernel_t<T>, Offset>{steps(), to, rows.read(where), from.read(where),
                                                 permutation.size() ? permutation.read(where) : nullptr,
                                                 triangle.op == Op::adjoint, first_zero.write(where)});
    });
  }

  void update(Context& ctx, const Array<T>& from, std::int64_t entries) {
    require_side(ctx);
    require_size("triangular plan: entries of the matrix", entries, nnz);
    fill(ctx, from);
  }

  void require_side(const Context& ctx) const { require_made_for(ctx, on_cuda, "triangular plan"); }

  template <class Where>
  TriangleView<const kernel_t<T>> view(const Where& where) const {
    auto a = layout<const kernel_t<T>>(where);
    a.columns = columns.read(where), a.values = values.read(where);
    if (inverses.size()) a.inverses = inverses.read(where);
    a.mean_width = static_cast<double>(report.entries) / std::max(1, schedule.rows()), a.longest = longest;
    return a;
  }

  void run(const auto& where, const TriangularSolve<kernel_t<T>>& solve) const {
    if (solve.a.rows == 0 || solve.b.cols == 0) return;
    if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Cuda>) {
      if (awaited) return run_awaited_solve(where, solve, schedule.inverse().read(where), tasks.size());
      if (one_block) return run_one_block_solve(where, solve, schedule.offsets().read(where), schedule.levels());
    }
    run_solve(where, solve, schedule.has_levels() ? schedule.offsets().host() : std::span<const std::int32_t>{});
  }
};

template <class T, class Offset>
TriangularPlan<T, Offset>::TriangularPlan(Context& ctx, const Csr<T, Offset>& A, Triangle triangle,
                                          TriangularOptions options)
    : body_(std::make_unique<Body>(ctx, A, triangle, options, 1, Array<Offset>(0, "permutation"))) {
  body_->fill(ctx, A.values());
}

template <class T, class Offset>
TriangularPlan<T, Offset>::TriangularPlan(Context& ctx, const Bsr<T>& A, Triangle triangle, TriangularOptions options) {
  require_size("triangular solve: columns of a block", A.blocks().col_dim, A.blocks().row_dim);
  const auto entries = to_csr<T, Offset>(ctx, A);
  body_ =
      std::make_unique<Body>(ctx, entries, triangle, options, A.blocks().row_dim, positions_in_blocks(ctx, A, entries));
  body_->nnz = A.nnz();
  body_->fill(ctx, A.values());
}

template <class T, class Offset>
TriangularPlan<T, Offset>::TriangularPlan(TriangularPlan&&) noexcept = default;
template <class T, class Offset>
TriangularPlan<T, Offset>& TriangularPlan<T, Offset>::operator=(TriangularPlan&&) noexcept = default;
template <class T, class Offset>
TriangularPlan<T, Offset>::~TriangularPlan() = default;

template <class T, class Offset>
HeldMemory TriangularPlan<T, Offset>::memory(MemoryLedger& ledger, Context& host, const Csr<T, Offset>& A,
                                             Triangle triangle, TriangularOptions options) {
  HeldMemory kept;
  std::int64_t places = 0;
  {
    std::optional<Csr<T, Offset>> of_op;
    HeldMemory turned;
    if (triangle.op != Op::none) {
      of_op = transpose(host, A, triangle.op);
      turned = csr_memory(ledger, *of_op);
      kept += ledger.hold<Offset>(A.nnz());  // permutation
      csr_transpose_scratch(ledger, CsrSizes::of(A), true);
    }
    const Csr<T, Offset>& a = of_op ? *of_op : A;
    const bool natural = keeps_order(options.method, ledger.on_cuda());
    const LevelSchedule* known = natural ? nullptr : known_levels(options, a.rows(), triangle);
    std::optional<LevelSchedule> found;
    if (natural)
      found.emplace(host, a.rows(), triangle.solved());
    else if (!known)
      found.emplace(host, a.row_offsets(), a.col_indices(), triangle.solved());
    kept += known ? known->memory_of_copy(ledger) : found->memory(ledger);
    const TriangleSizes t = count_triangle(host, a, known ? *known : *found, ledger.on_cuda());
    kept += ledger.hold<TriangleRow<Offset>>(a.rows());
    const HeldMemory counts = ledger.hold<std::int32_t>(a.rows());
    if (ledger.on_cuda()) {
      const HeldMemory entries = ledger.hold<std::int64_t>(t.slices + 1);
      kept += ledger.hold<std::int64_t>(t.slices + 1);
      const HeldMemory each = ledger.hold<std::int64_t>(2 * t.slices);  // tasks and entries of slices
      kept += ledger.hold<TriangularTask>(t.tasks);
    } else {
      kept += ledger.hold<std::int64_t>(a.rows() + std::int64_t{1});
    }
    kept += ledger.hold<std::int32_t>(t.places);
    places = t.places;
  }
  kept += ledger.hold<T>(places);
  if (triangle.diagonal == Diagonal::stored) kept += ledger.hold<T>(A.rows());
  if (ledger.on_cuda()) ledger.scratch_later(static_cast<std::size_t>(A.rows()) * sizeof(T));  // results, awaited
  return kept;
}

template <class T, class Offset>
std::int32_t TriangularPlan<T, Offset>::rows() const {
  return body_->schedule.rows();
}

template <class T, class Offset>
const TriangularReport& TriangularPlan<T, Offset>::report() const {
  return body_->report;
}

template <class T, class Offset>
std::size_t TriangularPlan<T, Offset>::bytes() const {
  return body_->schedule.bytes() + detail::bytes_of(body_->permutation, body_->rows, body_->begins, body_->slice_tasks,
                                                    body_->tasks, body_->columns, body_->values, body_->inverses);
}

template <class T, class Offset>
Work TriangularPlan<T, Offset>::work() const {
  return triangular_work<T>(rows(), static_cast<double>(body_->report.entries), 1, body_->triangle.diagonal);
}

template <class T, class Offset>
void TriangularPlan<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A) {
  body_->update(ctx, A.values(), A.nnz());
}

template <class T, class Offset>
void TriangularPlan<T, Offset>::update(Context& ctx, const Bsr<T>& A) {
  body_->update(ctx, A.values(), A.nnz());
}

template <class T, class Offset>
std::optional<std::int32_t> TriangularPlan<T, Offset>::structural_zero() const {
  return row_or_none(body_->first_missing, body_->block_dim);
}

template <class T, class Offset>
std::optional<std::int32_t> TriangularPlan<T, Offset>::numerical_zero() const {
  return row_or_none(body_->first_zero.host()[0].row, body_->block_dim);
}

template <class T, class Offset>
std::optional<std::int32_t> TriangularPlan<T, Offset>::zero_pivot() const {
  return row_or_none(std::min(body_->first_missing, body_->first_zero.host()[0].row), body_->block_dim);
}

template <class T, class Offset>
void TriangularPlan<T, Offset>::solve(Context& ctx, const Scalar<T>& alpha, const Array<T>& b, Array<T>& x) const {
  body_->require_side(ctx);
  require_size("triangular solve: b", b.size(), rows());
  require_size("triangular solve: x", x.size(), rows());
  ctx.dispatch([&](const auto& where) {
    const auto* from = b.read(where);
    auto* to = &b == &x ? x.update(where) : x.write(where);
    body_->run(where, {body_->view(where), alpha.read(where), as_column(rows(), from), as_column(rows(), to)});
  });
}

template <class T, class Offset>
void TriangularPlan<T, Offset>::solve(Context& ctx, const Scalar<T>& alpha, const Dense<T>& B, Dense<T>& X) const {
  body_->require_side(ctx);
  require_size("triangular solve: rows of B", B.rows(), rows());
  require_size("triangular solve: rows of X", X.rows(), rows());
  require_size("triangular solve: columns of X", X.cols(), B.cols());
  ctx.dispatch([&](const auto& where) {
    const auto from = B.view(where);
    const auto to = &B == &X ? X.update(where) : X.write(where);
    body_->run(where, {body_->view(where), alpha.read(where), from, to});
  });
}

KRILL_INSTANTIATE_WITH_OFFSETS(TriangularPlan);

}  // namespace krill

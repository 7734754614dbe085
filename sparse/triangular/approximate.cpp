#include "sparse/triangular/approximate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/core/instantiate.hpp"
#include "sparse/core/made_for.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/triangular/approximate_passes.hpp"
#include "sparse/triangular/layout_sizes.hpp"

namespace krill {

using namespace detail;
template <class T, class Offset>
struct ApproximateTriangularPlan<T, Offset>::Body {
  using K = kernel_t<T>;
  /// A matrix and products with op of it.
  struct Multiplied {
    AnyMatrix<T> matrix;
    std::unique_ptr<SpmvPlan<T>> plan = {};

    Csr<T, Offset>& csr() { return std::get<Csr<T, Offset>>(matrix); }
    void make(Context& ctx, Op op) {
      if (plan)
        plan->update(ctx);
      else
        plan = std::make_unique<SpmvPlan<T>>(ctx, matrix, op);
    }
    std::size_t bytes() const { return krill::bytes(matrix) + plan->bytes(); }
  };

  Triangle triangle;
  ApproximateOptions options;
  bool on_cuda;
  std::int64_t nnz, entries = 0;
  std::int32_t rows, first_missing = no_row;
  Array<Offset> nears;
  Array<T> inverses;
  Array<FirstRow> first_zero{std::vector<FirstRow>(1)};
  std::unique_ptr<Multiplied> step, triangle_alone;  // of jacobi or isai; for corrections
  Array<T> scaled, work;

  Body(Context& ctx, const Csr<T, Offset>& A, Triangle wanted, ApproximateOptions how)
      : triangle(wanted),
        options(how),
        on_cuda(ctx.on_cuda()),
        nnz(A.nnz()),
        rows(A.rows()),
        nears(A.rows(), "places of the diagonal"),
        inverses(wanted.diagonal == Diagonal::stored ? A.rows() : 0, "inverse diagonal"),
        scaled(A.rows(), "scaled right-hand side"),
        work(A.rows(), "work of a triangular solve") {
    require_size("approximate triangular solve: columns of the matrix", A.cols(), A.rows());
    const bool jacobi = options.method == ApproximateMethod::jacobi;
    if (options.steps < (jacobi ? 1 : 0))
      throw InvalidArgument(fmt::format("approximate triangular solve: {} {}, {} or more are needed", options.steps,
                                        jacobi ? "sweeps" : "corrections", jacobi ? 1 : 0));
    step = std::make_unique<Multiplied>(Multiplied{pattern_of(ctx, A, !jacobi)});
    if (!jacobi && options.steps > 0) {
      const Csr<T, Offset>& same = step->csr();
      triangle_alone = std::make_unique<Multiplied>(Multiplied{Csr<T, Offset>(
          rows, copy_of(ctx, same.row_offsets()), copy_of(ctx, same.col_indices()), Array<T>(same.nnz(), "triangle"))});
    }
    fill(ctx, A);
  }

  Csr<T, Offset> pattern_of(Context& ctx, const Csr<T, Offset>& A, bool with_diagonal) {
    Array<TriangleCount> count(1, "entries of the triangle");
    auto offsets = scanned<Offset>(ctx, rows, "triangle row_offsets", [&](const auto& where, Offset* counts) {
      run_pass(where, rows,
               CountTriangle<Offset>{pattern(where, A), triangle.fill, with_diagonal, nears.write(where), counts,
                                     count.write(where)});
    });
    entries = count.host()[0].entries;
    if (triangle.diagonal == Diagonal::stored) first_missing = count.host()[0].missing;
    const std::int64_t size = entries + (with_diagonal ? rows : 0);
    Array<std::int32_t> columns(size, "triangle col_indices");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, rows,
               TriangleColumns<Offset>{{pattern(where, A), triangle.fill, nears.read(where)},
                                       with_diagonal,
                                       offsets.read(where),
                                       columns.write(where)});
    });
    return {rows, std::move(offsets), std::move(columns), Array<T>(size, "triangle")};
  }

  void fill(Context& ctx, const Csr<T, Offset>& A) {
    const bool unit = triangle.diagonal == Diagonal::unit;
    Csr<T, Offset>& to = step->csr();
    ctx.dispatch([&](const auto& where) {
      const TriangleRows<K, Offset> from{A.view(where), triangle.fill, nears.read(where)};
      if (!unit)
        run_pass(where, rows, InvertTriangleDiagonal<K, Offset>{from, inverses.write(where), first_zero.write(where)});
      const K* of_diagonal = unit ? nullptr : inverses.read(where);
      const Offset* offsets = to.row_offsets().read(where);
      if (options.method == ApproximateMethod::jacobi) {
        const auto scaling = triangle.op == Op::none ? TriangleScaling::by_rows : TriangleScaling::by_columns;
        run_pass(where, rows,
                 TriangleValues<K, Offset>{from, scaling, unit, of_diagonal, offsets, to.values().write(where)});
      } else {
        run_pass(where, rows,
                 ApproximateInverse<K, Offset>{from, of_diagonal, offsets, to.col_indices().read(where),
                                               to.values().write(where)});
      }
      if (triangle_alone)
        run_pass(where, rows,
                 TriangleValues<K, Offset>{from, TriangleScaling::with_diagonal, unit, nullptr, offsets,
                                           triangle_alone->csr().values().write(where)});
    });
    step->make(ctx, triangle.op);
    if (triangle_alone) triangle_alone->make(ctx, triangle.op);
  }

  /// out = alpha op(D)^-1 b, or alpha b.
  void scale(Context& ctx, const Scalar<T>& alpha, bool by_diagonal, const Array<T>& b, Array<T>& out) const {
    ctx.dispatch([&](const auto& where) {
      const K* from = b.read(where);
      run_pass(where, rows,
               ScaleByDiagonal<K>{alpha.read(where), by_diagonal && inverses.size() ? inverses.read(where) : nullptr,
                                  triangle.op == Op::adjoint, from, &b == &out ? out.update(where) : out.write(where)});
    });
  }

  void solve_by_sweeps(Context& ctx, const Scalar<T>& alpha, const Array<T>& b, Array<T>& x) {
    if (options.steps == 1) return scale(ctx, alpha, true, b, x);
    scale(ctx, alpha, true, b, scaled);
    const Array<T>* last = &scaled;
    for (std::int32_t left = options.steps - 2; left >= 0; --left) {
      Array<T>& next = left % 2 == 0 ? x : work;  // the last one is x
      step->plan->residual(ctx, *last, scaled, next);
      last = &next;
    }
  }

  void solve_by_inverse(Context& ctx, const Scalar<T>& alpha, const Array<T>& b, Array<T>& x) {
    if (!triangle_alone && &b != &x) return step->plan->apply(ctx, alpha, b, T(0), x);
    scale(ctx, alpha, false, b, scaled);
    step->plan->apply(ctx, T(1), scaled, T(0), x);
    for (std::int32_t correction = 0; correction < options.steps; ++correction) {
      triangle_alone->plan->residual(ctx, x, scaled, work);
      step->plan->apply(ctx, T(1), work, T(1), x);
    }
  }

  Work work_of_solve() const {
    const double vector = static_cast<double>(rows) * sizeof(T);
    const double product = multiply_add<T> * static_cast<double>(krill::nnz(step->matrix));
    const double matrix = static_cast<double>(krill::bytes(step->matrix));
    Work work;
    const auto pass = [&](double factor, double of_matrix, double vectors, double flops) {
      work += {factor * (of_matrix + vectors * vector), factor * flops};
    };
    if (options.method == ApproximateMethod::jacobi) {
      const bool stored = inverses.size() > 0;
      pass(1, 0, stored ? 3 : 2, stored ? multiply_add<T> * rows : 0);
      pass(options.steps - 1, matrix, 3, product);
    } else {
      pass(1, matrix, 2, product);
      if (options.steps > 0) pass(1, 0, 2, 0);
      pass(2 * options.steps, matrix, 3, product);
    }
    return work;
  }

  void require_side(const Context& ctx) const { require_made_for(ctx, on_cuda, "approximate triangular plan"); }
};

template <class T, class Offset>
ApproximateTriangularPlan<T, Offset>::ApproximateTriangularPlan(Context& ctx, const Csr<T, Offset>& A,
                                                                Triangle triangle, ApproximateOptions options)
    : body_(std::make_unique<Body>(ctx, A, triangle, options)) {}

template <class T, class Offset>
ApproximateTriangularPlan<T, Offset>::ApproximateTriangularPlan(ApproximateTriangularPlan&&) noexcept = default;
template <class T, class Offset>
ApproximateTriangularPlan<T, Offset>& ApproximateTriangularPlan<T, Offset>::operator=(
    ApproximateTriangularPlan&&) noexcept = default;
template <class T, class Offset>
ApproximateTriangularPlan<T, Offset>::~ApproximateTriangularPlan() = default;

template <class T, class Offset>
HeldMemory ApproximateTriangularPlan<T, Offset>::memory(MemoryLedger& ledger, const Csr<T, Offset>& A,
                                                        Triangle triangle, ApproximateOptions options) {
  const bool isai = options.method == ApproximateMethod::isai, corrects = isai && options.steps > 0;
  const CsrSizes part = CsrSizes::of(A).with_nnz(count_entries(A, triangle.fill) + (isai ? A.rows() : 0));
  HeldMemory kept = ledger.hold<Offset>(A.rows());  // places of the diagonal
  if (triangle.diagonal == Diagonal::stored) kept += ledger.hold<T>(A.rows());
  for (int matrix = 0; matrix < (corrects ? 2 : 1); ++matrix) kept += csr_memory(ledger, part);
  for (int matrix = 0; matrix < (corrects ? 2 : 1); ++matrix) kept += SpmvPlan<T>::memory(ledger, part, triangle.op);
  if (!isai || corrects) ledger.hold_later(2 * static_cast<std::size_t>(A.rows()) * sizeof(T));  // scaled, work
  return kept;
}

template <class T, class Offset>
std::int32_t ApproximateTriangularPlan<T, Offset>::rows() const {
  return body_->rows;
}

template <class T, class Offset>
std::int64_t ApproximateTriangularPlan<T, Offset>::entries() const {
  return body_->entries;
}

template <class T, class Offset>
std::size_t ApproximateTriangularPlan<T, Offset>::bytes() const {
  const auto corrections = body_->triangle_alone ? body_->triangle_alone->bytes() : 0;
  return body_->step->bytes() + corrections +
         detail::bytes_of(body_->nears, body_->inverses, body_->scaled, body_->work);
}

template <class T, class Offset>
Work ApproximateTriangularPlan<T, Offset>::work() const {
  return body_->work_of_solve();
}

template <class T, class Offset>
void ApproximateTriangularPlan<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A) {
  body_->require_side(ctx);
  require_size("approximate triangular plan: rows of the matrix", A.rows(), body_->rows);
  require_size("approximate triangular plan: entries of the matrix", A.nnz(), body_->nnz);
  body_->fill(ctx, A);
}

template <class T, class Offset>
std::optional<std::int32_t> ApproximateTriangularPlan<T, Offset>::structural_zero() const {
  return row_or_none(body_->first_missing);
}

template <class T, class Offset>
std::optional<std::int32_t> ApproximateTriangularPlan<T, Offset>::numerical_zero() const {
  return row_or_none(body_->first_zero.host()[0].row);
}

template <class T, class Offset>
std::optional<std::int32_t> ApproximateTriangularPlan<T, Offset>::zero_pivot() const {
  return row_or_none(std::min(body_->first_missing, body_->first_zero.host()[0].row));
}

template <class T, class Offset>
void ApproximateTriangularPlan<T, Offset>::solve(Context& ctx, const Scalar<T>& alpha, const Array<T>& b,
                                                 Array<T>& x) const {
  body_->require_side(ctx);
  require_size("approximate triangular solve: b", b.size(), rows());
  require_size("approximate triangular solve: x", x.size(), rows());
  body_->options.method == ApproximateMethod::jacobi ? body_->solve_by_sweeps(ctx, alpha, b, x)
                                                     : body_->solve_by_inverse(ctx, alpha, b, x);
}

KRILL_INSTANTIATE_WITH_OFFSETS(ApproximateTriangularPlan);

}  // namespace krill

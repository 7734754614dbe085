#include "sparse/spmm/mixed.hpp"

#include <fmt/format.h>

#include <variant>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/convert_passes.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/call.hpp"
#include "sparse/spmm/mixed_rows.hpp"
#include "sparse/spmm/planned_tiles.hpp"

namespace krill {

using namespace detail;
namespace {

/// Row offsets of a matrix in coordinates; `rows` and `cols` are room for its indices where they lie in pairs. Returns
/// the column indices.
template <class Where, class T>
const std::int32_t* make_offsets(const Where& where, const CooView<const T>& a, std::int64_t* row_offsets,
                                 std::int32_t* rows, std::int32_t* cols) {
  const bool pairs = a.stride == 2;
  if (pairs) run_pass(where, a.nnz, SplitPairs{a.row_indices, rows, cols});
  compress_rows(where, a.rows, a.nnz, pairs ? rows : a.row_indices, row_offsets, a.base);
  if (a.base == IndexBase::one)
    run_pass(where, a.rows + std::int64_t{1}, ShiftIndices<std::int64_t>{row_offsets, 1, row_offsets});
  return pairs ? cols : a.col_indices;
}

// A in CSR, with arrays in the frame's memory where its own do not serve.
template <class Where, class T, class Offset>
CsrView<const T, Offset> by_rows(const Where&, Frame&, const CsrView<const T, Offset>& a) {
  return a;
}
template <class Where, class T>
CsrView<const T, std::int64_t> by_rows(const Where& where, Frame& frame, const CooView<const T>& a) {
  const auto room = a.stride == 2 ? static_cast<std::size_t>(a.nnz) : 0;
  auto* row_offsets = frame.take<std::int64_t>(static_cast<std::size_t>(a.rows) + 1);
  auto* rows = frame.take<std::int32_t>(room);
  auto* cols = frame.take<std::int32_t>(room);
  const std::int32_t* col_indices = make_offsets(where, a, row_offsets, rows, cols);
  return {a.rows, a.cols, a.nnz, row_offsets, col_indices, a.values, a.base};
}

/// The transpose, zero-based; values follow from their places in a.
template <class Where, class T, class Offset>
void transpose_with_places(const Where& where, const CsrView<const T, Offset>& a, Offset* row_offsets,
                           std::int32_t* col_indices, Offset* places, T* values) {
  using NoValues = float;  // of a type that there is a transposition for; their pointers are null
  csr_transpose<NoValues, Offset>(where, {a.rows, a.cols, a.nnz, a.row_offsets, a.col_indices, nullptr, a.base}, false,
                                  {a.cols, a.rows, a.nnz, row_offsets, col_indices, nullptr}, places, true);
  gather_values(where, a.nnz, a.values, places, values);
}

/// use(MixedRows) with op(A), whose arrays lie in the workspace while `use` runs.
template <class Types, class Where, class View, class Use>
void with_rows(const Where& where, Op op, const MixedDense<Types>& dense, const View& view, Use&& use) {
  using Value = kernel_t<typename Types::Storage>;
  Frame frame(where);
  const auto a = by_rows(where, frame, view);
  if (op == Op::none) return use(MixedRows<Types>{dense, any_rows(a)});
  using Offset = std::remove_const_t<std::remove_pointer_t<decltype(a.row_offsets)>>;
  const auto nnz = static_cast<std::size_t>(a.nnz);
  auto* row_offsets = frame.take<Offset>(static_cast<std::size_t>(a.cols) + 1);
  auto* col_indices = frame.take<std::int32_t>(nnz);
  auto* places = frame.take<Offset>(nnz);
  auto* values = frame.take<Value>(nnz);
  transpose_with_places(where, a, row_offsets, col_indices, places, values);
  use(MixedRows<Types>{
      dense, {a.cols, a.rows, a.nnz, AnyOffsets(row_offsets), col_indices, values}, op == Op::adjoint});
}

/// The operands of y = alpha op(A) x + beta y: dense matrices of one column.
template <class Types>
struct VectorCall {
  using Compute = typename Types::Compute;
  const Scalar<Compute>& alpha;
  const Array<typename Types::Vector>& x;
  const Scalar<Compute>& beta;
  Array<typename Types::Result>& y;

  void check(std::int64_t rows, std::int64_t cols) const {
    require_size("spmv_mixed: x", x.size(), cols);
    require_size("spmv_mixed: y", y.size(), rows);
    require_disjoint("spmv_mixed: x and y", x, y);
  }
  template <class Where, class F>
  void with_operands(const Where& where, F&& f) const {
    const auto column = [](auto* values, std::int64_t size) {
      return DenseView<std::remove_pointer_t<decltype(values)>>{static_cast<std::int32_t>(size), 1, size,
                                                                Order::column_major, values};
    };
    const auto first = alpha.read(where), second = beta.read(where);
    const auto from = column(x.read(where), x.size());
    const auto to = column(y.output(where, beta), y.size());
    require_apart("spmv_mixed: x and y", from, to);
    if (y.size() > 0) f(MixedDense<Types>{first, from, false, second, to});
  }
};

template <class Types>
using MatrixCall = SpmmCall<typename Types::Vector, typename Types::Result, typename Types::Compute>;

template <class Types, class Matrix, class Call>
void multiply(Context& ctx, Op op, const Matrix& A, const Call& call) {
  call.check(A.rows(op), A.cols(op));
  ctx.dispatch([&](const auto& where) {
    const auto a = A.view(where);
    call.with_operands(where, [&](const auto& dense) {
      run_product(where, op, MixedProduct<Types, std::remove_const_t<decltype(a)>>{dense, a});
    });
  });
}

}  // namespace

template <class Where, class Types, class View>
void run_product(const Where& where, Op op_a, const MixedProduct<Types, View>& p) {
  if constexpr (std::is_same_v<Where, Host>)
    if (where.skip.now()) return;  // the first steps would be skipped, and later ones would read what they left out
  with_rows<Types>(where, op_a, p, p.a, [&](const MixedRows<Types>& rows) { run_rows(where, rows); });
}

template <class Matrix, class Vector, class Result, class Types>
void spmm_mixed(Context& ctx, Op op_a, Op op_b, const Scalar<typename Types::Compute>& alpha, const Matrix& A,
                const Dense<Vector>& B, const Scalar<typename Types::Compute>& beta, Dense<Result>& C) {
  multiply<Types>(ctx, op_a, A, MatrixCall<Types>{alpha, op_b, B, beta, C, "spmm_mixed"});
}

template <class Matrix, class Vector, class Result, class Types>
void spmv_mixed(Context& ctx, Op op, const Scalar<typename Types::Compute>& alpha, const Matrix& A,
                const Array<Vector>& x, const Scalar<typename Types::Compute>& beta, Array<Result>& y) {
  multiply<Types>(ctx, op, A, VectorCall<Types>{alpha, x, beta, y});
}

namespace {

/// Arrays that a plan makes; those that it does not need stay empty.
template <class T, class Offset>
struct MadeRows {
  Array<Offset> row_offsets{0, "plan row_offsets"}, places{0, "plan places"};
  Array<std::int32_t> col_indices{0, "plan col_indices"};
  Array<T> values{0, "plan values"};

  std::size_t bytes() const { return bytes_of(row_offsets, places, col_indices, values); }
};

}  // namespace

template <class Types>
struct MixedPlan<Types>::Body {
  using T = typename Types::Storage;
  template <class Offset>
  using Made = MadeRows<T, Offset>;

  std::int32_t rows, cols;
  bool conjugate;
  const Array<T>* source;  ///< A's values
  std::variant<Made<std::int32_t>, Made<std::int64_t>> made = {};
  PlannedTiles tiles;

  // what multiplies: A's arrays, or those that were made
  std::variant<const Array<std::int32_t>*, const Array<std::int64_t>*> row_offsets = {};
  const Array<std::int32_t>* col_indices = nullptr;
  const Array<T>* values = nullptr;

  template <class Matrix>
  Body(Context& ctx, const Matrix& A, Op op, std::int32_t columns)
      : rows(A.rows(op)), cols(A.cols(op)), conjugate(op == Op::adjoint), source(&A.values()), tiles{columns} {
    if (op != Op::none)
      ctx.dispatch([&](const auto& where) {
        Frame frame(where);
        make_transpose(where, by_rows(where, frame, A.view(where)));
      });
    else if constexpr (is_csr<Matrix>)
      row_offsets = &A.row_offsets(), col_indices = &A.col_indices(), values = source;
    else
      make_by_rows(ctx, A);
    std::visit(
        [&](const auto* offsets) { tiles.find(ctx, rows, source->size(), sizeof(typename Types::Vector), *offsets); },
        row_offsets);
  }

  template <class Where, class V, class Offset>
  void make_transpose(const Where& where, const CsrView<const V, Offset>& a) {
    auto& own = made.template emplace<Made<Offset>>();
    own.row_offsets = Array<Offset>(rows + std::int64_t{1}, "plan row_offsets");
    own.col_indices = Array<std::int32_t>(a.nnz, "plan col_indices");
    own.places = Array<Offset>(a.nnz, "plan places");
    own.values = Array<T>(a.nnz, "plan values");
    transpose_with_places(where, a, own.row_offsets.write(where), own.col_indices.write(where), own.places.write(where),
                          own.values.write(where));
    row_offsets = &own.row_offsets, col_indices = &own.col_indices, values = &own.values;
  }

  template <class Matrix>
  void make_by_rows(Context& ctx, const Matrix& A) {
    auto& own = made.template emplace<Made<std::int64_t>>();
    own.row_offsets = Array<std::int64_t>(rows + std::int64_t{1}, "plan row_offsets");
    constexpr bool pairs = std::is_same_v<Matrix, CooAos<T>>;
    if (pairs) own.col_indices = Array<std::int32_t>(A.nnz(), "plan col_indices");
    ctx.dispatch([&](const auto& where) {
      Frame frame(where);
      auto* split = frame.template take<std::int32_t>(pairs ? static_cast<std::size_t>(A.nnz()) : 0);
      make_offsets(where, A.view(where), own.row_offsets.write(where), split, own.col_indices.write(where));
    });
    row_offsets = &own.row_offsets, values = source;
    if constexpr (pairs)
      col_indices = &own.col_indices;
    else
      col_indices = &A.col_indices();
  }

  void update(Context& ctx) {
    std::visit(
        [&](auto& own) {
          if (values != &own.values) return;
          ctx.dispatch([&](const auto& where) {
            gather_values(where, source->size(), source->read(where), own.places.read(where), own.values.write(where));
          });
        },
        made);
  }

  template <class Call>
  void multiply(Context& ctx, const Call& call) const {
    call.check(rows, cols);
    ctx.dispatch([&](const auto& where) {
      const AnyOffsets offsets =
          std::visit([&](const auto* array) { return AnyOffsets(array->read(where)); }, row_offsets);
      const AnyRows<kernel_t<T>> a{rows, cols, source->size(), offsets, col_indices->read(where), values->read(where)};
      call.with_operands(where, [&](const auto& dense) { run(where, MixedRows<Types>{dense, a, conjugate}); });
    });
  }
  template <class Where>
  void run(const Where& where, const MixedRows<Types>& p) const {
    if constexpr (std::is_same_v<Where, Cuda>)
      if (const CsrTiles* known = tiles.of(p)) return run_rows(where, p, known->view(where));
    run_rows(where, p);
  }
};

template <class Types>
MixedPlan<Types>::MixedPlan(const Source& A, Context& ctx, Op op, std::int64_t columns) {
  require(columns >= 1 && columns <= std::numeric_limits<std::int32_t>::max(),
          fmt::format("mixed plan: columns: expected 1 to 2147483647, got {}", columns));
  const Context::SkipScope never(ctx, nullptr);  // a plan that was left half made would stay so
  std::visit([&](const auto* a) { body_ = std::make_unique<Body>(ctx, *a, op, static_cast<std::int32_t>(columns)); },
             A);
  ctx.synchronize();
}
template <class Types>
MixedPlan<Types>::MixedPlan(MixedPlan&&) noexcept = default;
template <class Types>
MixedPlan<Types>& MixedPlan<Types>::operator=(MixedPlan&&) noexcept = default;
template <class Types>
MixedPlan<Types>::~MixedPlan() = default;

template <class Types>
std::int32_t MixedPlan<Types>::rows() const {
  return body_->rows;
}
template <class Types>
std::int32_t MixedPlan<Types>::cols() const {
  return body_->cols;
}
template <class Types>
std::size_t MixedPlan<Types>::bytes() const {
  return body_->tiles.bytes() + std::visit([](const auto& own) { return own.bytes(); }, body_->made);
}

template <class Types>
void MixedPlan<Types>::update(Context& ctx) {
  const Context::SkipScope never(ctx, nullptr);
  body_->update(ctx);
}

template <class Types>
void MixedPlan<Types>::apply(Context& ctx, Op op_b, const Scalar<Compute>& alpha,
                             const Dense<typename Types::Vector>& B, const Scalar<Compute>& beta,
                             Dense<typename Types::Result>& C) const {
  body_->multiply(ctx, MatrixCall<Types>{alpha, op_b, B, beta, C, "mixed plan"});
}
template <class Types>
void MixedPlan<Types>::apply(Context& ctx, const Scalar<Compute>& alpha, const Array<typename Types::Vector>& x,
                             const Scalar<Compute>& beta, Array<typename Types::Result>& y) const {
  body_->multiply(ctx, VectorCall<Types>{alpha, x, beta, y});
}

/// Where: the backends that there are kernels for.
template <class Types, class Matrix, class... Where>
struct MixedMatrixInstances {
  using Scale = const Scalar<typename Types::Compute>&;
  using Vector = typename Types::Vector;
  using Result = typename Types::Result;
  using View = decltype(std::declval<const Matrix&>().view(std::declval<const Host&>()));
  static constexpr std::tuple list{
      instance<void(Context&, Op, Op, Scale, const Matrix&, const Dense<Vector>&, Scale, Dense<Result>&)>(spmm_mixed),
      instance<void(Context&, Op, Scale, const Matrix&, const Array<Vector>&, Scale, Array<Result>&)>(spmv_mixed),
      instance<void(const Where&, Op, const MixedProduct<Types, View>&)>(run_product)...};
};
template <class Types, class Matrix>
using InstancesOfMatrix = std::conditional_t<with_cuda, MixedMatrixInstances<Types, Matrix, Host, Cuda>,
                                             MixedMatrixInstances<Types, Matrix, Host>>;

template <class Table>
struct MixedInstances;
template <class... Types>
struct MixedInstances<std::tuple<Types...>> {
  template <class Row, class T = typename Row::Storage>
  static constexpr std::tuple of_row{InstancesOfMatrix<Row, Csr<T>>::list,
                                     InstancesOfMatrix<Row, Csr<T, std::int64_t>>::list,
                                     InstancesOfMatrix<Row, Coo<T>>::list, InstancesOfMatrix<Row, CooAos<T>>::list};
  static constexpr std::tuple list{of_row<Types>...};
};
template class MixedInstances<MixedTable>;

static_assert(std::tuple_size_v<MixedTable> == 10);  // each of them below
template class MixedPlan<mixed_row_t<0>>;
template class MixedPlan<mixed_row_t<1>>;
template class MixedPlan<mixed_row_t<2>>;
template class MixedPlan<mixed_row_t<3>>;
template class MixedPlan<mixed_row_t<4>>;
template class MixedPlan<mixed_row_t<5>>;
template class MixedPlan<mixed_row_t<6>>;
template class MixedPlan<mixed_row_t<7>>;
template class MixedPlan<mixed_row_t<8>>;
template class MixedPlan<mixed_row_t<9>>;

}  // namespace krill

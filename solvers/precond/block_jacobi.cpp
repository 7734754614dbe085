#include <fmt/format.h>

#include "krill/solvers/precond/block_dim.hpp"
#include "krill/solvers/precond/block_jacobi_passes.hpp"
#include "krill/solvers/precond/make.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/stopwatch.hpp"

namespace krill {
namespace {

/// z = D^-1 r with the inverses of the diagonal blocks.
template <class T>
class BlockJacobi final : public Preconditioner<T> {
 public:
  BlockJacobi(Context& ctx, const BlockJacobiOptions& o, const AnyMatrix<T>& A)
      : rows_(krill::rows(A)), chosen_(choose_block_dim(ctx, o.block_dim, most_block_jacobi_dim, A, 8)) {
    require_size("block_jacobi: columns of the square matrix", krill::cols(A), rows_);
    ctx.synchronize();
    report_.symbolic_ms = watch_.lap();
    inverses_ = Array<T>(layout().size(rows_), "inverses of diagonal blocks");
    Array<std::int32_t> bad(block_events, "bad diagonal blocks");
    with_csr(ctx, A, [&](const auto& csr) { gather(ctx, csr); });
    ctx.dispatch([&](const auto& where) {
      run_pass(where, block_events, ClearBlockEvents{bad.write(where)});
      if (rows_) invert_blocks(where, rows_, layout(), inverses_.update(where), bad.update(where));
    });
    refuse(o.type, bad.host());
    report_.numeric_ms = watch_.lap();
    report_.bytes = detail::bytes_of(inverses_);
    report_.facts = {{"block_dim", std::int64_t{chosen_.dim}}, {"block_dim_from", chosen_.from}};
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    require_size("block_jacobi: r", r.size(), rows_);
    require_size("block_jacobi: z", z.size(), rows_);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, rows_, MultiplyBlocks<kernel_t<T>>{product(where, r), z.write(where)});
    });
    return z;
  }
  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>&, Array<T>& z,
                              Array<double>& rz) const override {
    require_size("block_jacobi: r", r.size(), rows_);
    require_size("block_jacobi: z", z.size(), rows_);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, rows_, MultiplyBlocksDot<kernel_t<T>>{product(where, r), z.write(where), rz.write(where)});
    });
    return {z, rz};
  }
  PreconditionerReport report() const override { return report_; }

 private:
  BlockLayout layout() const { return {chosen_.dim}; }
  BlockProduct<kernel_t<T>> product(const auto& where, const Array<T>& r) const {
    return {rows_, layout(), inverses_.read(where), r.read(where)};
  }
  template <class Offset>
  void gather(Context& ctx, const Csr<T, Offset>& A) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, layout().padded_rows(rows_),
               GatherDiagonalBlocks<kernel_t<T>, Offset>{A.view(where), layout(), inverses_.write(where)});
    });
  }
  void refuse(std::string_view type, std::span<const std::int32_t> bad) const {
    const std::int32_t singular = bad[singular_block], wrong = bad[not_finite_block];
    if (singular == no_block && wrong == no_block) return;
    const std::int64_t dim = chosen_.dim;
    if (singular <= wrong)  // what comes of a singular block is not finite
      refuse_row(type, singular * dim, fmt::format("there is a singular diagonal block of {} rows that begins", dim),
                 "choose another block_dim, or use preconditioner jacobi or none");
    refuse_row(
        type, wrong * dim,
        fmt::format("there is a diagonal block of {} rows, not finite or without a finite inverse, that begins", dim),
        "look at the entries of the matrix (krill inspect), or use preconditioner jacobi");
  }

  Stopwatch watch_;
  std::int32_t rows_;
  BlockDim chosen_;
  Array<T> inverses_;
  PreconditionerReport report_;
};

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const BlockJacobiOptions& o, const AnyMatrix<T>& A) {
  return std::make_unique<BlockJacobi<T>>(ctx, o, A);
}

#define INSTANTIATE(T) KRILL_INSTANTIATE_MAKER(T, BlockJacobiOptions)
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill

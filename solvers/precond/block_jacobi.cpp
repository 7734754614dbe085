#include <fmt/format.h>

#include "solvers/precond/block_dim.hpp"
#include "solvers/precond/block_jacobi_passes.hpp"
#include "solvers/precond/make.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill {

using namespace detail;
namespace {

/// z = D^-1 r with the inverses of the diagonal blocks.
template <class T>
class BlockJacobi final : public Preconditioner<T> {
 public:
  BlockJacobi(Context& ctx, const BlockJacobiOptions& o, const AnyMatrix<T>& A)
      : rows_(krill::rows(A)), chosen_(choose_block_dim(ctx, o.block_dim, max_block_jacobi_dim, A, 8)) {
    require_size("block_jacobi: columns of the square matrix", krill::cols(A), rows_);
    ctx.synchronize();
    report_.symbolic_ms = watch_.lap();
    inverses_ = Array<T>(layout().size(rows_), "inverses of diagonal blocks");
    invert(ctx, A);
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
  ApplicationWork work() const override {
    const std::int64_t whole = rows_ / chosen_.dim, rest = rows_ % chosen_.dim;
    const auto entries = static_cast<double>(whole * chosen_.dim * chosen_.dim + rest * rest);
    return {{(entries + 2.0 * rows_) * sizeof(T), multiply_add<T> * entries}};
  }
  PreconditionerParts<T> parts() const override { return BlockParts<T>{chosen_.dim, &inverses_}; }

  void update(Context& ctx, const AnyMatrix<T>& A) override {
    if (krill::rows(A) != rows_ || krill::cols(A) != rows_) refuse_pattern(BlockJacobiOptions::type);
    watch_.lap();
    invert(ctx, A);
  }
  bool has_adjoint() const override { return true; }
  const Array<T>& apply_adjoint(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    require_size("block_jacobi: r", r.size(), rows_);
    require_size("block_jacobi: z", z.size(), rows_);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, rows_, MultiplyBlocksAdjoint<kernel_t<T>>{product(where, r), z.write(where)});
    });
    return z;
  }

 private:
  void invert(Context& ctx, const AnyMatrix<T>& A) {
    Array<std::int32_t> bad(block_events, "bad diagonal blocks");
    with_csr(ctx, A, [&](const auto& csr) { gather(ctx, csr); });
    ctx.dispatch([&](const auto& where) {
      run_pass(where, block_events, ClearBlockEvents{bad.write(where)});
      if (rows_) invert_blocks(where, rows_, layout(), inverses_.update(where), bad.update(where));
    });
    refuse(BlockJacobiOptions::type, bad.host());
    report_.numeric_ms = watch_.lap();
  }
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
                 "choose another block_dim, or use preconditioner none");
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
MadePreconditioner<T> make(Context& ctx, const BlockJacobiOptions& o, const PreconditionerInput<T>& input) {
  return std::make_unique<BlockJacobi<T>>(ctx, o, input.A);
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const BlockJacobiOptions& o,
                  const PreconditionerInput<T>& input) {
  const std::int32_t rows = krill::rows(input.A);
  const BlockLayout layout{choose_block_dim(host, o.block_dim, max_block_jacobi_dim, input.A, 8).dim};
  return with_csr_memory(ledger, host, input.A, [&](const auto&) { return ledger.hold<T>(layout.size(rows)); });
}

template <class T>
struct BlockJacobiMakers {
  static constexpr std::tuple list{instance<Maker<T, BlockJacobiOptions>>(make),
                                   instance<MemoryOf<T, BlockJacobiOptions>>(memory)};
};
KRILL_INSTANTIATE(BlockJacobiMakers);

}  // namespace krill

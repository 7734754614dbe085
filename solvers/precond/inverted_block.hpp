// A block of the matrix, and what stands for its inverse.
#pragma once
#include <fmt/format.h>

#include "solvers/precond/block_inverse.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/inverse/sparse_inverse.hpp"
#include "sparse/spgemm/spgeam.hpp"
#include "sparse/spmv/work.hpp"

namespace krill::detail {

/// definite: the block is Hermitian with a positive diagonal; of those, automatic is `automatic_definite`.
inline PreconditionerOptions inverse_of(BlockInverse kind, bool definite, BlockInverse automatic_definite) {
  switch (kind == BlockInverse::automatic && definite ? automatic_definite : kind) {
    case BlockInverse::jacobi:
      return JacobiOptions{};
    case BlockInverse::ic0:
      return Ic0Options{};
    case BlockInverse::ict:
      return IctOptions{};
    case BlockInverse::ilut: {
      IlutOptions options;
      options.shift.type = LuShift::nonzero;
      return options;
    }
    case BlockInverse::amg:
      return AmgOptions{};
    case BlockInverse::automatic:
    case BlockInverse::ilu0:
      break;
  }
  Ilu0Options options;
  options.shift.type = LuShift::nonzero;
  return options;
}

/// A block, where what stands for its inverse multiplies with it, and that.
template <class T>
class InvertedBlock {
 public:
  template <class Offset>
  InvertedBlock(Context& ctx, std::string_view what, BlockInverse kind, BlockInverse automatic_definite,
                Csr<T, Offset> block)
      : options_(inverse_of(kind, !first_not_hermitian(ctx, block), automatic_definite)), block_(std::move(block)) {
    make(ctx, what, block_);
    if (!multiplies(options_)) block_ = Csr<T, Offset>(identity<T, Offset>(0));
  }
  /// Of a matrix that is the caller's.
  InvertedBlock(Context& ctx, std::string_view what, BlockInverse kind, BlockInverse automatic_definite,
                const AnyMatrix<T>& whole)
      : options_(with_csr(
            ctx, whole,
            [&](const auto& csr) { return inverse_of(kind, !first_not_hermitian(ctx, csr), automatic_definite); })),
        block_(identity<T, std::int32_t>(0)) {
    if (multiplies(options_)) block_ = with_csr(ctx, whole, [](const auto& csr) { return AnyMatrix<T>(csr.clone()); });
    make(ctx, what, multiplies(options_) ? block_ : whole);
  }
  InvertedBlock(InvertedBlock&&) = delete;  // what is inside may refer to the block

  template <class Offset>
  static HeldMemory memory(MemoryLedger& ledger, Context& host, BlockInverse kind, BlockInverse automatic_definite,
                           Csr<T, Offset> block) {
    HeldMemory of_block = csr_memory(ledger, block);
    const PreconditionerOptions options = inverse_of(kind, !first_not_hermitian(host, block), automatic_definite);
    HeldMemory kept = preconditioner_memory<T>(ledger, host, options, AnyMatrix<T>(std::move(block)));
    if (multiplies(options)) kept += std::move(of_block);
    return kept;
  }

  static HeldMemory memory(MemoryLedger& ledger, Context& host, BlockInverse kind, BlockInverse automatic_definite,
                           const AnyMatrix<T>& whole) {
    return with_csr(host, whole, [&](const auto& csr) {
      const PreconditionerOptions options = inverse_of(kind, !first_not_hermitian(host, csr), automatic_definite);
      HeldMemory kept = multiplies(options) ? csr_memory(ledger, csr) : HeldMemory();
      kept += preconditioner_memory<T>(ledger, host, options, whole);
      return kept;
    });
  }

  const Preconditioner<T>& operator*() const { return *inverse_; }
  std::string name() const {
    return std::string(std::visit([](const auto& o) { return o.type; }, options_));
  }
  /// Of an application, products with the block among it.
  Work work() const {
    const ApplicationWork inside = inverse_->work();
    Work all = inside.own;
    const std::int32_t n = rows(block_);
    for (double product = 0; product < inside.products; ++product)
      all += {spmv_bytes<T>(matrix_bytes(block_), n, n, false), spmv_flops<T>(n, nnz(block_), false)};
    return all;
  }
  std::size_t bytes() const { return krill::bytes(block_) + inverse_->report().bytes; }

 private:
  void make(Context& ctx, std::string_view what, const AnyMatrix<T>& A) {
    try {
      inverse_ = make_preconditioner<T>(ctx, options_, A);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("preconditioner {}: {}", what, error.what()));
    }
  }
  static bool multiplies(const PreconditionerOptions& options) {
    return std::visit([](const auto& o) { return o.multiplies_with_matrix; }, options);
  }

  PreconditionerOptions options_;
  AnyMatrix<T> block_;
  MadePreconditioner<T> inverse_;
};

}  // namespace krill::detail

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

/// Options of that name, with their defaults; pivots of 0 are replaced.
inline PreconditionerOptions options_of(BlockInverse kind) {
  Ilu0Options ilu0;
  IlutOptions ilut;
  ilu0.shift.type = ilut.shift.type = LuShift::nonzero;
  switch (kind) {
    case BlockInverse::jacobi:
      return JacobiOptions{};
    case BlockInverse::ic0:
      return Ic0Options{};
    case BlockInverse::ilu0:
      return ilu0;
    case BlockInverse::ict:
      return IctOptions{};
    case BlockInverse::ilut:
      return ilut;
    case BlockInverse::amg:
      return AmgOptions{};
    case BlockInverse::automatic:
      break;
  }
  return AutoPreconditioner{};
}

/// What is wanted; where that is auto, of a block that is Hermitian with a positive diagonal `of_definite`, of another
/// one ilu0 whose pivots of 0 are replaced.
template <class T, class Offset>
PreconditionerOptions inverse_of(Context& ctx, const PreconditionerOptions& wanted,
                                 const PreconditionerOptions& of_definite, const Csr<T, Offset>& block) {
  if (!std::holds_alternative<AutoPreconditioner>(wanted)) return wanted;
  return first_not_hermitian(ctx, block) ? options_of(BlockInverse::ilu0) : of_definite;
}
template <class T>
PreconditionerOptions inverse_of(Context& ctx, const PreconditionerOptions& wanted,
                                 const PreconditionerOptions& of_definite, const AnyMatrix<T>& block) {
  return with_csr(ctx, block, [&](const auto& csr) { return inverse_of(ctx, wanted, of_definite, csr); });
}

/// A block, where what stands for its inverse multiplies with it, and that.
template <class T>
class InvertedBlock {
 public:
  /// wanted, of_definite: as inverse_of() takes them. coordinates: of the nodes of the block's rows; null: not known.
  InvertedBlock(Context& ctx, std::string_view what, const PreconditionerOptions& wanted,
                const PreconditionerOptions& of_definite, AnyMatrix<T>&& block,
                const Dense<double>* coordinates = nullptr)
      : block_(std::move(block)), options_(inverse_of(ctx, wanted, of_definite, block_)) {
    make(ctx, what, block_, coordinates);
    if (!multiplies(options_)) block_ = Csr<T>(identity<T, std::int32_t>(0));
  }
  /// Of a matrix that is the caller's.
  InvertedBlock(Context& ctx, std::string_view what, const PreconditionerOptions& wanted,
                const PreconditionerOptions& of_definite, const AnyMatrix<T>& whole,
                const Dense<double>* coordinates = nullptr)
      : block_(identity<T, std::int32_t>(0)), options_(inverse_of(ctx, wanted, of_definite, whole)) {
    if (multiplies(options_)) block_ = with_csr(ctx, whole, [](const auto& csr) { return AnyMatrix<T>(csr.clone()); });
    make(ctx, what, multiplies(options_) ? block_ : whole, coordinates);
  }
  InvertedBlock(InvertedBlock&&) = delete;  // what is inside may refer to the block

  static HeldMemory memory(MemoryLedger& ledger, Context& host, const PreconditionerOptions& wanted,
                           const PreconditionerOptions& of_definite, AnyMatrix<T>&& block,
                           const Dense<double>* coordinates = nullptr) {
    HeldMemory of_block = with_csr(host, block, [&](const auto& csr) { return csr_memory(ledger, csr); });
    const PreconditionerOptions options = inverse_of(host, wanted, of_definite, block);
    HeldMemory kept = preconditioner_memory<T>(ledger, host, options, block, coordinates, false);
    if (multiplies(options)) kept += std::move(of_block);
    return kept;
  }
  static HeldMemory memory(MemoryLedger& ledger, Context& host, const PreconditionerOptions& wanted,
                           const PreconditionerOptions& of_definite, const AnyMatrix<T>& whole,
                           const Dense<double>* coordinates = nullptr) {
    const PreconditionerOptions options = inverse_of(host, wanted, of_definite, whole);
    HeldMemory kept;
    if (multiplies(options)) kept = with_csr(host, whole, [&](const auto& csr) { return csr_memory(ledger, csr); });
    kept += preconditioner_memory<T>(ledger, host, options, whole, coordinates, false);
    return kept;
  }

  const Preconditioner<T>& operator*() const { return *inverse_; }
  const Preconditioner<T>* operator->() const { return inverse_.get(); }
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
  void make(Context& ctx, std::string_view what, const AnyMatrix<T>& A, const Dense<double>* coordinates) {
    try {
      inverse_ = make_preconditioner<T>(ctx, options_, A, nullptr, coordinates);
    } catch (const InvalidArgument& error) {
      throw InvalidArgument(fmt::format("preconditioner {}: {}", what, error.what()));
    }
  }
  static bool multiplies(const PreconditionerOptions& options) {
    return std::visit([](const auto& o) { return o.multiplies_with_matrix; }, options);
  }

  AnyMatrix<T> block_;
  PreconditionerOptions options_;
  MadePreconditioner<T> inverse_;
};

}  // namespace krill::detail

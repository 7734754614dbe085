// How a persistent kernel applies the preconditioner.
#pragma once
#include <optional>

#include "solvers/chebyshev_passes.hpp"
#include "solvers/diagonal_blocks.hpp"
#include "solvers/persistent.cuh"
#include "solvers/persistent_passes.hpp"
#include "solvers/preconditioner.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/spmv/planned_csr.hpp"

namespace krill::detail {

/// M as a kernel has it (PreconditionerParts); what a kind does not need is null.
template <class T>
struct PersistentParts {
  enum class Kind { identity, diagonal, blocks, products, chebyshev };
  Kind kind = Kind::identity;
  const T* diagonal = nullptr;
  BlockProduct<T> blocks{};
  PersistentRows<T> first{}, second{};  // of all rows
  T* between = nullptr;
  int degree = 0;
  const real_t<T>*coefficients = nullptr, *inverse_diagonal = nullptr;
  T *d = nullptr, *w = nullptr;

  /// Whether an entry of M r needs that entry of r alone.
  __device__ bool is_pointwise() const { return kind == Kind::identity || kind == Kind::diagonal; }
  /// Blocks of a kernel have a multiple of so many rows.
  int rows_together() const { return kind == Kind::blocks ? blocks.layout.dim : 1; }
};

/// put.put(i, z_i) with z = M r for the block's rows, and the thread's part of the sum of what that returns; put.y is
/// where it writes. Nothing once there is a reason to end. The block's rows of r are written before by its own threads.
/// One barrier for each product; none comes after the last, whose result others may read behind the next.
template <class T, class Put>
__device__ typename Put::Sum apply(PersistentBlock<T>& block, const PersistentParts<T>& M, const T* r, const Put& put) {
  using Kind = typename PersistentParts<T>::Kind;
  if (!block.running()) return {};
  switch (M.kind) {
    case Kind::identity:
      return {};  // not asked
    case Kind::diagonal:
      return block.part(ByEntries{[&](int i) { return put.put(i, M.diagonal[i] * r[i]); }});
    case Kind::blocks: {
      const BlockProduct<T> blocks{M.blocks.rows, M.blocks.layout, M.blocks.inverses, r};
      __syncthreads();  // rows of r are other threads'
      return block.part(ByEntries{[&](int i) { return put.put(i, blocks.row(i)); }});
    }
    case Kind::products: {
      block.exchange();
      if (!M.second.offsets) return block.product_part(M.first, r, put);
      block.product_part(M.first, r, PlainProduct<T>{M.between});
      block.exchange();
      return block.product_part(M.second, M.between, put);
    }
    case Kind::chebyshev:
      break;
  }
  T *from = M.degree % 2 == 0 ? put.y : M.w, *to = M.degree % 2 == 0 ? M.w : put.y;  // the last is put.y
  StartChebyshev<T> start{M.coefficients, M.inverse_diagonal, r, M.d, from};
  start.begin();
  block.part(start);
  for (int k = 1;; ++k) {
    StepChebyshev<T> step{M.coefficients + (2 * k - 1), M.inverse_diagonal, r, nullptr, M.d, from};
    step.begin();
    block.exchange();
    if (k == M.degree) return block.product_part(block.A(), from, ChebyshevProduct<T, Put>{step, from, put});
    block.product_part(block.A(), from, ChebyshevProduct<T, PlainProduct<T>>{step, from, {to}});
    T* const made = to;
    to = from, from = made;
  }
}

/// Nothing where a kernel cannot apply M. A: the solver's matrix.
template <class T>
std::optional<PersistentParts<kernel_t<T>>> persistent_parts(const Cuda& cuda, const AnyMatrix<T>& A,
                                                             const PreconditionerParts<T>& parts) {
  using K = kernel_t<T>;
  using Parts = PersistentParts<K>;
  const auto rows_of = [&](const SpmvPlan<T>& plan) {
    PersistentRows<K> found{};
    if (const PlannedCsr<T>* csr = plan.csr())
      csr->with_view(cuda, [&]<class Offset>(const CsrView<const K, Offset>& view) {
        if constexpr (sizeof(Offset) == sizeof(std::int32_t))
          found = {0, view.row_offsets, view.col_indices, view.values};
      });
    return found;
  };
  Parts made;
  const bool known = std::visit(Overloaded{[](UnknownParts) { return false; }, [](IdentityParts) { return true; },
                                           [&](const DiagonalParts<T>& p) {
                                             made.kind = Parts::Kind::diagonal, made.diagonal = p.entries->read(cuda);
                                             return true;
                                           },
                                           [&](const BlockParts<T>& p) {
                                             made.kind = Parts::Kind::blocks;
                                             made.blocks = {rows(A), {p.dim}, p.inverses->read(cuda), nullptr};
                                             return true;
                                           },
                                           [&](const ProductParts<T>& p) {
                                             made.kind = Parts::Kind::products, made.first = rows_of(*p.first);
                                             if (p.second)
                                               made.second = rows_of(*p.second), made.between = p.between->write(cuda);
                                             return made.first.offsets && (!p.second || made.second.offsets);
                                           },
                                           [&](const ChebyshevParts<T>& p) {
                                             made.kind = Parts::Kind::chebyshev, made.degree = p.degree;
                                             made.coefficients = p.coefficients->read(cuda);
                                             made.inverse_diagonal = p.inverse_diagonal->read(cuda);
                                             made.d = p.d->write(cuda), made.w = p.w->write(cuda);
                                             return p.A == &A;
                                           }},
                                parts);
  return known ? std::optional(made) : std::nullopt;
}

}  // namespace krill::detail

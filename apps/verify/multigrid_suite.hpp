// What multigrid is checked by, for hierarchies that are there.
#pragma once
#include <fmt/format.h>

#include <string>

#include "apps/verify/ledger.hpp"
#include "solvers/multigrid/hierarchy.hpp"
#include "solvers/precond/amg.hpp"

namespace krill::apps::verify {

/// Products of two numbers that a reference makes at most for a step; of what takes more, every n-th row is checked.
inline constexpr std::int64_t max_products = 20'000'000;

/// One figure that should be less than its bound; nothing is decided where it need not be, for the reason `otherwise`.
Comparison compare_figure(double found, double bound, bool has_to, std::string_view otherwise);

/// What checks of a hierarchy share. `prefix` stands before their names.
template <class T>
struct CheckedHierarchy {
  Ledger& ledger;
  Context& ctx;
  const std::string& prefix;
  const AmgOptions& options;
  const Hierarchy<T>& hierarchy;
  const AnyMatrix<T>& finest;

  const MultigridLevels<T>& levels() const { return hierarchy.levels(); }
  const AnyMatrix<T>& matrix(std::size_t l) const { return l ? *levels()[l]->A : finest; }
  std::string name(std::size_t l, std::string_view step) const {
    return fmt::format("{}level {}, {}", prefix, l, step);
  }
  std::string name(std::string_view what) const { return prefix + std::string(what); }
};

/// The finest level's own: unknowns of a node, and what coarse levels have to represent.
template <class T>
struct RepresentedSpace {
  std::int32_t block_dim;
  Dense<T> candidates;
};

/// Every step from one level to the next, from what the hierarchy holds of both: each is judged by its definition, with
/// the level's own matrix; then check_cycle(). Where a reference would multiply too often, a step is checked on every
/// n-th row, and what is left out is noted as not checked.
template <class T>
void check_hierarchy(Ledger&, Context&, const std::string& prefix, const AmgOptions&, const Hierarchy<T>&,
                     const AnyMatrix<T>& finest, RepresentedSpace<T>);

/// Smoothers and transfers on random vectors, the cycle as what these do one after the other, and what it has to be:
/// linear, Hermitian, positive and contracting where A is definite and nothing in it depends on the residual.
template <class T>
void check_cycle(const CheckedHierarchy<T>&);

}  // namespace krill::apps::verify

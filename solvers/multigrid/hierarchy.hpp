// How the levels of a multigrid method are made.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "solvers/multigrid/cycle.hpp"
#include "solvers/multigrid/interpolation.hpp"
#include "solvers/multigrid/options.hpp"
#include "sparse/core/step_times.hpp"
#include "sparse/formats/dense.hpp"

namespace krill {

/// The finest matrix as a hierarchy is given it.
template <class T>
struct FinestLevel {
  const AnyMatrix<T>& A;             ///< square; has to stay, and to be the one that is updated
  const Operator<T>* products = {};  ///< that multiply with it; null: the hierarchy makes them
  bool hermitian = false;            ///< with a positive diagonal: polynomials are for such matrices
  std::int32_t block_dim = 1;        ///< unknowns of a node
  const Dense<T>* candidates = {};   ///< a column for each vector that coarse levels represent; null: a constant
  MakeSmoothingPair<T> make_smoothing = {};  ///< for the smoothers that are preconditioners
};

namespace detail {

/// How many entries a next level may have, and whether row offsets say so.
struct LevelRoom {
  std::int64_t max_entries;
  bool by_offsets;
};
/// Of what the growth limit leaves, and of what offsets count up to.
constexpr LevelRoom level_room(double left, std::int64_t max_offset) {
  if (left >= static_cast<double>(max_offset)) return {max_offset, true};
  return {left > 0 ? static_cast<std::int64_t>(left) : 0, false};
}

}  // namespace detail

/// Levels from a matrix to one that is small, and what a cycle needs at each.
///
/// Everything is found by rules that do not depend on threads: the same levels in every run and, to rounding, on both
/// backends. Sources: Vanek, Mandel and Brezina, Algebraic multigrid by smoothed aggregation (1996); Notay, An
/// aggregation-based algebraic multigrid method (2010).
template <class T>
class Hierarchy {
 public:
  /// Waits. Raises InvalidArgument that names the row where an entry is not finite, ShapeMismatch.
  Hierarchy(Context&, const MultigridOptions&, const FinestLevel<T>&);
  Hierarchy(const Hierarchy&) = delete;
  Hierarchy& operator=(const Hierarchy&) = delete;

  /// The matrix has new values in its pattern: recompute() and check(). A level that another form would suit better now
  /// keeps its own. Waits.
  void update(Context&, const AnyMatrix<T>& A);
  /// What options.reuse asks for is computed anew from a matrix with new values, in the memory that there is. No
  /// allocation but workspace, and no wait: capturable after a first run where A is in CSR. Raises InvalidArgument
  /// where reuse is nothing, ShapeMismatch for another matrix.
  void recompute(Context&, const AnyMatrix<T>& A);
  /// Looks at what recompute() has met. Waits. Raises InvalidArgument that names the row where an entry is not finite.
  void check();

  std::vector<LevelReport> reports() const;
  const MultigridLevels<T>& levels() const { return levels_; }
  bool hermitian() const { return hermitian_; }
  /// Whether levels restrict by Q^H, where Q is the prolongator that A^H would have, and not by P^H.
  bool restricts_by_adjoint() const {
    return options_.smoothed() && options_.restriction == RestrictionChoice::adjoint_matrix && !hermitian_;
  }
  /// With the method that was chosen, where that was left open.
  const MultigridOptions& options() const { return options_; }
  /// Sentences that a reader of the levels should know.
  std::vector<std::string> notes() const;
  /// The first row of the finest level whose diagonal entry is not positive, if there is one.
  std::optional<std::int64_t> first_not_positive() const;
  double setup_ms() const { return setup_ms_; }
  std::size_t bytes() const;
  /// M, by which a residual becomes a correction.
  const Cycle<T>& cycle() const { return cycle_; }

 private:
  using Level = MultigridLevel<T>;
  /// What the next coarser level has to represent.
  struct Space {
    std::int32_t block_dim;
    std::shared_ptr<const Dense<T>> candidates;
    bool are_finite;  ///< which need not be looked at
  };
  template <class Offset>
  void build(Context&, const FinestLevel<T>&, const Csr<T, Offset>& A);
  template <class Offset>
  std::optional<Csr<T, Offset>> coarsen_within(Context&, const Csr<T, Offset>& A, double left, Level&, Space&,
                                               StepTimes&);
  /// What the next level is made from, and what is told of that.
  template <class Offset>
  struct Coarsening {
    const Csr<T, Offset>& A;
    std::int64_t max_entries;
    Level& level;
    Space& space;
    StepTimes& steps;
  };
  template <class Offset>
  std::optional<Csr<T, Offset>> coarsen(Context&, const Coarsening<Offset>&);
  template <class Offset>
  Csr<T, Offset> contracted(Context&, const Coarsening<Offset>&, Aggregates, std::optional<Csr<T, Offset>> made);
  template <class Offset>
  Csr<T, Offset> projected(Context&, const Coarsening<Offset>&, StrongGraph<Offset>, Tentative<T, Offset>);
  template <class Offset>
  Csr<T, Offset> multiplied(Context&, const Coarsening<Offset>&, Csr<T, Offset> P, Csr<T, Offset> R,
                            std::shared_ptr<detail::Interpolation<T, Offset>> = {});
  void multiply_by(Context&, Level&, const AnyMatrix<T>& A, const Operator<T>* products);
  void smooth(Context&, Level&, const AnyMatrix<T>& A, std::size_t number);
  void smooth_anew(Context&, Level&, const AnyMatrix<T>& A);
  void follow_diagonal(Context&, Level&, const AnyMatrix<T>& A);
  static Array<real_t<T>>& inverse_of(Level&);
  void invert_diagonal(Context&, Level&, const AnyMatrix<T>& A, bool l1);
  void find_eigenvalue(Context&, Level&, bool may_wait);
  void check_diagonal(Level&, std::size_t number);
  void choose_method(const Level&, const AnyMatrix<T>& A);
  bool remakes_levels() const;
  void end(Context&, Level&, const AnyMatrix<T>& A, const Space&);
  void note_end(std::int64_t rows, std::string_view why);

  MultigridOptions options_;
  MakeSmoothingPair<T> make_smoothing_;
  bool hermitian_;
  MultigridLevels<T> levels_;
  Cycle<T> cycle_;
  std::string end_;  // why levels stopped before one was small enough; empty: none did
  double setup_ms_ = 0;
};

}  // namespace krill

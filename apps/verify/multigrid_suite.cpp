// Multigrid: every level of a hierarchy from the one before it, and the cycle over them.
#include "apps/verify/multigrid_suite.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "apps/verify/coarsening_comparisons.hpp"
#include "apps/verify/precond/amg.hpp"
#include "apps/verify/references/spectrum.hpp"
#include "apps/verify/references/tentative.hpp"
#include "apps/verify/trial.hpp"
#include "solvers/precond/lower_precision.hpp"
#include "sparse/coarsen/matching.hpp"
#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/coarsen/prolongator.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view tentative_bound =
    "gamma_(4 m + 8) times the length of a column: m candidates, orthogonalized twice (Higham 2002, section 19.8)";
constexpr std::string_view inverse_bound =
    "|A| (16 n eps |X| |A| |X| + u |X|): elimination in double precision, then one rounding (Higham 2002, section "
    "14.4)";
constexpr std::string_view eigenvalue_bound =
    "what the smoother's polynomial, or the step that smooths interpolation, does not amplify; row sums of D^-1 A";
/// Every n-th row.
struct CheckedRows {
  std::int64_t stride = 1;

  static CheckedRows of(std::int64_t products) {
    return {std::max<std::int64_t>(1, (products - 1) / max_products + 1)};
  }
  bool has(std::int64_t row) const { return row % stride == 0; }
};

/// The entries that keep(i, j) wants.
template <class T, class Keep>
Rows<T> entries_where(const Rows<T>& A, Keep&& keep) {
  Rows<T> some{A.rows, A.cols, {0}, {}, {}};
  for (std::int32_t i = 0; i < A.rows; ++i) {
    for (std::size_t k = A.begin(i); k < A.end(i); ++k)
      if (keep(i, A.col[k])) some.col.push_back(A.col[k]), some.value.push_back(A.value[k]);
    some.offsets.push_back(some.col.size());
  }
  return some;
}

/// Products of two numbers in A B.
template <class T>
std::int64_t count_products(const Rows<T>& A, const Rows<T>& B) {
  std::int64_t sum = 0;
  for (const std::int32_t j : A.col) sum += static_cast<std::int64_t>(B.end(j) - B.begin(j));
  return sum;
}

/// Two matrices that are the same bit by bit.
template <class T>
Comparison compare_matrices(const Rows<T>& made, const Rows<T>& expected) {
  if (made.rows != expected.rows || made.cols != expected.cols || made.offsets != expected.offsets ||
      made.col != expected.col)
    return failed("the pattern is another one");
  return compare_bits<T>(made.value, expected.value);
}

template <class T>
std::string wrong_strong_graph(const Csr<T>& A, const StrongGraph<std::int32_t>& graph, const Strength& strength) {
  return wrong_graph(graph_of(A), A.values().host(), graph_of(graph), strength.threshold,
                     8 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()),
                     strength.measure == StrengthMeasure::diagonal);
}

/// The largest factor t >= 1 up to which |p| < 1 for eigenvalues from 0 to t times the one that a polynomial is for;
/// 0 where that does not even hold up to 1.
double stable_range(const SmootherPolynomial& polynomial) {
  constexpr int points = 1000;
  for (int k = 1; k <= 3 * points; ++k) {
    const double x = static_cast<double>(k) / points;
    double r = 1, d = 0, sum = 0;  // p(x) = 1 - x sum, by the recurrence of its definition
    for (const auto& step : polynomial.steps) r -= x * d, d = step.old * d + step.fresh * r, sum += step.weight * d;
    if (!(std::fabs(1 - x * sum) < 1)) return k <= points ? 0 : static_cast<double>(k - 1) / points;
  }
  return 3;
}

template <class T>
class LevelChecks : CheckedHierarchy<T> {
 public:
  LevelChecks(const CheckedHierarchy<T>& checked, RepresentedSpace<T> space)
      : CheckedHierarchy<T>(checked), space_(std::move(space)) {}

  void run() {
    for (std::size_t l = 0; l < levels().size(); ++l) {
      const AnyMatrix<T>& A = matrix(l);
      const Rows<T> rows = rows_of(A);
      if (levels()[l]->smoother) check_smoother(l, rows);
      if (levels()[l]->dense) check_inverse(l, rows);
      if (!levels()[l]->transfer) break;
      with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
        if constexpr (std::is_same_v<Offset, std::int32_t>)
          this->check_coarsening(l, csr, rows);
        else
          this->ledger.not_checked(this->name(l, "coarsening"), "row offsets of the matrix have 64 bits");
      });
    }
  }

 private:
  using Checked = CheckedHierarchy<T>;
  using Checked::ctx, Checked::hierarchy, Checked::ledger, Checked::levels, Checked::matrix, Checked::name,
      Checked::options;

  /// A check of the rows of a sample.
  template <class Work>
  void check_rows(const std::string& name, CheckedRows sample, std::string_view bound, Work&& work) {
    ledger.check(name, bound, work);
    if (sample.stride > 1)
      ledger.not_checked(name + ", other rows",
                         fmt::format("every {}th was checked: a reference makes up to {} million products for a step",
                                     sample.stride, max_products / 1'000'000));
  }

  // From a level to the next.
  void check_coarsening(std::size_t l, const Csr<T>& A, const Rows<T>& rows) {
    const std::int32_t dim = space_.block_dim;
    if (dim == 1) return check_nodes(l, rows, A);
    const Csr<real_t<T>> nodes = node_matrix(ctx, A, dim);
    ledger.check(name(l, "norms of blocks"), running_error, [&] {
      const Rows<Bounded<real_t<T>>> expected = block_norms(rows, dim);
      const Rows<real_t<T>> made = rows_of(nodes);
      if (made.offsets != expected.offsets || made.col != expected.col) return failed("the pattern is another one");
      return compare<real_t<T>>(made.value, expected.value);
    });
    check_nodes(l, rows, nodes);
  }

  /// `nodes`: the matrix whose graph decides.
  template <class V>
  void check_nodes(std::size_t l, const Rows<T>& rows, const Csr<V>& nodes) {
    const MultigridOptions& o = hierarchy.options();
    const Strength strength = o.strength.at(l);
    const auto* plain = dynamic_cast<const AggregateTransfer<T>*>(levels()[l]->transfer.get());
    std::optional<StrongGraph<std::int32_t>> graph;
    if (o.smoothed() || !o.by_matching()) {
      graph = strong_graph(ctx, nodes, strength);
      ledger.check(name(l, "strong graph"), by_definition,
                   [&] { return holds(wrong_strong_graph(nodes, *graph, strength)); });
    }
    std::optional<Aggregates> again;  // the hierarchy keeps them where they are all of the interpolation
    if (!plain)
      again = o.by_matching() ? aggregate_matching(ctx, nodes, o.matching_passes, strength, hierarchy.hermitian())
                              : aggregate_mis2(ctx, *graph, nodes);
    const Aggregates& aggregates = plain ? plain->aggregates() : *again;
    const DisjointRows partition = partition_of(aggregates);
    ledger.check(name(l, o.by_matching() ? "aggregates by matching" : "aggregates around roots"), by_definition, [&] {
      std::string wrong = wrong_aggregates(o.by_matching() ? graph_of(nodes) : graph_of(*graph), partition);
      if (wrong.empty() && !o.by_matching()) wrong = wrong_roots(graph_of(*graph), partition);
      for (std::int32_t set = 0; set < partition.count && wrong.empty(); ++set)
        if (partition.members(set).empty()) wrong = fmt::format("aggregate {} is empty", set);
      return holds(std::move(wrong));
    });
    if (plain) {
      const Rows<T> ones = ones_of<T>(partition);
      check_product(l, ones, rows, ones);
      space_ = {1, constant_candidates<T>(ctx, partition.count, 1)};
      return;
    }
    check_interpolation(l, rows, aggregates, graph);
  }

  void check_interpolation(std::size_t l, const Rows<T>& rows, const Aggregates& aggregates,
                           const std::optional<StrongGraph<std::int32_t>>& graph) {
    const auto& transfer = dynamic_cast<const MatrixTransfer<T>&>(*levels()[l]->transfer);
    const Rows<T> P = rows_of(transfer.prolongation());
    const std::int32_t dim = space_.block_dim, m = space_.candidates.cols();
    auto tentative = tentative_prolongator<T>(ctx, aggregates, dim, space_.candidates);
    const Rows<T> P0 = rows_of(tentative.P);
    ledger.check(name(l, "tentative prolongator"), tentative_bound, [&] {
      const auto fine = space_.candidates.host();
      const auto coarse = tentative.coarse_candidates.host();
      const TentativeReference<T, std::function<T(std::int32_t, std::int32_t)>,
                               std::function<T(std::int32_t, std::int32_t)>>
          expected(
              P0, partition_of(aggregates), dim, m, [&](std::int32_t i, std::int32_t j) { return fine.at(i, j); },
              [&](std::int32_t i, std::int32_t j) { return coarse.at(i, j); });
      if (std::string wrong = expected.wrong_pattern(); !wrong.empty()) return failed(std::move(wrong));
      Comparison all = compare<T>(expected.restored());
      all.merge(compare<T>(expected.gram()), "products of columns");
      return all;
    });
    if (hierarchy.options().smoothed())
      check_smoothed(l, "interpolation", rows, *graph, P0, tentative.coarse_candidates, P);
    else
      ledger.check(name(l, "interpolation"), exact_bound, [&] { return compare_matrices(P, P0); });
    const Rows<T> Q = transposed(rows_of(transfer.restriction()), Op::adjoint);
    if (hierarchy.restricts_by_adjoint())
      check_smoothed(l, "restriction", transposed(rows, Op::adjoint), *graph, P0, tentative.coarse_candidates, Q);
    else
      ledger.check(name(l, "restriction"), exact_bound, [&] { return compare_matrices(Q, P); });
    check_product(l, Q, rows, P);
    space_ = {m, std::move(tentative.coarse_candidates)};
  }

  /// P by `rows`, those of A; Q, whose adjoint restricts, by those of A^H.
  void check_smoothed(std::size_t l, std::string_view step, const Rows<T>& rows, const StrongGraph<std::int32_t>& graph,
                      const Rows<T>& P0, const Dense<T>& coarse_candidates, const Rows<T>& P) {
    const CheckedRows sample =
        CheckedRows::of(count_products(rows, P0) + std::ssize(rows.col) * space_.candidates.cols());
    const auto is_checked = [&](std::int32_t i, std::int32_t) { return sample.has(i); };
    check_rows(name(l, step), sample, running_error, [&] {
      const long double factor =
          hierarchy.options().interpolation_damping / static_cast<long double>(levels()[l]->max_eigenvalue.host()[0]);
      SmoothedReference<T, std::int32_t> expected(entries_where(rows, is_checked), graph_of(graph), space_.block_dim,
                                                  P0, space_.candidates.host(), coarse_candidates.host(),
                                                  {Exact<T>(factor), gamma<T>(2) * factor});
      const Rows<T> made = entries_where(P, is_checked);
      for (std::int32_t i = 0; i < P.rows; ++i)
        if (!sample.has(i)) expected.rows[as_size(i)].clear();
      made.for_places([&](std::int32_t i, std::size_t k) {  // rounding decides
        if (expected.undecided[as_size(i)]) expected.rows[as_size(i)][made.col[k]] = Bounded<T>(made.value[k]);
      });
      return compare_entries(made, EntriesOfRows<T>{expected.rows});
    });
  }

  /// With R = Q^H.
  void check_product(std::size_t l, const Rows<T>& Q, const Rows<T>& rows, const Rows<T>& P) {
    const CheckedRows sample = CheckedRows::of(count_products(rows, P));
    check_rows(name(l + 1, "matrix R A P"), sample, running_error, [&] {
      const auto expected =
          triple_product(entries_where(Q, [&](std::int32_t, std::int32_t j) { return sample.has(j); }), rows, P);
      return compare_entries(
          entries_where(rows_of(matrix(l + 1)), [&](std::int32_t i, std::int32_t) { return sample.has(i); }),
          EntriesOfProduct<T>{expected});
    });
  }

  // What is on a level.
  void check_smoother(std::size_t l, const Rows<T>& rows) {
    const MultigridLevel<T>& level = *levels()[l];
    using R = real_t<T>;
    ledger.check(name(l, "inverse diagonal"), running_error, [&] {
      const bool l1 = level.polynomial && !level.chebyshev;
      BoundedVector<R> expected;
      for (std::int32_t i = 0; i < rows.rows; ++i) {
        const long double diagonal = real_part(exact(rows.at(i, i)));
        BoundedSum<R> sum;
        for (std::size_t k = rows.begin(i); l1 && k < rows.end(i); ++k) {
          const long double size = modulus(exact(rows.value[k]));
          sum.add({diagonal < 0 ? -size : size, gamma<double>(4) * size});
        }
        if (!l1) sum.add({diagonal, 0});
        expected.push_back(diagonal == 0 ? Bounded<R>(R(0)) : quotient(Bounded<R>(R(1)), sum.result()));
      }
      return compare<R>(level.polynomial ? level.polynomial->inverse().host() : level.inverse.host(), expected);
    });
    ledger.check(name(l, "largest eigenvalue"), eigenvalue_bound, [&] { return compare_eigenvalue(level, rows); });
    if (level.polynomial) ledger.check(name(l, "polynomial"), running_error, [&] { return compare_polynomial(level); });
  }

  /// The bound by rows where it is that; else it is below, and above what the smoother bears.
  Comparison compare_eigenvalue(const MultigridLevel<T>& level, const Rows<T>& rows) const {
    const double found = level.max_eigenvalue.host()[0];
    const Bounded<double> bound = row_bound(rows);
    const bool estimated = level.definite && hierarchy.options().smoother.eigenvalue_steps > 0 &&
                           (level.chebyshev || hierarchy.options().smoothed());
    if (!estimated)
      return compare<double>(std::vector{found}, std::vector{bound.value > 0 ? bound : Bounded<double>(1)});
    if (!(found > 0)) return failed(fmt::format("it is {}", found));
    // The entries of D^-1 that sums are taken with are rounded.
    if (bound.value > 0 && found > (bound.value + bound.error) * (1 + gamma<T>(2)))
      return failed(
          fmt::format("it is {:.6g}, beyond the sums of rows, {:.6g}", found, static_cast<double>(bound.value)));
    const auto steps = static_cast<int>(std::min<std::int64_t>(30, 5 * max_products / (std::ssize(rows.col) + 1)));
    if (steps < 5) return undecided("a reference of enough steps would take too long");
    const double damping = hierarchy.options().interpolation_damping;
    double bears = level.chebyshev ? stable_range(fourth_kind_chebyshev(level.polynomial->degree(), 1)) : 3;
    if (hierarchy.options().smoothed() && damping > 0) bears = std::min(bears, 2 / damping);
    return compare_figure(static_cast<double>(ritz_values(rows, steps).greatest) / found, bears, true, "");
  }

  /// The factors of each step, {old, fresh, weight}.
  Comparison compare_polynomial(const MultigridLevel<T>& level) const {
    using R = real_t<T>;
    const int degree = level.polynomial->degree();
    const long double lambda = level.max_eigenvalue.host()[0];
    const SmootherPolynomial known = fourth_kind_chebyshev(degree, 1);
    BoundedVector<R> expected;
    for (int k = 0; k < degree; ++k) {
      const long double old = level.chebyshev ? (2.0L * k - 1) / (2.0L * k + 3) : 0,
                        fresh = level.chebyshev ? (8.0L * k + 4) / ((2.0L * k + 3) * lambda) : 1,
                        weight = level.chebyshev ? known.steps[as_size(k)].weight : 1;
      for (const long double factor : {old, fresh, weight})
        expected.emplace_back(factor, (gamma<R>(1) + gamma<double>(4)) * std::fabs(factor));
    }
    return compare<R>(level.polynomial->factors().host(), expected);
  }

  /// Columns of the inverse, as unit vectors show them, put back into the equations.
  void check_inverse(std::size_t l, const Rows<T>& rows) {
    const MultigridLevel<T>& level = *levels()[l];
    const detail::DenseFacts facts = level.dense->facts();
    const std::string own = name(l, "dense inverse");
    if (facts.singular > 0)
      return ledger.not_checked(own, fmt::format("{} columns have no pivot: the matrix is singular", facts.singular));
    ledger.check(own, inverse_bound, [&] { return compare_inverse(level, rows, facts.shift); });
    if (const std::int64_t stride = columns_of_inverse(rows.rows).stride; stride > 1)
      ledger.not_checked(own + ", other columns", fmt::format("every {}th of {} was checked", stride, rows.rows));
    if (level.kernel.size() > 0)
      ledger.check(name(l, "candidate of the kernel"), exact_bound,
                   [&] { return compare_bits<T>(level.kernel.host(), space_.candidates.values().host()); });
  }

  Comparison compare_inverse(const MultigridLevel<T>& level, const Rows<T>& rows, double shift) const {
    const std::size_t n = as_size(rows.rows);
    std::vector<T> X(n * n);  // by columns
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<T> unit(n);
      unit[j] = T(1);
      Array<T> x(std::ssize(unit), "x");
      level.dense->apply(ctx, array(unit, "b"), x);
      std::ranges::copy(x.host(), X.begin() + static_cast<std::ptrdiff_t>(j * n));
    }
    std::vector<Exact<T>> u(n);  // A + shift u u^H is what was inverted
    for (std::size_t i = 0; i < n && shift != 0; ++i) {
      const long double diagonal = modulus(exact(rows.at(static_cast<std::int32_t>(i), static_cast<std::int32_t>(i))));
      u[i] = exact(level.kernel.host()[i]) * Exact<T>(diagonal > 0 ? diagonal : 1);
    }
    const auto image = [&](const std::vector<Exact<T>>& x, bool moduli) {
      const auto taken = [&](const Exact<T>& a) { return moduli ? Exact<T>(modulus(a)) : a; };
      std::vector<Exact<T>> y(n);
      Exact<T> along{};
      for (std::size_t i = 0; i < n; ++i) along += taken(conjugated(u[i])) * x[i];
      for (std::size_t i = 0; i < n; ++i) {
        y[i] = Exact<T>(shift) * taken(u[i]) * along;
        for (std::size_t k = rows.begin(static_cast<std::int32_t>(i)); k < rows.end(static_cast<std::int32_t>(i)); ++k)
          y[i] += taken(exact(rows.value[k])) * x[as_size(rows.col[k])];
      }
      return y;
    };
    const long double elimination = 16 * static_cast<long double>(n) * std::numeric_limits<double>::epsilon();
    Equations<T> all;
    for (std::size_t j = 0; j < n; j += static_cast<std::size_t>(columns_of_inverse(rows.rows).stride)) {
      std::vector<Exact<T>> x(n), size(n), error(n);
      for (std::size_t i = 0; i < n; ++i) x[i] = exact(X[j * n + i]), size[i] = Exact<T>(modulus(x[i]));
      const std::vector<Exact<T>> spread = image(size, true);
      for (std::size_t k = 0; k < n; ++k)
        for (std::size_t i = 0; i < n; ++i) error[i] += Exact<T>(modulus(exact(X[k * n + i]))) * spread[k];
      for (std::size_t i = 0; i < n; ++i) error[i] = Exact<T>(elimination) * error[i] + Exact<T>(gamma<T>(1)) * size[i];
      const std::vector<Exact<T>> left = image(x, false), bound = image(error, true);
      for (std::size_t i = 0; i < n; ++i) {
        all.left.push_back(left[i]);
        all.right.push_back({Exact<T>(i == j ? 1 : 0), real_part(bound[i])});
      }
    }
    return compare<T>(all);
  }

  /// Dense products take little beside those that look for entries: ten times as many.
  static CheckedRows columns_of_inverse(std::int64_t n) { return CheckedRows::of(n * n * n / 10); }

  RepresentedSpace<T> space_;
};

/// In the precision L that the hierarchy is kept in.
template <class L, class T>
void check_amg(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection, const std::string& prefix,
               const AmgOptions& options) {
  const AnyMatrix<L> A = matrix_in<L>(ctx, s, selection);
  std::optional<AmgHierarchy<L>> made;
  try {
    made.emplace(ctx, options, A, s.coordinates.get());
  } catch (const InvalidArgument& refusal) {
    return note_refusal(ledger, selection, prefix + "levels", refusal.what());
  }
  const auto& [block_dim, columns] = made->space;
  check_hierarchy<L>(ledger, ctx, prefix, options, made->levels, A,
                     {block_dim, columns ? columns->clone() : constant_candidates<L>(ctx, rows(A), block_dim)});
}

}  // namespace

template <class T>
void check_hierarchy(Ledger& ledger, Context& ctx, const std::string& prefix, const AmgOptions& options,
                     const Hierarchy<T>& hierarchy, const AnyMatrix<T>& finest, RepresentedSpace<T> space) {
  const CheckedHierarchy<T> checked{ledger, ctx, prefix, options, hierarchy, finest};
  LevelChecks<T>(checked, std::move(space)).run();
  check_cycle(checked);
}

template <class T>
void check_multigrid(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square()) return;
  for (const PreconditionerOptions& chosen : selection.preconditioners) {
    const auto* options = std::get_if<AmgOptions>(&chosen);
    if (!options) continue;
    const std::string prefix = selection.whole_library ? "amg" + judging(*options).variant + ", " : "";
    if (is_kept_in_float32(chosen))
      check_amg<lower_t<T>>(ledger, ctx, s, selection, prefix, *options);
    else
      check_amg<T>(ledger, ctx, s, selection, prefix, *options);
  }
}

template <class T>
struct MultigridSuiteInstances {
  static constexpr std::tuple list{
      instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_multigrid),
      instance<void(Ledger&, Context&, const std::string&, const AmgOptions&, const Hierarchy<T>&, const AnyMatrix<T>&,
                    RepresentedSpace<T>)>(check_hierarchy)};
};
KRILL_INSTANTIATE(MultigridSuiteInstances);

}  // namespace krill::apps::verify

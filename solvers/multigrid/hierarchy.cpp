#include "solvers/multigrid/hierarchy.hpp"

#include <fmt/format.h>

#include "solvers/multigrid/level_report.hpp"
#include "solvers/multigrid/multigrid_passes.hpp"
#include "solvers/spectrum.hpp"
#include "sparse/coarsen/contract.hpp"
#include "sparse/coarsen/matching.hpp"
#include "sparse/coarsen/near_null_space.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/step_times.hpp"
#include "sparse/spgemm/spgemm.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

/// A level that is not smaller than the one before it by this factor is not worth its visits.
constexpr double min_reduction = 1.25;
/// Entries from which a level's products are looked at for a quicker form than CSR, where aggregates are plain: their
/// levels may have few different rows. Those of smoothed ones have not, and other forms save less than the look costs.
constexpr std::int64_t min_coded_entries = 1 << 20;

/// Where plain aggregates were quicker than smoothed ones (docs/results/multigrid-sweep, h200-multigrid.md): neighbors
/// pull alike, and rows have as many entries in the mean as on grids in three dimensions, 7 or 27.
struct PlainTuning {
  static constexpr double max_spread = 32, over_correction = 1.7;
  static constexpr bool takes(double mean_row) {
    return (mean_row > 6 && mean_row <= 8) || (mean_row > 20 && mean_row <= 32);
  }
};

/// f(A in CSR), where its offsets are of the width that the hierarchy was made with.
template <class Offset, class T, class F>
void with_rows(Context& ctx, const AnyMatrix<T>& A, F&& f) {
  with_csr(ctx, A, [&]<class Other>(const Csr<T, Other>& rows) {
    if constexpr (std::is_same_v<Other, Offset>)
      f(rows);
    else
      throw InvalidArgument("multigrid: the new values have row offsets of another width: make the hierarchy anew");
  });
}

template <class T, class Offset>
Csr<T, Offset> copy_of_matrix(Context& ctx, const Csr<T, Offset>& A) {
  return {A.cols(), copy_of(ctx, A.row_offsets()), copy_of(ctx, A.col_indices()), copy_of(ctx, A.values())};
}
template <class T>
Dense<T> copy_of_dense(Context& ctx, const Dense<T>& B) {
  return {B.rows(), B.cols(), copy_of(ctx, B.values()), B.order(), B.leading_dimension()};
}

}  // namespace

template <class T>
Hierarchy<T>::Hierarchy(Context& ctx, const MultigridOptions& options, const FinestLevel<T>& finest)
    : options_(options),
      make_smoothing_(finest.make_smoothing),
      hermitian_(finest.hermitian),
      cycle_(options.cycle, finest.hermitian, levels_) {
  if (!is_polynomial(options.smoother.type) && !make_smoothing_)
    throw InvalidArgument("multigrid: this smoother is a preconditioner, and there is none that makes it");
  require_size("multigrid: columns of the square matrix", krill::cols(finest.A), krill::rows(finest.A));
  const Stopwatch watch;
  with_csr(ctx, finest.A, [&](const auto& csr) { build(ctx, finest, csr); });
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = *levels_[l];
    const std::int64_t n = level.report.rows;
    if (l) level.b = Array<T>(n, "level b"), level.x = Array<T>(n, "level x");
    if (cycle_.has_krylov_steps(l)) level.krylov.emplace(n);
    level.report.bytes += static_cast<std::size_t>(n) * sizeof(T) * ((l ? 2 : 0) + (level.krylov ? 5 : 0));
    tell_cycle(level, cycle_.visits(l), cycle_.work_of(l).products);
  }
  cycle_.join_small_levels(ctx);
  ctx.synchronize();
  setup_ms_ = watch.milliseconds();
}

template <class T>
template <class Offset>
void Hierarchy<T>::build(Context& ctx, const FinestLevel<T>& finest, const Csr<T, Offset>& A) {
  Space space{finest.block_dim,
              std::make_shared<Dense<T>>(finest.candidates ? copy_of_dense(ctx, *finest.candidates)
                                                           : constant_candidates<T>(ctx, A.rows(), finest.block_dim)),
              finest.candidates == nullptr};
  require_size("multigrid: rows of the near null space", space.candidates->rows(), A.rows());
  const Csr<T, Offset>* rows = &A;
  const double limit = options_.growth_limit * static_cast<double>(A.nnz());
  double entries = 0;
  std::vector<StepTimes> times;
  for (std::unique_ptr<AnyMatrix<T>> coarse; rows;) {
    Level& level = *levels_.emplace_back(std::make_unique<Level>());
    level.A = std::move(coarse);
    const AnyMatrix<T>& stored = level.A ? *level.A : finest.A;
    if (level.A) rows = &std::get<Csr<T, Offset>>(*level.A);
    entries += static_cast<double>(rows->nnz());
    std::optional<Csr<T, Offset>> next;
    StepTimes& steps = times.emplace_back(ctx);
    if (rows->rows() <= options_.coarse_rows) {
      end(ctx, level, stored, space);
      steps.done("inverse");
    } else {
      multiply_by(ctx, level, stored, level.A ? nullptr : finest.products);
      steps.done("products");
      smooth(ctx, level, stored, levels_.size() - 1);
      steps.done("smoother");
      if (std::ssize(levels_) == options_.max_levels)
        note_end(rows->rows(), fmt::format("max_levels is {}", options_.max_levels));
      else
        next = coarsen_within(ctx, *rows, limit - entries, level, space, steps);
    }
    if (!next) break;
    coarse = std::make_unique<AnyMatrix<T>>(std::move(*next));
  }
  tell_levels(ctx, levels_, finest.A, times);
}

/// As coarsen(), of no more than `left` entries and what offsets count: nullopt, with a note, where it has more.
template <class T>
template <class Offset>
std::optional<Csr<T, Offset>> Hierarchy<T>::coarsen_within(Context& ctx, const Csr<T, Offset>& A, double left,
                                                           Level& level, Space& space, StepTimes& steps) {
  const LevelRoom room = level_room(left, std::numeric_limits<Offset>::max());
  try {
    return coarsen<Offset>(ctx, {A, room.max_entries, level, space, steps});
  } catch (const TooManyEntries& error) {
    note_end(A.rows(), room.by_offsets
                           ? error.what()
                           : fmt::format("with the next one levels would have more than growth_limit = {} times the "
                                         "entries of the finest",
                                         options_.growth_limit));
    return std::nullopt;
  }
}

template <class T>
void Hierarchy<T>::note_end(std::int64_t rows, std::string_view why) {
  end_ = fmt::format("multigrid: the last level has {} rows and is smoothed only: {}", rows, why);
}

template <class T>
std::vector<std::string> Hierarchy<T>::notes() const {
  std::vector<std::string> notes;
  if (hermitian_ && options_.restriction == RestrictionChoice::adjoint_matrix)
    notes.emplace_back("multigrid: the matrix is Hermitian, for which restriction adjoint_matrix changes nothing");
  if (!end_.empty()) notes.push_back(end_);
  for (std::string& note : level_notes(levels_)) notes.push_back(std::move(note));
  return notes;
}

template <class T>
void Hierarchy<T>::multiply_by(Context& ctx, Level& level, const AnyMatrix<T>& A, const Operator<T>* products) {
  level.products = products;
  if (products) return;
  const bool stays =
                 options_.reuse == HierarchyReuse::nothing || (options_.reuse == HierarchyReuse::hierarchy && level.A),
             few_kinds_of_rows = !level.A || !options_.smoothed(),
             coded = stays && few_kinds_of_rows && nnz(A) >= min_coded_entries;
  level.own_products = std::make_unique<MatrixOperator<T>>(A, coded ? SpmvMethod::smallest : SpmvMethod::in_place);
  level.own_products->prepare(ctx);
  level.products = level.own_products.get();
}

/// The diagonal, the largest eigenvalue and the polynomial of a level's smoother.
template <class T>
void Hierarchy<T>::smooth(Context& ctx, Level& level, const AnyMatrix<T>& A, std::size_t number) {
  const bool by_polynomial = is_polynomial(options_.smoother.type);
  Array<real_t<T>> inverse(krill::rows(A), "inverse diagonal");
  if (by_polynomial) {
    auto made = std::make_unique<PolynomialSmoother<T>>(*level.products, std::move(inverse));
    level.polynomial = made.get(), level.smoother = std::move(made);
  } else {
    level.inverse = std::move(inverse);
  }
  invert_diagonal(ctx, level, A, false);
  check_diagonal(level, number);
  if (options_.method == MultigridMethod::automatic) choose_method(level, A);
  level.definite = hermitian_ && level.diagonal.negatives == 0;
  level.chebyshev = options_.smoother.type == SmootherKind::chebyshev ||
                    (options_.smoother.type == SmootherKind::automatic && level.definite);
  const int degree = options_.smoother.degree;
  if (by_polynomial)
    level.polynomial->set_polynomial(ctx, level.chebyshev ? fourth_kind_chebyshev(degree, 1) : jacobi_steps(degree));
  else
    level.smoother = std::make_unique<PreconditionedSmoother<T>>(*level.products, make_smoothing_(ctx, A), degree);
  find_eigenvalue(ctx, level, true);
  follow_diagonal(ctx, level, A);
}

/// By what the finest level shows.
template <class T>
void Hierarchy<T>::choose_method(const Level& level, const AnyMatrix<T>& A) {
  const double mean_row = static_cast<double>(nnz(A)) / static_cast<double>(krill::rows(A));
  const bool plain = options_.near_null_space.type == CandidateKind::constant &&
                     options_.near_null_space.block_dim == 1 && PlainTuning::takes(mean_row) &&
                     level.diagonal.greatest <= PlainTuning::max_spread * level.diagonal.least;
  options_.method = plain ? MultigridMethod::aggregation : MultigridMethod::smoothed_aggregation;
  if (plain && options_.over_correction == 1) options_.over_correction = PlainTuning::over_correction;
}

/// A polynomial's factors, or the sums of rows in place of the diagonal.
template <class T>
void Hierarchy<T>::follow_diagonal(Context& ctx, Level& level, const AnyMatrix<T>& A) {
  if (level.chebyshev)
    level.polynomial->scale_polynomial(ctx, level.max_eigenvalue);
  else if (level.polynomial)
    invert_diagonal(ctx, level, A, true);
}

/// The same with new values.
template <class T>
void Hierarchy<T>::smooth_anew(Context& ctx, Level& level, const AnyMatrix<T>& A) {
  const bool interpolates_anew = options_.reuse == HierarchyReuse::aggregates && options_.smoothed(),
             needs_eigenvalue = level.chebyshev || interpolates_anew;
  level.smoother->update(ctx, A);
  invert_diagonal(ctx, level, A, !needs_eigenvalue);
  if (!needs_eigenvalue) return;
  find_eigenvalue(ctx, level, false);
  follow_diagonal(ctx, level, A);
}

template <class T>
Array<real_t<T>>& Hierarchy<T>::inverse_of(Level& level) {
  return level.polynomial ? level.polynomial->inverse() : level.inverse;
}

template <class T>
void Hierarchy<T>::invert_diagonal(Context& ctx, Level& level, const AnyMatrix<T>& A, bool l1) {
  with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    require_size("multigrid: rows of the matrix", csr.rows(), inverse_of(level).size());
    ctx.dispatch([&](const auto& where) {
      reduce_rows(where, InvertSmootherDiagonal<kernel_t<T>, Offset>{
                             csr.view(where), l1, inverse_of(level).write(where), level.facts.write(where)});
    });
  });
}

/// Of D^-1 A, or a bound of it, from the plain diagonal.
template <class T>
void Hierarchy<T>::find_eigenvalue(Context& ctx, Level& level, bool may_wait) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, 1, TakeRowBound{level.facts.read(where), level.max_eigenvalue.write(where)});
  });
  const int steps = options_.smoother.eigenvalue_steps;
  if (!level.definite || steps == 0 || !(level.chebyshev || options_.smoothed())) return;
  if (!level.lanczos) level.lanczos.emplace(inverse_of(level).size(), steps);
  auto& [process, d, w] = *level.lanczos;
  process.run(ctx, *level.products, inverse_of(level), d, w, level.max_eigenvalue, may_wait);
  if (options_.reuse == HierarchyReuse::nothing) level.lanczos.reset();
}

template <class T>
void Hierarchy<T>::check_diagonal(Level& level, std::size_t number) {
  level.diagonal = level.facts.host()[0];
  if (level.diagonal.bad_row != BadRow::none)
    throw InvalidArgument(
        fmt::format("multigrid: there is an entry that is not finite, or too large, in row {} of level {} (both count "
                    "from 0): look at the entries of the matrix (krill inspect), or scale it",
                    level.diagonal.bad_row, number));
}

/// Whether new values make coarser levels anew.
template <class T>
bool Hierarchy<T>::remakes_levels() const {
  return options_.reuse == HierarchyReuse::aggregates || options_.reuse == HierarchyReuse::interpolation;
}

/// The next level of A, and how to get there; nullopt where there is none that is worth it. Raises TooManyEntries
/// before the next level has its memory.
template <class T>
template <class Offset>
std::optional<Csr<T, Offset>> Hierarchy<T>::coarsen(Context& ctx, const Coarsening<Offset>& of) {
  const Csr<T, Offset>& A = of.A;
  Level& level = of.level;
  Space& space = of.space;
  StepTimes& steps = of.steps;
  const bool by_nodes = space.block_dim > 1,
             plain = options_.method == MultigridMethod::aggregation && !by_nodes && space.candidates->cols() == 1;
  const Strength strength = options_.strength.at(levels_.size() - 1);
  std::optional<Csr<T, Offset>> coarse;  // where the matching makes it
  const auto aggregated = [&]<class V>(const Csr<V, Offset>& nodes, const std::optional<StrongGraph<Offset>>& graph) {
    if (!options_.by_matching()) return aggregate_mis2(ctx, *graph, nodes);
    if constexpr (std::is_same_v<V, T>)
      if (plain && !remakes_levels()) {
        auto made = contract_matching(ctx, nodes, options_.matching_passes, strength, hermitian_);
        coarse = std::move(made.matrix);
        return std::move(made.aggregates);
      }
    return aggregate_matching(ctx, nodes, options_.matching_passes, strength, hermitian_);
  };
  const auto found = [&]<class V>(const Csr<V, Offset>& nodes) {
    std::optional<StrongGraph<Offset>> graph;  // matching looks at strength by itself
    if (options_.smoothed() || !options_.by_matching()) {
      graph = strong_graph(ctx, nodes, strength);
      steps.done("strength");
    }
    Aggregates aggregates = aggregated(nodes, graph);
    return std::pair(std::move(graph), std::move(aggregates));
  };
  auto [graph, aggregates] = by_nodes ? found(node_matrix(ctx, A, space.block_dim)) : found(A);
  steps.done("aggregates");
  const std::int64_t nodes = A.rows() / space.block_dim,
                     made = std::int64_t{aggregates.count} * space.candidates->cols();
  level.report.block_dim = space.block_dim;
  level.report.not_aggregated = nodes - aggregates.rows.size();
  if (aggregates.count == 0 || static_cast<double>(made) * min_reduction > static_cast<double>(A.rows())) {
    note_end(A.rows(), aggregates.count == 0 ? "no rows are bound strongly"
                                             : fmt::format("the next one would have {} of them", made));
    return std::nullopt;
  }
  tell_aggregates(ctx, level, aggregates);
  if (plain) return contracted(ctx, of, std::move(aggregates), std::move(coarse));
  Tentative<T, Offset> tentative =
      tentative_prolongator<T, Offset>(ctx, aggregates, space.block_dim, *space.candidates, space.are_finite);
  level.dead_columns = std::move(tentative.deficient);
  if (options_.smoothed()) return projected(ctx, of, std::move(*graph), std::move(tentative));
  Csr<T, Offset> P = std::move(tentative.P);
  steps.done("interpolation");
  Csr<T, Offset> R = transpose(ctx, P, Op::adjoint);
  steps.done("restriction");
  space = {space.candidates->cols(), std::make_shared<Dense<T>>(std::move(tentative.coarse_candidates)), true};
  return multiplied(ctx, of, std::move(P), std::move(R));
}

/// The next level of plain aggregates of rows; `made`: its matrix, where it is there.
template <class T>
template <class Offset>
Csr<T, Offset> Hierarchy<T>::contracted(Context& ctx, const Coarsening<Offset>& of, Aggregates aggregates,
                                        std::optional<Csr<T, Offset>> made) {
  using Plan = ContractionPlan<T, Offset>;
  const auto plan = made ? nullptr : std::make_shared<Plan>(ctx, of.A, aggregates, of.level.diagonal.longest_row);
  if ((made ? *made : plan->matrix()).nnz() > of.max_entries)
    throw TooManyEntries("multigrid: the next level is too large");
  of.steps.done("coarse matrix");
  Level& level = of.level;
  level.report.transfer_entries = level.report.aggregated;
  of.space.candidates = std::make_shared<Dense<T>>(constant_candidates<T>(ctx, aggregates.count, 1));
  auto transfer = std::make_unique<AggregateTransfer<T>>(std::move(aggregates), options_.correction_factor());
  const Aggregates& kept = transfer->aggregates();
  level.transfer = std::move(transfer);
  if (made) return std::move(*made);
  if (!remakes_levels()) return std::move(*plan).release();
  level.remaking_bytes = plan->bytes();
  level.recompute = [&kept, plan](Context& ctx, const AnyMatrix<T>& fine, AnyMatrix<T>& coarse) {
    with_rows<Offset>(ctx, fine, [&](const Csr<T, Offset>& a) {
      plan->update(ctx, a, kept);
      copy(ctx, plan->matrix().values(), std::get<Csr<T, Offset>>(coarse).values());
    });
  };
  return copy_of_matrix(ctx, plan->matrix());
}

/// The next level of smoothed aggregates.
template <class T>
template <class Offset>
Csr<T, Offset> Hierarchy<T>::projected(Context& ctx, const Coarsening<Offset>& of, StrongGraph<Offset> graph,
                                       Tentative<T, Offset> tentative) {
  const bool follows = options_.reuse == HierarchyReuse::aggregates;
  auto interpolation = std::make_shared<Interpolation<T, Offset>>(
      ctx,
      InterpolationParts<T, Offset>{std::move(graph), std::move(tentative), of.space.candidates, of.space.block_dim,
                                    options_.interpolation_damping},
      of.level.max_eigenvalue, of.A);
  of.steps.done("interpolation");
  if (restricts_by_adjoint()) interpolation->add_left(ctx, of.A);
  Csr<T, Offset> R = transpose(ctx, interpolation->Q(), Op::adjoint);
  of.steps.done("restriction");
  const std::int32_t m = of.space.candidates->cols();
  if (follows) {
    of.space = {m, std::shared_ptr<const Dense<T>>(interpolation, &interpolation->tentative().coarse_candidates), true};
    Csr<T, Offset> P = copy_of_matrix(ctx, interpolation->P());
    return multiplied(ctx, of, std::move(P), std::move(R), std::move(interpolation));
  }
  of.space = {m, std::make_shared<Dense<T>>(std::move(*interpolation).release_tentative().coarse_candidates), true};
  Csr<T, Offset> P = std::move(*interpolation).release_P();
  interpolation.reset();
  return multiplied(ctx, of, std::move(P), std::move(R));
}

/// R A P. With an interpolation, new values of A are new ones of P and R, too.
template <class T>
template <class Offset>
Csr<T, Offset> Hierarchy<T>::multiplied(Context& ctx, const Coarsening<Offset>& of, Csr<T, Offset> P, Csr<T, Offset> R,
                                        std::shared_ptr<Interpolation<T, Offset>> interpolation) {
  using Matrix = Csr<T, Offset>;
  // A product that is computed once has no use for a list; one whose Q changes transposes it itself.
  SpgemmOptions options{.with_values = true, .max_entries = of.max_entries};
  options.blocks = {of.space.block_dim, of.level.report.block_dim, of.space.block_dim};
  if (!remakes_levels()) options.max_list_bytes = 0;
  const Matrix& factor = interpolation ? interpolation->Q() : R;
  auto product = std::make_shared<TripleProductPlan<T, Offset>>(ctx, interpolation ? Op::adjoint : Op::none, factor,
                                                                of.A, P, options);
  of.steps.done("coarse matrix");
  Level& level = of.level;
  level.report.transfer_entries = P.nnz();
  auto transfer = std::make_unique<MatrixTransfer<T>>(ctx, std::move(P), std::move(R), options_.correction_factor());
  MatrixTransfer<T>& kept = *transfer;
  level.transfer = std::move(transfer);
  if (!remakes_levels()) return std::move(*product).release();
  level.remaking_bytes = product->bytes() + (interpolation ? interpolation->bytes() : 0);
  level.recompute = [&kept, product, interpolation](Context& ctx, const AnyMatrix<T>& fine, AnyMatrix<T>& coarse) {
    with_rows<Offset>(ctx, fine, [&](const Matrix& a) {
      auto &p = std::get<Matrix>(kept.prolongation()), &r = std::get<Matrix>(kept.restriction());
      if (interpolation) {
        interpolation->update(ctx, a);
        copy(ctx, interpolation->P().values(), p.values());
        product->update(ctx, T(1), interpolation->Q(), a, p);
        copy(ctx, product->restriction(interpolation->Q()).values(), r.values());
      } else {
        product->update(ctx, T(1), r, a, p);
      }
      copy(ctx, product->matrix().values(), std::get<Matrix>(coarse).values());
    });
  };
  return copy_of_matrix(ctx, product->matrix());
}

/// The last level's inverse. One candidate may be what its matrix maps to nothing.
template <class T>
void Hierarchy<T>::end(Context& ctx, Level& level, const AnyMatrix<T>& A, const Space& space) {
  level.dense.emplace(static_cast<std::int32_t>(krill::rows(A)));
  if (space.candidates->cols() == 1 && krill::rows(A) > 1) {
    level.kernel = Array<T>(krill::rows(A), "kernel of the last level");
    copy(ctx, space.candidates->values(), level.kernel);
  }
  level.dense->set(ctx, A, level.kernel.size() ? &level.kernel : nullptr);
}

template <class T>
void Hierarchy<T>::update(Context& ctx, const AnyMatrix<T>& A) {
  const Stopwatch watch;
  recompute(ctx, A);
  ctx.synchronize();
  check();
  setup_ms_ = watch.milliseconds();
}

template <class T>
void Hierarchy<T>::recompute(Context& ctx, const AnyMatrix<T>& A) {
  if (options_.reuse == HierarchyReuse::nothing)
    throw InvalidArgument(
        "multigrid: a hierarchy with reuse nothing takes no new values: make it anew, or with reuse interpolation");
  const std::size_t levels = remakes_levels() ? levels_.size() : 1;
  for (std::size_t l = 0; l < levels; ++l) {
    Level& level = *levels_[l];
    const AnyMatrix<T>& stored = l ? *level.A : A;
    if (level.own_products) level.own_products->update(ctx);
    if (level.dense) level.dense->set(ctx, stored, level.kernel.size() ? &level.kernel : nullptr);
    if (level.smoother) smooth_anew(ctx, level, stored);
    if (level.recompute) level.recompute(ctx, stored, *levels_[l + 1]->A);
  }
}

template <class T>
void Hierarchy<T>::check() {
  for (std::size_t l = 0; l < levels_.size(); ++l) {
    Level& level = *levels_[l];
    if (level.dense) level.dense_facts = level.dense->facts();
    if (!level.smoother) continue;
    check_diagonal(level, l);
    level.report.max_eigenvalue = level.max_eigenvalue.host()[0];
  }
}

template <class T>
std::optional<std::int64_t> Hierarchy<T>::first_not_positive() const {
  const std::int32_t row = levels_[0]->diagonal.not_positive;
  return row == BadRow::none ? std::nullopt : std::optional<std::int64_t>(row);
}

template <class T>
std::vector<LevelReport> Hierarchy<T>::reports() const {
  std::vector<LevelReport> reports;
  for (const auto& level : levels_) reports.push_back(level->report);
  return reports;
}

template <class T>
std::size_t Hierarchy<T>::bytes() const {
  std::size_t sum = 0;
  for (const auto& level : levels_) sum += level->report.bytes;
  return sum;
}

KRILL_INSTANTIATE(Hierarchy);

}  // namespace krill

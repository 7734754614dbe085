#include "solvers/system/team_stages.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <tuple>

#include "solvers/method/type_name.hpp"
#include "solvers/precond/block_dim.hpp"
#include "solvers/precond/shared_isai.hpp"
#include "solvers/precond/shared_schwarz.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/core/team.hpp"
#include "sparse/core/trace.hpp"

namespace krill {
namespace {

bool chose(const SolveFacts& facts, std::string_view key) {
  return std::ranges::any_of(facts.choices, [&](const auto& choice) { return choice.key == key; });
}

/// Preconditioners whose application needs no rows of others, or gets them by products.
bool runs_in_team(const PreconditionerOptions& options) {
  return std::holds_alternative<NoPreconditioner>(options) || std::holds_alternative<JacobiOptions>(options) ||
         std::holds_alternative<BlockJacobiOptions>(options) || std::holds_alternative<ChebyshevOptions>(options) ||
         std::holds_alternative<IsaiOptions>(options) || std::holds_alternative<SchwarzOptions>(options);
}

/// What auto chose, of each rank's own rows, whose pivots may vanish where those of the whole matrix do not; none for
/// saddle points, whose parts are none.
std::optional<SchwarzOptions> of_own_rows(PreconditionerOptions M) {
  if (std::holds_alternative<SchurOptions>(M)) return {};
  if (auto* lu = std::get_if<Ilu0Options>(&M)) lu->shift.type = LuShift::nonzero;
  return SchwarzOptions{.inner = PartInverse{std::move(M)}};
}

/// Refuses what looks at more than the rows of a rank.
void require_local(const PreconditionerOptions& inside) {
  const PreconditionerOptions& M = innermost(inside);
  if (std::holds_alternative<LineOptions>(M))
    throw InvalidArgument(
        "preconditioner schwarz: inner line does not run on several ranks, as their rows are no whole grid; use inner "
        "tridiagonal, or one process");
  const auto* amg = std::get_if<AmgOptions>(&M);
  if (amg && amg->near_null_space.type != CandidateKind::constant)
    throw InvalidArgument(
        "preconditioner schwarz: inner amg takes near_null_space constant alone on several ranks; use that with its "
        "block_dim, or one process");
}

/// The size of diagonal blocks is settled for all ranks.
template <class T>
void settle_blocks(Context& ctx, PreconditionerOptions& options, const AnyMatrix<T>& A) {
  if (auto* blocks = std::get_if<BlockJacobiOptions>(&options))
    blocks->block_dim = detail::choose_block_dim(ctx, blocks->block_dim, max_block_jacobi_dim, A, 8).dim;
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_own(Context& ctx, const SolveOptions& options, const RowSlice<T>& rows,
                                            const AnyMatrix<T>& block, const DistributedOperator<T>& products,
                                            std::int64_t first_row) {
  if (const auto* inverse = std::get_if<IsaiOptions>(&options.preconditioner))
    return make_shared_isai(ctx, *inverse, rows, products.share());
  const auto* parts = std::get_if<SchwarzOptions>(&options.preconditioner);
  try {
    if (parts) return make_shared_schwarz(ctx, *parts, rows, block, products.share());
    return make_preconditioner<T>(ctx, options.preconditioner, block, &products);
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(fmt::format(
        "{}\n  rows and columns are those of this rank{}, which begin at row {}{}", error.what(),
        parts && parts->overlap > 0 ? " in its parts" : "", first_row,
        std::holds_alternative<RowsPartition>(options.partition) ? "" : " of those that the partition orders"));
  }
}

}  // namespace

std::int64_t unit_of_rows(const PreconditionerOptions& options) {
  constexpr std::int64_t warp = 32;
  return std::lcm(warp, std::int64_t{block_dim_of(options)});
}

void require_shareable(SolveOptions& options, SolveFacts& facts) {
  if (std::holds_alternative<MultigridSolverOptions>(options.solver))
    throw InvalidArgument(
        "solver multigrid: its cycles do not run on several ranks; use solver pcg with preconditioner {type: schwarz, "
        "inner: amg}, which has a cycle of each rank's own rows (richardson with that is what comes nearest), or one "
        "process");
  if (std::holds_alternative<BandedOptions>(options.solver) || std::holds_alternative<DirectOptions>(options.solver))
    throw InvalidArgument(
        fmt::format("solver {}: it does not run on several ranks; use solver pcg, gmres or bicgstab, or one process",
                    type_name(options.solver)));
  PreconditionerOptions& M = options.preconditioner;
  if (!runs_in_team(M)) {
    const std::string_view refused = type_name(M);
    if (!chose(facts, "preconditioner"))
      throw InvalidArgument(fmt::format(
          "preconditioner {}: it does not run on several ranks; use schwarz, which has it or another one "
          "inside, of each rank's rows, isai, chebyshev (for Hermitian positive definite systems), block_jacobi, "
          "jacobi or none, or one process",
          refused));
    if (auto of_rows = of_own_rows(M)) {
      M = *std::move(of_rows);
      facts.notes.push_back(
          fmt::format("auto chose preconditioner {}, which each rank has of its own rows (schwarz)", refused));
    } else {
      if (needs_definite(options.solver))
        M = ChebyshevOptions{};
      else
        M = JacobiOptions{};
      facts.notes.push_back(
          fmt::format("auto chose preconditioner {}, which does not run on several ranks, and went on to {}", refused,
                      type_name(M)));
    }
  }
  const auto refuse_float32 = [&](KeptPrecision precision) {
    if (precision == KeptPrecision::float32)
      throw InvalidArgument(
          fmt::format("preconditioner {}: precision float32 does not run on several ranks; leave precision out, or use "
                      "one process",
                      type_name(M)));
  };
  if (const auto* polynomial = std::get_if<ChebyshevOptions>(&M)) refuse_float32(polynomial->precision);
  if (const auto* inverse = std::get_if<IsaiOptions>(&M)) refuse_float32(inverse->precision);
  if (const auto* parts = std::get_if<SchwarzOptions>(&M)) {
    refuse_float32(parts->precision);
    require_local(parts->inner->options);
  }
}

template <class T>
OwnRows<T> rows_of_rank(Context& host, Team& team, PreconditionerOptions& options, const PreparedSystem<T>& system,
                        std::optional<AnyMatrix<T>>& csr) {
  const AnyMatrix<T>& A = std::visit([]<class Matrix>(const Matrix&) { return is_csr<Matrix>; }, *system.A)
                              ? *system.A
                              : csr.emplace(to_csr(host, *system.A));
  if (!system.partition) {
    settle_blocks(host, options, *system.A);
    return share_rows(A, team, unit_of_rows(options), system.transformation.partition());
  }
  if (const auto* blocks = std::get_if<BlockJacobiOptions>(&options); blocks && blocks->block_dim == 0)
    throw InvalidArgument(
        "preconditioner block_jacobi: the size of its blocks is looked for in the whole matrix, and ranks have their "
        "own rows only; set block_dim");
  return with_csr(host, A, [&](const auto& rows) {
    return OwnRows<T>{*system.partition, slice_rows(rows, 0, rows.rows())};
  });
}

template <class T>
RankSystem<T>::RankSystem(Context& ctx, const SolveOptions& options, const Distributed<T>& own,
                          const RowSlice<T>& rows) {
  const std::int64_t first_row = own.partition().begin(own.team().rank());
  const bool is_block = std::visit([]<class Matrix>(const Matrix&) { return is_csr<Matrix>; }, own.block());
  const AnyMatrix<T>& block =
      is_block ? own.block() : block_.emplace(columns_of(ctx, rows, first_row, first_row + own.rows()));
  // Chebyshev bounds eigenvalues by sums over whole rows.
  if (std::holds_alternative<ChebyshevOptions>(options.preconditioner)) rows_ = in_places(ctx, rows, own.halo());
  products_.emplace(own, rows_ ? &*rows_ : nullptr);
  preconditioner_ = make_own(ctx, options, rows, block, *products_, first_row);
}

template <class T>
std::size_t RankSystem<T>::bytes() const {
  return (block_ ? krill::bytes(*block_) : 0) + (rows_ ? krill::bytes(*rows_) : 0);
}

template <class T>
void solve_in_team(Context& ctx, SolveOptions& options, const PreparedSystem<T>& system, const Array<T>& b, Array<T>& x,
                   SolveFacts& facts, const std::function<void()>& prepared, const Watch& watch,
                   const ColumnWatch& solved) {
  Team& team = *ctx.team;
  Stopwatch clock;
  require_shareable(options, facts);
  std::optional<Context> beside;  // whose are the matrix and its rows
  Context& host = ctx.on_cuda() ? beside.emplace(Context::host(ctx.threads())) : ctx;
  std::optional<AnyMatrix<T>> csr;
  const auto [partition, slice] = rows_of_rank(host, team, options.preconditioner, system, csr);
  const Distributed<T> own(ctx, team, partition, slice, options.format, options.layout);
  ctx.synchronize();
  facts.products = own.report();
  facts.timings.products += clock.lap();

  const RankSystem<T> mine(ctx, options, own, slice);
  ctx.synchronize();
  facts.timings.preconditioner_setup = clock.lap();
  facts.preconditioner = mine.preconditioner().report();
  for (const std::string& note : facts.preconditioner.notes) facts.notes.push_back(note);
  measure_contraction<T>(ctx, options, mine.products(), mine.preconditioner(), facts);

  RankReport times{own.part(), facts.timings.products + facts.timings.preconditioner_setup, 0};
  prepared();
  clock.lap();
  KeptSolver<T> solver(options.solver, mine.products(), mine.preconditioner());
  {
    const TraceRange range("solve");
    solve_columns(ctx, solver, system, b, x, facts, watch, solved);
  }
  facts.timings.solve = times.solve_ms = clock.lap();
  facts.ranks = gather_records(team, times);
  if (const double uneven = imbalance(facts.ranks); uneven >= 1.1)
    facts.notes.push_back(
        fmt::format("the ranks' parts are uneven: the largest costs {:.2f} times the mean one; the others wait for it, "
                    "so fewer ranks may be as quick",
                    uneven));
  facts.memory_bytes = bytes(*system.A) + (system.original ? bytes(*system.original) : 0) + bytes(own.block()) +
                       own.bytes() + mine.bytes() + facts.preconditioner.bytes + solver.bytes() +
                       ctx.workspace_bytes() + sizeof(T) * static_cast<std::size_t>(b.size() + x.size());
  facts.memory_peak_bytes = ctx.memory_use().peak;
}

template <class T>
struct TeamStagesInstances {
  static constexpr std::tuple list{
      instance<OwnRows<T>(Context&, Team&, PreconditionerOptions&, const PreparedSystem<T>&,
                          std::optional<AnyMatrix<T>>&)>(rows_of_rank),
      instance<void(Context&, SolveOptions&, const PreparedSystem<T>&, const Array<T>&, Array<T>&, SolveFacts&,
                    const std::function<void()>&, const Watch&, const ColumnWatch&)>(solve_in_team)};
};
KRILL_INSTANTIATE(RankSystem);
KRILL_INSTANTIATE(TeamStagesInstances);

}  // namespace krill

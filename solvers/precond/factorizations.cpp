#include "solvers/precond/block_dim.hpp"
#include "solvers/precond/factored.hpp"
#include "solvers/precond/options.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/device.hpp"
#include "sparse/factor/fill.hpp"
#include "sparse/factor/fixed_point_threshold.hpp"
#include "sparse/factor/incomplete.hpp"
#include "sparse/factor/threshold.hpp"
#include "sparse/io/host_memory.hpp"

namespace krill {

using namespace detail;
namespace {

template <class Factor>
inline constexpr bool drops = false;
template <class T, class Offset>
inline constexpr bool drops<ThresholdFactor<T, Offset>> = true;

/// For what is made of fill: the matrix with it, its factor and the triangles, beside the pattern on the host.
template <class T, class Offset>
FillRoom room_for_fill(Context& ctx) {
  constexpr std::size_t of_value = sizeof(T) + sizeof(std::int32_t), matrices = 3 * of_value + sizeof(Offset),
                        of_pattern = 2 * sizeof(std::int32_t) + sizeof(Offset);
  FillRoom on_host{available_memory(), of_pattern + (ctx.on_cuda() ? 0 : matrices)};
  ctx.dispatch([&](const auto& where) {
    const Cuda* cuda = where.cuda();
    if (!cuda) return;
    const FillRoom on_device{device::free_memory(cuda->device), matrices, cuda->device};
    if (on_device.max_entries() < on_host.max_entries()) on_host = on_device;
  });
  return on_host;
}

/// The zeros that A gets before it is factored, and what a report tells of them.
struct AddedZeros {
  std::int32_t block_dim = 1;
  double ms = 0;
  std::vector<Fact> facts = {};

  explicit AddedZeros(const BlockDim& blocks) : block_dim(blocks.dim), ms(blocks.ms) {
    if (!blocks.from.empty()) facts = {{"block_dim", std::int64_t{blocks.dim}}, {"block_dim_from", blocks.from}};
  }
  template <class T, class Offset>
  AddedZeros(const FactorRecipe& o, const FilledMatrix<T, Offset>& filled, double with_ms)
      : ms(with_ms),
        facts{o.growth ? Fact{"cycles", std::int64_t{o.growth->cycles}} : Fact{"level", std::int64_t{filled.level()}},
              {"fill_ratio", filled.fill_ratio()}} {
    if (!o.growth) facts.push_back({"fill_found_on", std::string("host")});
  }

  void tell(PreconditionerReport& report) const {
    report.symbolic_ms += ms;
    report.facts.insert(report.facts.end(), facts.begin(), facts.end());
  }
};

/// The nonlinear residual of sweeps over the norm of A.
template <class T, class Offset>
void tell_residual(Context& ctx, const Csr<T, Offset>& A, double shift, auto& made) {
  Array<double> norm(1, "norm of the matrix");
  norm2(ctx, A.values(), norm);
  const double size = norm.host()[0];
  made.report.facts.push_back({"sweeps", std::int64_t{made.factor.sweeps()}});
  if (size > 0) made.report.facts.push_back({"nonlinear_residual", made.factor.residual_norm(ctx, A, shift) / size});
}

/// Factors A, with the analysis of an earlier one where there is one.
template <class Factor, class T, class Offset>
void factor(Context& ctx, const FactorRecipe& o, const AddedZeros& zeros, const Csr<T, Offset>& A,
            std::optional<TimedFactor<Factor, Csr<T, Offset>>>& made) {
  const std::optional<PivotBoost<T>> boost = pivot_boost(ctx, o, A);
  if (!made || made->boost != boost) {
    if constexpr (by_sweeps<Factor>)
      made.emplace(ctx, A, o.kind, boost, o.sweeps);
    else if constexpr (drops<Factor>)
      made.emplace(ctx, A, o.kind, boost, o.drops.value(), room_for_fill<T, Offset>(ctx));
    else
      made.emplace(ctx, A, o.kind, boost);
  }
  zeros.tell(made->report);
  double shift = 0;
  if (o.kind == Factorization::ilu0)
    factor_lu(*made, o, boost, zeros.block_dim);
  else
    shift = factor_cholesky(*made, o.type, o.cholesky_shift, zeros.block_dim);
  if constexpr (by_sweeps<Factor>) tell_residual(ctx, A, shift, *made);
  if constexpr (drops<Factor>) {
    made->report.facts.push_back({"fill_ratio", made->factor.fill_ratio()});
    made->report.facts.push_back({"factored_on", std::string("host")});
    if (o.drops->pivoting > 0) made->report.facts.push_back({"moved_pivots", std::int64_t{made->factor.moved()}});
  }
}

/// use(A in CSR), with the zeros that fill up its blocks where there are some.
template <class T, class Use>
decltype(auto) with_entries(Context& ctx, const BlockDim& blocks, const AnyMatrix<T>& A, Use&& use) {
  if (blocks.from.empty()) return with_csr(ctx, A, use);
  const AnyMatrix<T> filled = with_csr(ctx, A, [&](const auto& csr) {
    return AnyMatrix<T>(to_bsr(ctx, csr, Blocking{blocks.dim, blocks.dim}));
  });
  return with_csr(ctx, filled, use);
}

template <class T>
BlockDim blocks_of(Context& ctx, const FactorRecipe& o, const AnyMatrix<T>& A) {
  return o.block_dim ? choose_block_dim(ctx, *o.block_dim, largest_block_dim, A) : BlockDim();
}

/// A: with those zeros; with: makes that of new values, as refactor_by() takes it.
template <class Factor, class T, class Offset, class With>
MadePreconditioner<T> make_from(Context& ctx, const FactorRecipe& o, const AddedZeros& zeros, const Csr<T, Offset>& A,
                                With with) {
  using Made = TimedFactor<Factor, Csr<T, Offset>>;
  std::optional<Made> made;
  factor<Factor>(ctx, o, zeros, A, made);
  auto refactor = refactor_by<Made, T, Offset>(
      o.type, std::move(with),
      [o, zeros](Context& on, const Csr<T, Offset>& a, auto& again) { factor<Factor>(on, o, zeros, a, again); });
  const LevelSchedule* levels = nullptr;
  Made& first = made.value();  // NOLINT(bugprone-unchecked-optional-access): factor() has made it
  if constexpr (!by_sweeps<Factor>) levels = &first.factor.schedule();
  return std::make_unique<Factored<T, Offset>>(ctx, first.factor.matrix(), o.kind, o.solve, std::move(first.report),
                                               std::move(refactor), levels);
}

template <class T, class Offset>
FilledMatrix<T, Offset> with_fill(Context& ctx, const FactorRecipe& o, const Csr<T, Offset>& A) {
  const FillRoom room = room_for_fill<T, Offset>(ctx);
  if (o.growth) return fill_by_sweeps(ctx, A, o.kind, *o.growth, room, pivot_boost(ctx, o, A));
  return {ctx, A, o.kind, o.level.value_or(0), room};
}

/// The pattern of fill by levels is found again in the first update, and kept from then on, as the analysis of the
/// factor is. One that values have chosen is kept at once: other values would choose another.
template <class Factor, class T, class Offset>
MadePreconditioner<T> make_filled(Context& ctx, const FactorRecipe& o, const Csr<T, Offset>& A) {
  using Filled = FilledMatrix<T, Offset>;
  const Stopwatch watch;
  auto filled = std::make_shared<Filled>(with_fill(ctx, o, A));
  ctx.synchronize();
  return make_from<Factor>(ctx, o, AddedZeros(o, *filled, watch.milliseconds()), filled->matrix(),
                           [o, kept = std::make_shared<std::shared_ptr<Filled>>(o.growth ? filled : nullptr)](
                               Context& on, const AnyMatrix<T>& a, const auto& use) {
                             with_same_csr<Offset>(on, o.type, a, [&](const Csr<T, Offset>& csr) {
                               if (*kept)
                                 (*kept)->update(on, csr);
                               else
                                 *kept = std::make_shared<Filled>(with_fill(on, o, csr));
                               use((*kept)->matrix());
                             });
                           });
}

/// Its pattern follows the values, so other values are another preconditioner.
template <class T, class Offset>
MadePreconditioner<T> make_dropped(Context& ctx, const FactorRecipe& o, const Csr<T, Offset>& A) {
  using Factor = ThresholdFactor<T, Offset>;
  std::optional<TimedFactor<Factor, Csr<T, Offset>>> made;
  factor<Factor>(ctx, o, AddedZeros(BlockDim()), A, made);
  const auto refuse = [type = o.type](Context&, const AnyMatrix<T>&, const auto&) {
    throw InvalidArgument(fmt::format("preconditioner {}: its pattern follows the values; make it anew", type));
  };
  return std::make_unique<Factored<T, Offset>>(ctx, made->factor.matrix(), o.kind, o.solve, std::move(made->report),
                                               refuse, nullptr, copy_of(ctx, made->factor.columns()));
}

/// How much it takes is known by doing it.
template <class T, class Offset>
HeldMemory memory_of_dropped(MemoryLedger& ledger, Context& host, const FactorRecipe& o, const Csr<T, Offset>& A) {
  using Factor = ThresholdFactor<T, Offset>;
  std::optional<TimedFactor<Factor, Csr<T, Offset>>> made;
  factor<Factor>(host, o, AddedZeros(BlockDim()), A, made);
  const std::int64_t columns = made->factor.columns().size();
  HeldMemory during = csr_memory(ledger, made->factor.matrix());
  during += ledger.hold<std::int32_t>(columns);
  HeldMemory kept = ledger.hold<std::int32_t>(columns);
  kept += ledger.hold<T>(columns);
  ledger.scratch({1});  // of sums over the rows of its triangles
  kept += Factored<T, Offset>::memory(ledger, host, made->factor.matrix(), o.kind, o.solve);
  return kept;
}

template <class T, class Offset>
HeldMemory memory_from(MemoryLedger& ledger, Context& host, const FactorRecipe& o, const Csr<T, Offset>& A) {
  using Made = Factored<T, Offset>;
  if (o.sweeps > 0) {
    const HeldMemory factor = FixedPointFactor<T, Offset>::memory(ledger, A, o.kind);
    return Made::memory(ledger, host, A, o.kind, o.solve);
  }
  const LevelSchedule schedule = IncompleteFactor<T, Offset>::find_schedule(host, A, ledger.on_cuda());
  const HeldMemory factor = IncompleteFactor<T, Offset>::memory(ledger, host, A, o.kind, schedule);
  return Made::memory(ledger, host, A, o.kind, o.solve, &schedule);
}

/// What values choose is found on the host, and what that takes is what it would take.
template <class T, class Offset>
HeldMemory memory_of_filled(MemoryLedger& ledger, Context& host, const FactorRecipe& o, const Csr<T, Offset>& A) {
  host.restart_memory_peak();
  const std::size_t before = host.memory_use().now;
  const FilledMatrix<T, Offset> filled = with_fill(host, o, A);
  if (o.growth) {
    const HeldMemory most = ledger.hold(host.memory_use().peak - before);
  }
  HeldMemory with_zeros = csr_memory(ledger, filled.matrix());
  with_zeros += ledger.hold<Offset>(filled.matrix().nnz());  // sources of entries
  HeldMemory made = memory_from(ledger, host, o, filled.matrix());
  if (o.growth) made += std::move(with_zeros);
  return made;
}

}  // namespace

namespace detail {

template <class T>
MadePreconditioner<T> make_factored(Context& ctx, const FactorRecipe& o, const PreconditionerInput<T>& input) {
  if (o.level || o.growth)
    return with_csr(ctx, input.A, [&]<class Offset>(const Csr<T, Offset>& csr) {
      return o.growth ? make_filled<FixedPointFactor<T, Offset>>(ctx, o, csr)
                      : make_filled<IncompleteFactor<T, Offset>>(ctx, o, csr);
    });
  if (o.drops) return with_csr(ctx, input.A, [&](const auto& csr) { return make_dropped(ctx, o, csr); });
  const Stopwatch watch;
  BlockDim blocks = blocks_of(ctx, o, input.A);
  return with_entries(ctx, blocks, input.A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    if (o.block_dim) ctx.synchronize(), blocks.ms = watch.milliseconds();
    const auto with = [blocks](Context& on, const AnyMatrix<T>& a, const auto& use) {
      with_entries(on, blocks, a, use);
    };
    return o.sweeps > 0 ? make_from<FixedPointFactor<T, Offset>>(ctx, o, AddedZeros(blocks), csr, with)
                        : make_from<IncompleteFactor<T, Offset>>(ctx, o, AddedZeros(blocks), csr, with);
  });
}

template <class T>
HeldMemory factored_memory(MemoryLedger& ledger, Context& host, const FactorRecipe& o,
                           const PreconditionerInput<T>& input) {
  const auto of_entries = [&](const AnyMatrix<T>& A) {
    return with_csr_memory(ledger, host, A, [&](const auto& csr) {
      if (o.drops) return memory_of_dropped(ledger, host, o, csr);
      return o.level || o.growth ? memory_of_filled(ledger, host, o, csr) : memory_from(ledger, host, o, csr);
    });
  };
  if (!o.block_dim) return of_entries(input.A);
  const std::int32_t dim = blocks_of(host, o, input.A).dim;
  std::optional<AnyMatrix<T>> filled;
  const HeldMemory blocks = with_csr_memory(ledger, host, input.A, [&](const auto& csr) {
    filled.emplace(to_bsr(host, csr, Blocking{dim, dim}));
    return ledger.hold(bytes(*filled));
  });
  return of_entries(filled.value());  // NOLINT(bugprone-unchecked-optional-access): filled above
}

template <class T>
struct FactoredInstances {
  static constexpr std::tuple list{instance<Maker<T, FactorRecipe>>(make_factored),
                                   instance<MemoryOf<T, FactorRecipe>>(factored_memory)};
};
KRILL_INSTANTIATE(FactoredInstances);

}  // namespace detail
}  // namespace krill

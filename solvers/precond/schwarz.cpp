#include "solvers/precond/schwarz.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <vector>

#include "solvers/multigrid/dense_inverse.hpp"
#include "solvers/multigrid/multigrid_passes.hpp"
#include "solvers/precond/inverted_block.hpp"
#include "solvers/precond/make.hpp"
#include "solvers/precond/matrix_parts.hpp"
#include "solvers/precond/shared_schwarz.hpp"
#include "sparse/coarsen/contract.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/core/team.hpp"
#include "sparse/parallel/border_passes.hpp"
#include "sparse/parallel/exchange_rows.hpp"

namespace krill {

using namespace detail;
namespace {

bool holds_schwarz(const PreconditionerOptions& options) {
  if (const auto* inner = std::get_if<InnerSolverOptions>(&options)) return holds_schwarz(inner->inner->preconditioner);
  return std::holds_alternative<SchwarzOptions>(options);
}

void require_coarse_size(std::int64_t parts) {
  if (parts > SchwarzOptions::max_coarse)
    throw InvalidArgument(
        fmt::format("preconditioner schwarz: coarse constants is for {} parts at most, there are {}; take fewer parts, "
                    "or coarse none",
                    SchwarzOptions::max_coarse, parts));
}

/// Parts of a matrix as aggregates, with Z a one in the rows of each.
template <class T, class Offset>
AnyMatrix<T> contracted(Context& ctx, const Csr<T, Offset>& A, const Aggregates& parts) {
  return ContractionPlan<T, Offset>(ctx, A, parts).release();
}

/// Z^H A Z of the parts of all ranks, each of which adds up the rows of its own: `own` has them, parts `first` to
/// first + own.count - 1.
template <class T>
AnyMatrix<T> contracted(Context& ctx, Team& team, const RowSlice<T>& rows, const Aggregates& own, std::int32_t first,
                        const std::vector<std::int32_t>& part_of_all) {
  const std::int32_t parts = own.count / team.size(), all_parts = own.count;
  const auto width = static_cast<std::size_t>(all_parts);
  std::vector<T> mine(static_cast<std::size_t>(parts) * width), all(width * width);
  const auto offsets = own.offsets.host(), list = own.rows.host();
  for_blocks(ctx.host_tag(), parts, 1, rows.nnz(), [&](std::int64_t p, std::int64_t) {
    std::vector<wide_t<T>> sums(width);
    const auto part = static_cast<std::size_t>(first + p);
    for (auto k = static_cast<std::size_t>(offsets[part]); k < static_cast<std::size_t>(offsets[part + 1]); ++k)
      rows.for_entries(list[k], [&](std::int64_t column, const T& value) {
        sums[static_cast<std::size_t>(part_of_all[static_cast<std::size_t>(column)])] += wide_t<T>(value);
      });
    for (std::size_t q = 0; q < width; ++q) mine[static_cast<std::size_t>(p) * width + q] = T(sums[q]);
  });
  team.gather(mine.data(), all.data(), mine.size() * sizeof(T));
  std::vector<std::int32_t> row_offsets{0}, columns;
  std::vector<T> values;
  for (std::int32_t p = 0; p < all_parts; ++p) {
    for (std::int32_t q = 0; q < all_parts; ++q)
      if (const T value = all[static_cast<std::size_t>(p) * width + static_cast<std::size_t>(q)]; value != T(0))
        columns.push_back(q), values.push_back(value);
    row_offsets.push_back(static_cast<std::int32_t>(columns.size()));
  }
  return Csr<T>(all_parts, Array(std::move(row_offsets)), Array(std::move(columns)), Array<T>(std::move(values)));
}

/// z += Z (Z^H A Z)^-1 Z^H r, where Z is constant in each part. Of several ranks, each has its own rows of Z and the
/// whole inverse.
template <class T>
class Constants {
 public:
  /// own: the parts of this rank's rows, numbered among those of all ranks, of which each has `parts`; coarse: Z^H A Z.
  Constants(Context& ctx, Aggregates own, const AnyMatrix<T>& coarse, int parts, Team* team)
      : parts_(parts),
        team_(team),
        own_(std::move(own)),
        inverse_(rows(coarse)),
        ones_(std::vector<T>(static_cast<std::size_t>(rows(coarse)), T(1)), "constants"),
        sums_(rows(coarse), "sums of parts"),
        all_sums_(team ? rows(coarse) : 0, "sums of all parts"),
        corrections_(rows(coarse), "corrections of parts") {
    inverse_.set(ctx, coarse, &ones_);
  }

  void add(Context& ctx, const Array<T>& r, Array<T>& z) const {
    ctx.dispatch([&](const auto& where) {
      sum_parts(where, own_.count, own_.offsets.read(where), own_.rows.read(where), r.read(where), sums_.write(where));
    });
    if (team_) gather(ctx);
    inverse_.apply(ctx, team_ ? all_sums_ : sums_, corrections_);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, z.size(),
               AddAggregates<kernel_t<T>>{own_.of_row.read(where), 1, corrections_.read(where), z.update(where)});
    });
  }
  Work work() const {
    const auto n = static_cast<double>(own_.of_row.size());
    Work all{3 * n * sizeof(T) + 2 * n * sizeof(std::int32_t), n * multiply_add<T>};
    return all += inverse_.work();
  }
  std::size_t bytes() const {
    return inverse_.bytes() + bytes_of(own_.of_row, own_.offsets, own_.rows, ones_, sums_, all_sums_, corrections_);
  }
  static HeldMemory memory(MemoryLedger& ledger, std::int64_t rows, std::int64_t parts) {
    HeldMemory kept = ledger.hold<std::int32_t>(2 * rows + parts + 1);
    kept += ledger.hold<T>(3 * parts + parts * parts);
    kept += ledger.hold<wide_t<T>>(2 * parts * parts);
    return kept;
  }

 private:
  void gather(Context& ctx) const {
    const std::size_t bytes = static_cast<std::size_t>(parts_) * sizeof(T);
    const std::int64_t first = std::int64_t{team_->rank()} * parts_;
    ctx.dispatch([&](const auto& where) {
      const kernel_t<T>* mine = sums_.read(where) + first;
      kernel_t<T>* all = all_sums_.write(where);
      if constexpr (std::is_same_v<std::decay_t<decltype(where)>, Host>) {
        if (!where.skip.now()) team_->gather(mine, all, bytes);
      } else {
        team_->gather_on(where, mine, all, bytes);
      }
    });
  }

  int parts_;
  Team* team_;
  Aggregates own_;
  DenseInverse<T> inverse_;
  Array<T> ones_;
  mutable Array<T> sums_, all_sums_, corrections_;
};

/// The inverses of the parts, and what the coarse space adds.
template <class T>
class Schwarz final : public Preconditioner<T> {
 public:
  template <class Offset>
  Schwarz(Context& ctx, const SchwarzOptions& o, const AnyMatrix<T>& given, const Csr<T, Offset>& A,
          const Dense<double>* coordinates)
      : Schwarz(ctx, o, given, A, part_of_rows(ctx, o, A), nullptr, coordinates) {
    if (o.coarse == CoarseSpace::none) return;
    require_coarse_size(o.parts);
    Aggregates parts = list_aggregates(ctx, o.parts, Array<std::int32_t>(std::move(part_of_)));
    const AnyMatrix<T> coarse = contracted(ctx, A, parts);
    constants_.emplace(ctx, std::move(parts), coarse, o.parts, nullptr);
    tell(ctx, o);
  }

  /// Of a rank's rows, in parts as part_of says. given: their diagonal block; with a halo, own rows and ghosts in
  /// places.
  template <class Offset>
  Schwarz(Context& ctx, const SchwarzOptions& o, const RowSlice<T>& rows, const AnyMatrix<T>& given,
          const Csr<T, Offset>& A, std::vector<std::int32_t> part_of, const RowShare& share,
          std::unique_ptr<const HaloExchange<T>> halo)
      : Schwarz(ctx, o, given, A, std::move(part_of), std::move(halo), nullptr) {
    if (o.coarse == CoarseSpace::none) return;
    Team& team = *share.team;
    const std::int32_t all_parts = o.parts * team.size(), first = o.parts * team.rank();
    require_coarse_size(all_parts);
    for (std::int32_t& part : part_of_) part += first;
    const std::vector<std::int32_t> all = gather_rows<std::int32_t>(team, *share.partition, part_of_);
    Aggregates own = list_aggregates(ctx, all_parts, Array<std::int32_t>(std::move(part_of_)));
    const AnyMatrix<T> coarse = contracted(ctx, team, rows, own, first, all);
    constants_.emplace(ctx, std::move(own), coarse, o.parts, &team);
    tell(ctx, o);
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    const Context::TeamScope alone(ctx, nullptr);
    if (overlaps_) {
      take_rows(ctx, r);
      take(ctx, places_, inner_->apply(ctx, inner_r_, inner_z_), z);
    } else if (const Array<T>& found = inner_->apply(ctx, r, z); &found != &z) {
      axpby(ctx, T(1), found, T(0), z);
    }
    if (constants_) constants_->add(ctx, r, z);
    return z;
  }
  PreconditionerReport report() const override { return report_; }
  ApplicationWork work() const override {
    Work all = inner_.work();
    if (constants_) all += constants_->work();
    const double moved = static_cast<double>(rows_.size() + places_.size());
    return {all += {moved * (2 * sizeof(T) + sizeof(std::int32_t)), 0}};
  }
  bool varies() const override { return inner_->varies(); }
  int nested_solvers() const override { return inner_->nested_solvers(); }
  void require_definite(Context& ctx) const override {
    const Context::TeamScope alone(ctx, nullptr);
    inner_->require_definite(ctx);
  }
  void update(Context&, const AnyMatrix<T>&) override {
    throw InvalidArgument("preconditioner schwarz: it takes no new values; make it anew");
  }

 private:
  template <class Offset>
  Schwarz(Context& ctx, const SchwarzOptions& o, const AnyMatrix<T>& given, const Csr<T, Offset>& A,
          std::vector<std::int32_t> part_of, std::unique_ptr<const HaloExchange<T>> halo,
          const Dense<double>* coordinates)
      : part_of_(std::move(part_of)),
        halo_(std::move(halo)),
        overlaps_(halo_ || (o.overlap > 0 && o.parts > 1)),
        inner_(inverted(ctx, o, given, A, coordinates)) {
    tell(ctx, o);
  }
  /// The matrix of the parts, and its inverse, block by block.
  template <class Offset>
  InvertedBlock<T> inverted(Context& ctx, const SchwarzOptions& o, const AnyMatrix<T>& given, const Csr<T, Offset>& A,
                            const Dense<double>* coordinates) {
    constexpr const char* what = "schwarz";
    const PreconditionerOptions& wanted = o.inner->options;
    if (!overlaps_) {
      if (o.parts == 1) return InvertedBlock<T>(ctx, what, wanted, Ic0Options{}, given, coordinates);
      AnyMatrix<T> parts = inside_parts(ctx, A, Array<std::int32_t>(part_of_, "parts"));
      return InvertedBlock<T>(ctx, what, wanted, Ic0Options{}, std::move(parts), coordinates);
    }
    // Own rows are `low` and the next ones; those that others own have no part.
    const std::int64_t own = std::ssize(part_of_), low = halo_ ? halo_->plan().low() : 0;
    std::vector<std::int32_t> part_of(static_cast<std::size_t>(A.rows()), -1);
    std::ranges::copy(part_of_, part_of.begin() + low);
    const OverlappingParts overlapping(A, o.parts, part_of);
    std::vector<std::int32_t> rows = overlapping.rows;
    for (std::int32_t& row : rows)  // low ghosts follow own rows, then come high ones
      if (row < low + own) row = static_cast<std::int32_t>(row < low ? own + row : row - low);
    rows_ = Array<std::int32_t>(std::move(rows), "rows of parts");
    const auto place = overlapping.place.begin() + low;
    places_ = Array<std::int32_t>(std::vector(place, place + own), "places in parts");
    inner_r_ = Array<T>(rows_.size(), "schwarz r"), inner_z_ = Array<T>(rows_.size(), "schwarz z");
    if (o.parts == 1) return InvertedBlock<T>(ctx, what, wanted, Ic0Options{}, given);
    return InvertedBlock<T>(ctx, what, wanted, Ic0Options{}, AnyMatrix<T>(overlapping.matrix(ctx, A)));
  }
  /// inner_r_: r in the rows of the parts.
  void take_rows(Context& ctx, const Array<T>& r) const {
    if (!halo_) return take(ctx, rows_, r, inner_r_);
    halo_->start(ctx, r);
    halo_->finish(ctx);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, inner_r_.size(),
               TakePlacesAndGhosts<kernel_t<T>>{rows_.read(where), r.size(), r.read(where), halo_->ghosts().read(where),
                                                inner_r_.write(where)});
    });
  }
  static void take(Context& ctx, const Array<std::int32_t>& places, const Array<T>& from, Array<T>& to) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, to.size(), TakePlaces<kernel_t<T>>{places.read(where), from.read(where), to.write(where)});
    });
  }
  void tell(Context& ctx, const SchwarzOptions& o) {
    ctx.synchronize();
    const PreconditionerReport inner = inner_->report();
    report_.numeric_ms = inner.numeric_ms;
    report_.symbolic_ms = watch_.milliseconds() - report_.numeric_ms;
    report_.notes = inner.notes, report_.levels = inner.levels;
    report_.bytes = inner_.bytes() + (constants_ ? constants_->bytes() : 0) + (halo_ ? halo_->bytes() : 0) +
                    bytes_of(rows_, places_, inner_r_, inner_z_);
    report_.facts = {{"parts", std::int64_t{o.parts}}, {"inner", inner_.name()}};
    if (overlaps_) report_.facts.push_back({"rows_of_parts", rows_.size()});
  }

  Stopwatch watch_;
  std::vector<std::int32_t> part_of_;            // until the coarse space is made
  std::unique_ptr<const HaloExchange<T>> halo_;  // of parts that have rows of other ranks beside them
  bool overlaps_;
  Array<std::int32_t> rows_, places_;  // of parts that overlap; else empty
  mutable Array<T> inner_r_, inner_z_;
  InvertedBlock<T> inner_;
  std::optional<Constants<T>> constants_;
  PreconditionerReport report_;
};

}  // namespace

PcgFit SchwarzOptions::suits_pcg() const {
  if (overlap > 0) return {false, "overlap", "1", "0"};
  return krill::suits_pcg(inner->options);
}

std::string_view SchwarzOptions::varies() const { return krill::varies(inner->options); }

OptionConflict SchwarzOptions::conflict() const {
  const PreconditionerOptions& M = inner->options;
  if (holds_schwarz(M))
    return {{"inner"},
            "preconditioner.inner is schwarz, expected one that takes a part as a whole: schwarz does not stand inside "
            "of itself"};
  if (overlap > 0 && needs_given_order(M))
    return {{"overlap"},
            fmt::format("preconditioner.overlap is 1, expected 0 with preconditioner.inner {}, which needs the rows of "
                        "the matrix as they are",
                        std::visit([](const auto& o) { return o.type; }, innermost(M)))};
  OptionConflict inside = krill::conflict(M);
  inside.key.insert(inside.key.begin(), "inner");
  return inside;
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const SchwarzOptions& o, const PreconditionerInput<T>& input) {
  return with_csr(ctx, input.A, [&](const auto& csr) -> MadePreconditioner<T> {
    return std::make_unique<Schwarz<T>>(ctx, o, input.A, csr, input.coordinates);
  });
}

template <class T>
MadePreconditioner<T> make_shared_schwarz(Context& ctx, const SchwarzOptions& o, const RowSlice<T>& rows,
                                          const AnyMatrix<T>& block, const RowShare& share) {
  std::vector<std::int32_t> part_of = with_csr(ctx, block, [&](const auto& own) { return part_of_rows(ctx, o, own); });
  const auto made = [&](const AnyMatrix<T>& given, std::unique_ptr<const HaloExchange<T>> halo) {
    return with_csr(ctx, given, [&](const auto& A) -> MadePreconditioner<T> {
      return std::make_unique<Schwarz<T>>(ctx, o, rows, given, A, std::move(part_of), share, std::move(halo));
    });
  };
  if (o.overlap == 0) return made(block, nullptr);
  Team& team = *share.team;
  auto halo = std::make_unique<const HaloExchange<T>>(
      team, HaloPlan(team, *share.partition, ghost_columns(team, *share.partition, rows, ctx.host_tag())));
  const AnyMatrix<T> around = in_places(ctx, rows, import_rows(ctx, team, rows, halo->plan()).slice(), halo->plan());
  return made(around, std::move(halo));
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const SchwarzOptions& o, const PreconditionerInput<T>& input) {
  return with_csr_memory(ledger, host, input.A, [&]<class Offset>(const Csr<T, Offset>& A) {
    const std::vector<std::int32_t> part_of = part_of_rows(host, o, A);
    HeldMemory kept;
    const PreconditionerOptions& wanted = o.inner->options;
    if (o.parts == 1) {
      kept += InvertedBlock<T>::memory(ledger, host, wanted, Ic0Options{}, input.A, input.coordinates);
    } else if (o.overlap > 0) {
      const OverlappingParts overlapping(A, o.parts, part_of);
      kept += ledger.hold<std::int32_t>(std::ssize(overlapping.rows) + A.rows());
      kept += ledger.hold<T>(2 * std::ssize(overlapping.rows));
      {
        const auto [of_rows, of_both] = overlapping.product_entries(A);
        HeldMemory making = ledger.hold<T>(std::ssize(overlapping.rows) + of_rows + of_both);
        making += ledger.hold<std::int32_t>(std::ssize(overlapping.rows) + of_rows + of_both);
        making += ledger.hold<Offset>(3 * (std::ssize(overlapping.rows) + std::int64_t{1}));
        making += ledger.hold<double>(of_both);  // which entries stay
        making += csr_memory(ledger, overlapping.matrix(host, A));
      }
      kept += InvertedBlock<T>::memory(ledger, host, wanted, Ic0Options{}, AnyMatrix<T>(overlapping.matrix(host, A)));
    } else {
      AnyMatrix<T> parts = inside_parts(host, A, Array<std::int32_t>(part_of));
      kept += InvertedBlock<T>::memory(ledger, host, wanted, Ic0Options{}, std::move(parts), input.coordinates);
    }
    if (o.coarse != CoarseSpace::none) kept += Constants<T>::memory(ledger, A.rows(), o.parts);
    return kept;
  });
}

template <class T>
struct SchwarzMakers {
  static constexpr std::tuple list{
      instance<Maker<T, SchwarzOptions>>(make), instance<MemoryOf<T, SchwarzOptions>>(memory),
      instance<std::unique_ptr<Preconditioner<T>>(Context&, const SchwarzOptions&, const RowSlice<T>&,
                                                  const AnyMatrix<T>&, const RowShare&)>(make_shared_schwarz)};
};
KRILL_INSTANTIATE(SchwarzMakers);

}  // namespace krill

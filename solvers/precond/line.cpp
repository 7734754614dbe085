#include "solvers/precond/line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "solvers/precond/line_passes.hpp"
#include "solvers/precond/make.hpp"
#include "solvers/precond/tridiagonal.hpp"
#include "sparse/banded/banded_factor.hpp"
#include "sparse/banded/weak_rows.hpp"
#include "sparse/convert/to_banded.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

/// Tridiagonal parts of A to solve with, one after the other; the solutions are added up.
struct Lines {
  std::string_view type;
  OutsideBands outside;  ///< what becomes of other entries
  std::vector<BandLayout> parts;
  std::string direction;  ///< for reports; empty where there is no grid
  std::int64_t nx, ny;    ///< points of the grid
};

std::int64_t points(const LineOptions& o) {
  return std::int64_t{o.nx} * std::max(o.ny, 1) * std::int64_t{std::max(o.nz, 1)};
}

void require_grid(const LineOptions& o, std::int32_t rows) {
  require(o.nx > 0,
          "preconditioner line: the points of the grid are not known; set nx, and ny and nz where it has them");
  require(
      points(o) == rows,
      fmt::format("preconditioner line: {} x {} x {} points are {}, and the matrix has {} rows; set nx, ny and nz to "
                  "the points of its grid",
                  o.nx, std::max(o.ny, 1), std::max(o.nz, 1), points(o), rows));
}

template <class T>
Couplings couplings(Context& ctx, const AnyMatrix<T>& A, std::int64_t nx, std::int64_t ny) {
  Array<Couplings> result(1, "couplings");
  with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, csr.rows(), SumCouplings<kernel_t<T>, Offset>{csr.view(where), nx, ny, result.write(where)});
    });
  });
  return result.host()[0];
}

Lines lines_of(const LineOptions& o, const Couplings& c) {
  Lines lines{LineOptions::type, OutsideBands::refused_in_systems, {}, {}, o.nx, std::max(o.ny, 1)};
  const auto& strongest = *std::max_element(std::begin(c.along), std::end(c.along));
  for (int d = 0; d < 3; ++d) {
    const bool chosen = o.direction == LineDirection::all ? c.along[d] > 0
                        : o.direction == LineDirection::automatic
                            ? &c.along[d] == &strongest
                            : static_cast<int>(o.direction) - static_cast<int>(LineDirection::x) == d;
    if (!chosen) continue;
    lines.parts.push_back(BandLayout::lines(o.nx, std::max(o.ny, 1), std::max(o.nz, 1), d));
    lines.direction += (lines.direction.empty() ? "" : ", ") + std::string(1, "xyz"[d]);
  }
  if (lines.parts.empty()) return lines_of(LineOptions{o.nx, o.ny, o.nz, LineDirection::x}, c);  // a diagonal matrix
  return lines;
}

/// Raises InvalidArgument where A has entries that the lines have no place for.
template <class T>
Banded<T> bands_of(Context& ctx, const AnyMatrix<T>& A, const Lines& lines, const BandLayout& layout) {
  try {
    return with_csr(ctx, A, [&](const auto& csr) { return to_banded(ctx, csr, layout, 3, lines.outside); });
  } catch (const InvalidArgument& error) {
    throw InvalidArgument(
        fmt::format("preconditioner {}: {}; the grid is another, or its points are coupled with "
                    "more than their neighbors: check nx, ny, nz and direction",
                    lines.type, error.what()));
  }
}

BandedMethod method_of(const WeakRows& weak) {
  return weak.not_dominant.row == no_row ? BandedMethod::thomas : BandedMethod::lu;
}
/// Whether it is known without an elimination.
bool is_definite(const WeakRows& weak) { return weak.not_dominant.row == no_row && weak.not_positive.row == no_row; }

/// What solves with one part: a factor, or the bands and a plan where an elimination moves less. Of a factor the bands
/// go when it is made, unless they have to be looked at to know whether they are definite.
template <class T>
class Part {
 public:
  Part(Context& ctx, Banded<T> bands) : layout_(bands.layout()), bands_(std::move(bands)) {
    const WeakRows weak = weak_rows(ctx, *bands_);
    method_ = method_of(weak);
    if (BandedFactor<T>::keeps_matrices(ctx.on_cuda(), layout_, layout_, 3, method_))
      plan_.emplace(ctx, layout_, 3, method_);
    else
      factor_.emplace(ctx, *bands_, method_);
    release_bands(weak);
  }
  static HeldMemory memory(MemoryLedger& ledger, Context& host, const Banded<T>& bands) {
    const WeakRows weak = weak_rows(host, bands);
    const BandLayout& l = bands.layout();
    HeldMemory of_bands = ledger.hold<T>(3 * l.unknowns()), kept;
    const bool by_plan = BandedFactor<T>::keeps_matrices(ledger.on_cuda(), l, l, 3, method_of(weak));
    kept += by_plan ? BandedPlan<T>::memory(ledger, l, 3, method_of(weak))
                    : BandedFactor<T>::memory(ledger, l, l, 3, method_of(weak));
    if (by_plan) const HeldMemory ones = ledger.hold<T>(l.unknowns());
    if (by_plan || !is_definite(weak)) kept += std::move(of_bands);
    return kept;
  }

  const BandLayout& layout() const { return layout_; }
  BandedMethod method() const { return method_; }
  bool is_factored() const { return factor_.has_value(); }
  std::size_t bytes() const { return (bands_ ? bands_->bytes() : 0) + (factor_ ? factor_->bytes() : plan_->bytes()); }
  Work work() const { return factor_ ? factor_->work() : plan_->work(); }

  void solve(Context& ctx, const Array<T>& r, Array<T>& z) {
    factor_ ? factor_->solve(ctx, r, z) : plan_->solve(ctx, *bands_, r, z);
  }
  /// New values; the method stays.
  template <class Csr>
  void update(Context& ctx, const Csr& csr, OutsideBands outside) {
    if (!bands_) bands_ = Banded<T>::unspecified(layout_, 3);
    update_values(ctx, csr, *bands_, outside);
    if (!factor_) return;
    factor_->update(ctx, *bands_);
    release_bands(weak_rows(ctx, *bands_));
  }
  /// The place of a row whose pivot is 0. A plan finds it by a solve. Waits.
  std::optional<std::int64_t> zero_pivot(Context& ctx) {
    if (plan_) {
      Array<T> ones(layout_.unknowns(), "ones");
      fill(ctx, T(1), ones);
      solve(ctx, ones, ones);
    }
    const auto zero = factor_ ? factor_->zero_pivot() : plan_->zero_pivot();
    if (!zero) return std::nullopt;
    return layout_.at(zero->row, zero->system);
  }
  /// The first place whose row has a pivot that is not positive, where rows are eliminated in order: of rows that are
  /// not dominant, by an elimination on the host, O(n).
  std::optional<std::int64_t> negative_pivot(Context& ctx) const {
    if (!bands_ || is_definite(weak_rows(ctx, *bands_))) return std::nullopt;
    const auto below = bands_->band(-1).host(), on = bands_->band(0).host();
    for (std::int64_t j = 0; j < layout_.batch; ++j) {
      double pivot = 1;
      for (std::int64_t i = 0; i < layout_.rows; ++i) {
        const auto at = static_cast<std::size_t>(layout_.at(i, j));
        const double size = i == 0 ? 0 : static_cast<double>(std::abs(below[at]));
        pivot = static_cast<double>(std::real(on[at])) - size / pivot * size;
        if (!(pivot > 0)) return layout_.at(i, j);
      }
    }
    return std::nullopt;
  }

 private:
  void release_bands(const WeakRows& weak) {
    if (factor_ && is_definite(weak)) bands_.reset();
  }

  BandLayout layout_;
  BandedMethod method_;
  std::optional<Banded<T>> bands_;
  std::optional<BandedPlan<T>> plan_;
  std::optional<BandedFactor<T>> factor_;
};

/// Solves with tridiagonal parts of A.
template <class T>
class LineSolves final : public Preconditioner<T> {
 public:
  LineSolves(Context& ctx, const AnyMatrix<T>& A, Lines lines) : lines_(std::move(lines)), rows_(krill::rows(A)) {
    for (const BandLayout& layout : lines_.parts) parts_.emplace_back(ctx, bands_of(ctx, A, lines_, layout));
    if (parts_.size() > 1) room_ = Array<T>(rows_, "solution along lines");
    report_.symbolic_ms = watch_.lap();
    finish(ctx, A);
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    require_size(fmt::format("{}: r", lines_.type), r.size(), rows_);
    require_size(fmt::format("{}: z", lines_.type), z.size(), rows_);
    for (Part<T>& part : parts_) {
      const bool first = &part == &parts_.front();
      part.solve(ctx, r, first ? z : room_);
      if (!first) axpby(ctx, 1, room_, 1, z);
    }
    return z;
  }
  PreconditionerReport report() const override { return report_; }
  ApplicationWork work() const override {
    Work sum;
    for (const Part<T>& part : parts_) sum += part.work();
    const double added = static_cast<double>(parts_.size() - 1) * static_cast<double>(rows_);
    sum += {3 * added * sizeof(T), multiply_add<T> * added};
    return {sum};
  }

  /// The methods of elimination stay.
  void update(Context& ctx, const AnyMatrix<T>& A) override {
    if (krill::rows(A) != rows_ || krill::cols(A) != rows_) refuse_pattern(lines_.type);
    watch_.lap();
    with_csr(ctx, A, [&](const auto& csr) {
      for (Part<T>& part : parts_) part.update(ctx, csr, lines_.outside);
    });
    finish(ctx, A);
  }

  void require_definite(Context& ctx) const override {
    for (const Part<T>& part : parts_)
      if (const auto row = part.negative_pivot(ctx))
        refuse_row(lines_.type, *row, "there is a pivot that is not positive",
                   "the part of A is not positive definite; use preconditioner jacobi, or solver gmres");
  }

 private:
  /// Refuses a pivot that is 0; what reports tell. Waits.
  void finish(Context& ctx, const AnyMatrix<T>& A) {
    report_.bytes = detail::bytes_of(room_);
    for (Part<T>& part : parts_) {
      if (const auto row = part.zero_pivot(ctx))
        refuse_row(lines_.type, *row, "there is a pivot of 0", "the part of A is singular; use another preconditioner");
      report_.bytes += part.bytes();
    }
    report_.facts = facts(couplings(ctx, A, lines_.nx, lines_.ny));
    report_.numeric_ms = watch_.lap();
  }
  std::vector<Fact> facts(const Couplings& c) const {
    std::vector<Fact> facts;
    if (!lines_.direction.empty()) facts.push_back({"direction", lines_.direction});
    double kept = c.along[0] + c.along[1] + c.along[2];
    if (parts_.size() == 1) {
      const BandLayout& layout = parts_.front().layout();
      facts.push_back({"lines", std::int64_t{layout.batch}});
      facts.push_back({"rows_per_line", std::int64_t{layout.rows}});
      kept = c.along[lines_.direction.empty() ? 0 : lines_.direction[0] - 'x'];
    }
    facts.push_back({"share_of_couplings", c.all > 0 ? kept / c.all : 1});
    const auto method = static_cast<std::size_t>(parts_.front().method());
    facts.push_back({"method", std::string(banded_method_names[method])});
    facts.push_back({"solved_by", std::string(parts_.front().is_factored() ? "factor" : "elimination")});
    return facts;
  }

  Stopwatch watch_;
  Lines lines_;
  std::int32_t rows_;
  mutable std::vector<Part<T>> parts_;
  mutable Array<T> room_;
  PreconditionerReport report_;
};

template <class T>
HeldMemory memory_of(MemoryLedger& ledger, Context& host, const AnyMatrix<T>& A, const Lines& lines) {
  const std::int32_t rows = krill::rows(A);
  return with_csr_memory(ledger, host, A, [&](const auto&) {
    HeldMemory kept;
    for (const BandLayout& layout : lines.parts)
      kept += Part<T>::memory(ledger, host, bands_of(host, A, lines, layout));
    if (lines.parts.size() > 1) kept += ledger.hold<T>(rows);
    return kept;
  });
}

Lines one_line(std::int32_t rows) {
  return {TridiagonalOptions::type, OutsideBands::dropped, {BandLayout::single(rows)}, {}, rows, 1};
}

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const TridiagonalOptions&, const PreconditionerInput<T>& input) {
  return std::make_unique<LineSolves<T>>(ctx, input.A, one_line(krill::rows(input.A)));
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const TridiagonalOptions&, const PreconditionerInput<T>& input) {
  return memory_of(ledger, host, input.A, one_line(krill::rows(input.A)));
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const LineOptions& o, const PreconditionerInput<T>& input) {
  require_grid(o, krill::rows(input.A));
  return std::make_unique<LineSolves<T>>(ctx, input.A, lines_of(o, couplings(ctx, input.A, o.nx, std::max(o.ny, 1))));
}
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const LineOptions& o, const PreconditionerInput<T>& input) {
  require_grid(o, krill::rows(input.A));
  return memory_of(ledger, host, input.A, lines_of(o, couplings(host, input.A, o.nx, std::max(o.ny, 1))));
}

template <class T>
struct LineMakers {
  static constexpr std::tuple list{instance<Maker<T, TridiagonalOptions>>(make),
                                   instance<MemoryOf<T, TridiagonalOptions>>(memory),
                                   instance<Maker<T, LineOptions>>(make), instance<MemoryOf<T, LineOptions>>(memory)};
};
KRILL_INSTANTIATE(LineMakers);

}  // namespace krill

#include <fmt/format.h>

#include <algorithm>
#include <any>
#include <memory>
#include <optional>

#include "solvers/precond/isai_form.hpp"
#include "solvers/precond/make.hpp"
#include "solvers/precond/shared_isai.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/core/team.hpp"
#include "sparse/parallel/exchange_rows.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/spmv/work.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

/// The rows of a matrix whose rows of the inverse are made, and where they lie in the whole matrix: `shift` rows later.
struct InvertedRows {
  RowRange range = {};
  std::int64_t shift = 0;
};

/// Refuses the first row whose small system has no solution.
template <class T, class Offset>
void require_solved(std::string_view type, const SparseInverse<T, Offset>& inverse, std::int64_t shift = 0) {
  const auto singular = inverse.singular(), bad = inverse.not_finite();
  if (bad && (!singular || *bad < *singular))
    refuse_row(type, *bad + shift, "A(J, J) of its columns J, or the inverse of that, is not finite",
               "look at the entries of the matrix (krill inspect), or scale it");
  if (!singular) return;
  if (inverse.form() == InverseForm::general)
    refuse_row(type, *singular + shift, "A(J, J) of its columns J is singular",
               "use preconditioner ilu0 with shift: {type: nonzero}, or none");
  const auto first = inverse.matrix().row_offsets().host()[static_cast<std::size_t>(*singular)];
  const auto pivot = std::real(inverse.matrix().values().host()[static_cast<std::size_t>(first)]);
  refuse_row(type, *singular + shift,
             fmt::format("A(J, J) of its columns J is not positive definite (a pivot is {})", pivot),
             "use form general with solver gmres, or preconditioner none");
}

/// Of an inverse, or of a rank's rows of one.
struct InverseSize {
  std::int64_t nnz = 0;
  std::int32_t longest_row = 0, shortened_rows = 0;
};

void tell(PreconditionerReport& report, const IsaiOptions& o, InverseForm form, const InverseSize& size) {
  const IsaiForm named = form == InverseForm::factored ? IsaiForm::factored : IsaiForm::general;
  report.facts = {{"form", std::string(isai_form_names[static_cast<std::size_t>(named)])},
                  {"inverse_nonzeros", size.nnz},
                  {"longest_row", std::int64_t{size.longest_row}},
                  {"shortened_rows", std::int64_t{size.shortened_rows}}};
  if (size.shortened_rows > 0)
    report.notes.push_back(
        fmt::format("preconditioner {}: {} of the inverse kept {} entries next to the diagonal (most_entries)", o.type,
                    size.shortened_rows == 1 ? "1 row" : fmt::format("{} rows", size.shortened_rows), o.max_entries));
}

/// M or G, and how large it is. Laps of the watch are the report's times.
template <class T, class Offset>
std::pair<Csr<T, Offset>, InverseSize> make_inverse(Context& ctx, const IsaiOptions& o, const Csr<T, Offset>& A,
                                                    InverseForm form, Stopwatch& watch, PreconditionerReport& report,
                                                    const InvertedRows& rows = {}) {
  auto inverse = SparseInverse<T, Offset>::analyze(ctx, A, form, o.max_entries, rows.range);
  ctx.synchronize();
  report.symbolic_ms = watch.lap();
  if (const auto row = inverse.structural_zero())
    refuse_row(o.type, *row + rows.shift, "there is no entry on the diagonal",
               "set matching: {type: product}, or use preconditioner none");
  inverse.update(ctx, A);
  require_solved(o.type, inverse, rows.shift);
  report.numeric_ms = watch.lap();
  const InverseSize size{inverse.matrix().nnz(), inverse.longest_row(), inverse.shortened_rows()};
  return {std::move(inverse).matrix(), size};
}

/// z = M r, or z = G^H (G r).
template <class T>
class Isai final : public Preconditioner<T> {
 public:
  template <class Offset>
  Isai(Context& ctx, const IsaiOptions& o, const Csr<T, Offset>& A)
      : options_(o), inverse_(inverse_of(ctx, o, A)), products_(ctx, inverse_) {
    if (factored_) adjoint_.emplace(ctx, inverse_, Op::adjoint), work_ = Array<T>(A.rows(), "work of isai");
    ctx.synchronize();
    report_.symbolic_ms += watch_.lap();
    report_.bytes = krill::bytes(inverse_) + products_.bytes();
    if (adjoint_) report_.bytes += adjoint_->bytes() + detail::bytes_of(work_);
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    multiply(ctx, r, z, {});
    return z;
  }
  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>& rr, Array<T>& z,
                              Array<double>& rz) const override {
    if constexpr (is_complex<T>) {
      return Preconditioner<T>::apply_dot(ctx, r, rr, z, rz);
    } else {
      multiply(ctx, r, z, {&r, &rz});
      return {z, rz};
    }
  }
  PreconditionerReport report() const override { return report_; }
  ApplicationWork work() const override {
    const double products = factored_ ? 2 : 1;
    const std::int32_t n = products_.rows();
    return {{products * spmv_bytes<T>(static_cast<double>(products_.report().bytes), n, n, false),
             products * spmv_flops<T>(n, nnz(inverse_), false)}};
  }
  PreconditionerParts<T> parts() const override {
    return ProductParts<T>{&products_, factored_ ? &*adjoint_ : nullptr, &work_};
  }

  void update(Context& ctx, const AnyMatrix<T>& A) override {
    watch_.lap();
    std::visit(
        [&]<class Matrix>(Matrix& inverse) {
          if constexpr (is_csr<Matrix>) follow(ctx, A, inverse);
        },
        inverse_);
    products_.update(ctx);
    if (adjoint_) adjoint_->update(ctx);
    ctx.synchronize();
    report_.numeric_ms = watch_.lap();
  }
  bool has_adjoint() const override { return true; }
  /// G^H G is its own adjoint; M^H is multiplied with by a plan of its own, which the first application makes.
  const Array<T>& apply_adjoint(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    if (factored_) return apply(ctx, r, z);
    if (!adjoint_) adjoint_.emplace(ctx, inverse_, Op::adjoint);
    adjoint_->apply(ctx, T(1), r, T(0), z);
    return z;
  }

 private:
  /// The analysis is found again the first time: it is kept by those alone who ask for updates.
  template <class Offset>
  void follow(Context& ctx, const AnyMatrix<T>& A, Csr<T, Offset>& inverse) {
    with_same_csr<Offset>(ctx, options_.type, A, [&](const Csr<T, Offset>& csr) {
      const InverseForm form = factored_ ? InverseForm::factored : InverseForm::general;
      if (inverse_form(ctx, options_, csr) != form)
        throw InvalidArgument("preconditioner isai: form auto takes another form for the new values: make it anew");
      if (!kept_.has_value())
        kept_ = std::make_shared<SparseInverse<T, Offset>>(
            SparseInverse<T, Offset>::analyze(ctx, csr, form, options_.max_entries));
      auto& kept = *std::any_cast<std::shared_ptr<SparseInverse<T, Offset>>&>(kept_);
      kept.update(ctx, csr);
      require_solved(options_.type, kept);
      copy(ctx, kept.matrix().values(), inverse.values());
    });
  }

  void multiply(Context& ctx, const Array<T>& r, Array<T>& z, const Dots<T>& dots) const {
    if (!factored_) return products_.apply(ctx, T(1), r, T(0), z, dots);
    products_.apply(ctx, T(1), r, T(0), work_);
    adjoint_->apply(ctx, T(1), work_, T(0), z, dots);
  }

  template <class Offset>
  AnyMatrix<T> inverse_of(Context& ctx, const IsaiOptions& o, const Csr<T, Offset>& A) {
    const InverseForm form = inverse_form(ctx, o, A);
    factored_ = form == InverseForm::factored;
    auto [inverse, size] = make_inverse(ctx, o, A, form, watch_, report_);
    tell(report_, o, form, size);
    return std::move(inverse);
  }

  Stopwatch watch_;
  IsaiOptions options_;
  PreconditionerReport report_;
  bool factored_ = false;
  AnyMatrix<T> inverse_;  // M or G
  SpmvPlan<T> products_;
  mutable std::optional<SpmvPlan<T>> adjoint_;
  std::any kept_;                             // once there was an update: the SparseInverse, behind a shared pointer
  mutable Array<T> work_{0, "work of isai"};  // G r
};

/// The same of own rows of M, or of G and G^H.
template <class T>
class SharedIsai final : public Preconditioner<T> {
 public:
  SharedIsai(Context& ctx, const IsaiOptions& o, const RowSlice<T>& rows, const RowShare& share) {
    Stopwatch watch;
    Team& team = *share.team;
    const HaloPlan halo(team, *share.partition, ghost_columns(team, *share.partition, rows, ctx.host_tag()));
    const AnyMatrix<T> around = in_places(ctx, rows, import_rows(ctx, team, rows, halo).slice(), halo);
    with_csr(ctx, around, [&](const auto& A) { invert(ctx, o, A, halo, share, watch); });
    report_.symbolic_ms += watch.lap();
    for (const auto* part : {first_.get(), second_.get()})
      if (part) report_.bytes += krill::bytes(part->block()) + part->bytes();
    report_.bytes += detail::bytes_of(work_);
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    first_->apply(ctx, r, second_ ? work_ : z);
    if (second_) second_->apply(ctx, work_, z);
    return z;
  }
  PreconditionerReport report() const override { return report_; }
  ApplicationWork work() const override {
    ApplicationWork all;
    for (const auto* part : {first_.get(), second_.get()}) {
      if (!part) continue;
      const auto n = static_cast<std::int32_t>(part->rows());
      all.own += {spmv_bytes<T>(static_cast<double>(part->report().bytes), n, n, false),
                  spmv_flops<T>(n, part->part().nnz, false)};
    }
    return all;
  }

 private:
  /// A: own rows and ghosts.
  template <class Offset>
  void invert(Context& ctx, const IsaiOptions& o, const Csr<T, Offset>& A, const HaloPlan& halo, const RowShare& share,
              Stopwatch& watch) {
    Team& team = *share.team;
    const auto low = static_cast<std::int32_t>(halo.low()), end = low + static_cast<std::int32_t>(halo.own());
    const InvertedRows own{{low, end}, halo.begin() - low};
    const InverseForm form = inverse_form(ctx, o, A, own.range, &team);
    const auto [inverse, size] = make_inverse(ctx, o, A, form, watch, report_, own);
    InverseSize all;
    for (const InverseSize& each : gather_records(team, size)) {
      all.nnz += each.nnz, all.shortened_rows += each.shortened_rows;
      all.longest_row = std::max(all.longest_row, each.longest_row);
    }
    tell(report_, o, form, all);
    const auto distributed = [&](const RowSlice<T>& rows) {
      return std::make_unique<const Distributed<T>>(ctx, team, *share.partition, rows);
    };
    first_ = distributed(slice_rows(inverse, low, end, &halo));
    if (form != InverseForm::factored) return;
    const Csr<T, Offset> adjoint = transpose(ctx, inverse, Op::adjoint);
    second_ = distributed(export_rows(ctx, team, slice_rows(adjoint, 0, adjoint.rows(), &halo), halo).slice());
    work_ = Array<T>(first_->rows(), "work of isai");
  }

  PreconditionerReport report_;
  std::unique_ptr<const Distributed<T>> first_, second_;
  mutable Array<T> work_{0, "work of isai"};  // G r
};

}  // namespace

template <class T>
std::unique_ptr<Preconditioner<T>> make_shared_isai(Context& ctx, const IsaiOptions& o, const RowSlice<T>& rows,
                                                    const RowShare& share) {
  return std::make_unique<SharedIsai<T>>(ctx, o, rows, share);
}

template <class T>
MadePreconditioner<T> make(Context& ctx, const IsaiOptions& o, const PreconditionerInput<T>& input) {
  return with_csr(ctx, input.A,
                  [&](const auto& csr) -> MadePreconditioner<T> { return std::make_unique<Isai<T>>(ctx, o, csr); });
}

template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const IsaiOptions& o, const PreconditionerInput<T>& input) {
  return with_csr_memory(ledger, host, input.A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    const InverseForm form = inverse_form(host, o, csr);
    CsrSizes made;
    HeldMemory kept = SparseInverse<T, Offset>::memory(ledger, host, csr, form, o.max_entries, made);
    kept += SpmvPlan<T>::memory(ledger, made);
    if (form == InverseForm::general) return kept;
    kept += SpmvPlan<T>::memory(ledger, made, Op::adjoint);
    ledger.hold_later(static_cast<std::size_t>(csr.rows()) * sizeof(T));  // G r
    return kept;
  });
}

template <class T>
struct IsaiMakers {
  static constexpr std::tuple list{
      instance<Maker<T, IsaiOptions>>(make), instance<MemoryOf<T, IsaiOptions>>(memory),
      instance<std::unique_ptr<Preconditioner<T>>(Context&, const IsaiOptions&, const RowSlice<T>&, const RowShare&)>(
          make_shared_isai)};
};
KRILL_INSTANTIATE(IsaiMakers);

}  // namespace krill

#include "solvers/precond/schur.hpp"

#include <fmt/format.h>

#include <complex>
#include <memory>
#include <optional>
#include <vector>

#include "solvers/precond/make.hpp"
#include "solvers/precond/saddle_blocks.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/spmv/work.hpp"
#include "sparse/vector/sparse_dense.hpp"
#include "sparse/vector/work.hpp"

namespace krill {

using namespace detail;
namespace {

/// z1 = H~ r1, then z2 = S~ (G z1 - r2): the inverse of [H 0; G -S].
template <class T>
class Schur final : public Preconditioner<T> {
 public:
  template <class Offset>
  Schur(Context& ctx, const SchurOptions& o, const Csr<T, Offset>& A) : Schur(ctx, o, A.rows(), SaddleRows(A), A) {}

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    gather(ctx, r, r1_);
    gather(ctx, r, r2_);
    (*h_).apply(ctx, r1_.values(), z1_.values());
    times_g_.apply(ctx, T(1), z1_.values(), T(-1), r2_.values());
    (*s_).apply(ctx, r2_.values(), z2_.values());
    if (times_between_) {
      times_between_->apply(ctx, T(1), z2_.values(), T(0), r2_.values());
      (*s_).apply(ctx, r2_.values(), z2_.values());
    }
    axpby(ctx, T(1), z1_, T(0), z);
    scatter(ctx, z2_, z);
    return z;
  }
  PreconditionerReport report() const override { return report_; }
  ApplicationWork work() const override {
    ApplicationWork all{sparse_vector_work(r1_, 2)};
    const auto add = [&](const Work& work) { all.own += work; };
    const auto multiply = [&](const AnyMatrix<T>& A, bool with_beta) {
      add({spmv_bytes<T>(matrix_bytes(A), rows(A), cols(A), with_beta), spmv_flops<T>(rows(A), nnz(A), false)});
    };
    add(sparse_vector_work(r2_, 2));
    add(h_.work()), add(s_.work());
    multiply(g_, true);
    if (times_between_) add(s_.work()), multiply(between_, false);
    add({static_cast<double>(z1_.size()) * sizeof(T), 0});  // zeros between z1
    add(sparse_vector_work(z1_, 2)), add(sparse_vector_work(z2_, 2));
    return all;
  }
  void update(Context&, const AnyMatrix<T>&) override {
    throw InvalidArgument("preconditioner schur: its blocks follow the values; make it anew");
  }

 private:
  template <class Offset>
  Schur(Context& ctx, const SchurOptions& o, std::int32_t size, const SaddleRows& rows, const Csr<T, Offset>& A)
      : Schur(ctx, o, size, rows, SaddleBlocks<T, Offset>(ctx, o, A, rows)) {}
  template <class Offset>
  Schur(Context& ctx, const SchurOptions& o, std::int32_t size, const SaddleRows& rows,
        SaddleBlocks<T, Offset>&& blocks)
      : g_(std::move(blocks.g)),
        between_(blocks.between ? std::move(*blocks.between) : identity<T, Offset>(0)),
        times_g_(ctx, g_),
        h_(ctx, "schur, the first block", options_of(o.block), AmgOptions{}, AnyMatrix<T>(std::move(blocks.h))),
        s_(ctx, "schur, the Schur complement", options_of(o.complement), AmgOptions{},
           AnyMatrix<T>(std::move(blocks.s))),
        r1_(part(size, rows.of_h)),
        z1_(part(size, rows.of_h)),
        r2_(part(size, rows.of_constraints)),
        z2_(part(size, rows.of_constraints)) {
    if (o.form == SchurForm::least_squares) times_between_.emplace(ctx, between_);
    ctx.synchronize();
    tell(o);
  }
  static SparseVector<T> part(std::int32_t size, const std::vector<std::int32_t>& rows) {
    return {size, Array<std::int32_t>(rows), Array<T>(std::ssize(rows), "part of a vector")};
  }
  void tell(const SchurOptions& o) {
    for (const auto* inverse : {&*h_, &*s_}) {
      PreconditionerReport of_block = inverse->report();
      report_.numeric_ms += of_block.numeric_ms;
      report_.notes.insert(report_.notes.end(), of_block.notes.begin(), of_block.notes.end());
    }
    report_.symbolic_ms = watch_.milliseconds() - report_.numeric_ms;
    report_.bytes = krill::bytes(g_) + krill::bytes(between_) + times_g_.bytes() + h_.bytes() + s_.bytes() +
                    2 * (r1_.bytes() + r2_.bytes());
    report_.facts = {{"form", std::string(schur_form_names[static_cast<std::size_t>(o.form)])},
                     {"constraints", std::int64_t{r2_.nnz()}},
                     {"block", h_.name()},
                     {"complement", s_.name()}};
  }

  Stopwatch watch_;
  AnyMatrix<T> g_, between_;
  SpmvPlan<T> times_g_;
  std::optional<SpmvPlan<T>> times_between_;
  InvertedBlock<T> h_, s_;
  mutable SparseVector<T> r1_, z1_, r2_, z2_;
  PreconditionerReport report_;
};

}  // namespace

template <class T>
MadePreconditioner<T> make(Context& ctx, const SchurOptions& o, const PreconditionerInput<T>& input) {
  return with_csr(ctx, input.A,
                  [&](const auto& csr) -> MadePreconditioner<T> { return std::make_unique<Schur<T>>(ctx, o, csr); });
}

/// The blocks are made on the host, since patterns and what inverses keep hang on the values.
template <class T>
HeldMemory memory(MemoryLedger& ledger, Context& host, const SchurOptions& o, const PreconditionerInput<T>& input) {
  return with_csr_memory(ledger, host, input.A, [&]<class Offset>(const Csr<T, Offset>& A) {
    const SaddleRows rows(A);
    SaddleBlocks<T, Offset> blocks(host, o, A, rows);
    HeldMemory kept = csr_memory(ledger, blocks.g);
    kept += SpmvPlan<T>::memory(ledger, CsrSizes::of(blocks.g));
    if (blocks.between) {
      kept += csr_memory(ledger, *blocks.between);
      kept += SpmvPlan<T>::memory(ledger, CsrSizes::of(*blocks.between));
    }
    kept +=
        InvertedBlock<T>::memory(ledger, host, options_of(o.block), AmgOptions{}, AnyMatrix<T>(std::move(blocks.h)));
    kept += InvertedBlock<T>::memory(ledger, host, options_of(o.complement), AmgOptions{},
                                     AnyMatrix<T>(std::move(blocks.s)));
    for (const std::size_t part : {rows.of_h.size(), rows.of_constraints.size()})
      for (int vector = 0; vector < 2; ++vector) {
        kept += ledger.hold(part * sizeof(std::int32_t));
        kept += ledger.hold(part * sizeof(T));
      }
    return kept;
  });
}

template <class T>
struct SchurMakers {
  static constexpr std::tuple list{instance<Maker<T, SchurOptions>>(make), instance<MemoryOf<T, SchurOptions>>(memory)};
};
KRILL_INSTANTIATE(SchurMakers);

}  // namespace krill

#include "solvers/precond/lower_precision.hpp"

#include <algorithm>
#include <optional>

#include "solvers/precond/lower_precision_passes.hpp"
#include "solvers/precond/make.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

/// The block row, or row, of entry k.
template <class Offset>
std::int64_t row_of(const Array<Offset>& row_offsets, std::int64_t k) {
  const auto offsets = row_offsets.host();
  return std::ranges::upper_bound(offsets, static_cast<Offset>(k)) - offsets.begin() - 1;
}

/// Values in single precision; refuse(k) where value k overflows.
template <class T, class Refuse>
Array<lower_t<T>> lowered(Context& ctx, const Array<T>& values, Refuse&& refuse) {
  using Low = kernel_t<lower_t<T>>;
  Array<lower_t<T>> low(values.size(), "values in single precision");
  Array<FirstIndex> overflow(1, "first overflow");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, values.size(),
             LowerValues<kernel_t<T>, Low>{values.read(where), low.write(where), overflow.write(where)});
  });
  if (const FirstIndex first = overflow.host()[0]; first.value != FirstIndex{}.value) refuse(first.value);
  return low;
}

/// A matrix in CSR or BSR in single precision; what is in other formats, in CSR.
template <class T>
class Lowered {
 public:
  Lowered(Context& ctx, std::string_view type) : ctx_(ctx), type_(type) {}

  AnyMatrix<lower_t<T>> operator()(const AnyMatrix<T>& A) const {
    if (const auto* bsr = std::get_if<Bsr<T>>(&A)) return of(*bsr);
    return with_csr(ctx_, A, [&](const auto& csr) { return of(csr); });
  }

 private:
  template <class Offset>
  AnyMatrix<lower_t<T>> of(const Csr<T, Offset>& A) const {
    auto values = lowered(ctx_, A.values(), [&](std::int64_t k) { refuse(row_of(A.row_offsets(), k)); });
    return Csr<lower_t<T>, Offset>(A.cols(), copy_of(ctx_, A.row_offsets()), copy_of(ctx_, A.col_indices()),
                                   std::move(values));
  }
  AnyMatrix<lower_t<T>> of(const Bsr<T>& A) const {
    const Blocking& blocks = A.blocks();
    auto values = lowered(ctx_, A.values(), [&](std::int64_t k) {
      const std::int64_t at = k % blocks.size(),
                         in_block = blocks.order == BlockOrder::row_major ? at / blocks.col_dim : at % blocks.row_dim;
      refuse(row_of(A.row_offsets(), k / blocks.size()) * blocks.row_dim + in_block);
    });
    return Bsr<lower_t<T>>(A.rows(), A.cols(), blocks, copy_of(ctx_, A.row_offsets()), copy_of(ctx_, A.col_indices()),
                           std::move(values));
  }
  [[noreturn]] void refuse(std::int64_t row) const {
    refuse_row(type_, row, "there is a value beyond the range of float32", "use precision auto, or scale the matrix");
  }

  Context& ctx_;
  std::string_view type_;
};

template <class T>
class LowerPrecision final : public Preconditioner<T> {
 public:
  LowerPrecision(Context& ctx, std::string_view type, const AnyMatrix<T>& A, bool keeps_matrix,
                 const MakeLower<T>& make)
      : type_(type), r_(krill::rows(A), "r in single precision"), z_(krill::rows(A), "z in single precision") {
    const Stopwatch watch;
    A_ = Lowered<T>(ctx, type)(A);
    const double lowering_ms = watch.milliseconds();
    made_ = make(*A_);
    if (!keeps_matrix) A_.reset();
    tell(lowering_ms);
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    require_size("preconditioner: z", z.size(), z_.size());
    const Array<lower_t<T>>& low = apply_low(ctx, r);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, z.size(), ConvertVector<Low, High>{low.read(where), z.write(where)});
    });
    return z;
  }
  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>&, Array<T>& z,
                              Array<double>& rz) const override {
    require_size("preconditioner: z", z.size(), z_.size());
    const Array<lower_t<T>>& low = apply_low(ctx, r);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, z.size(), RaiseDot<Low, High>{low.read(where), r.read(where), z.write(where), rz.write(where)});
    });
    return {z, rz};
  }
  PreconditionerReport report() const override { return report_; }
  /// Of the one in single precision, and the two passes that convert r and z.
  ApplicationWork work() const override {
    ApplicationWork all = made_->work();
    all.own.bytes += 2.0 * static_cast<double>(r_.size()) * (sizeof(T) + sizeof(lower_t<T>));
    return all;
  }

  void update(Context& ctx, const AnyMatrix<T>& A) override {
    const Stopwatch watch;
    const AnyMatrix<lower_t<T>> low = Lowered<T>(ctx, type_)(A);
    const double lowering_ms = watch.milliseconds();
    if (A_) std::visit([&](auto& mine) { follow(ctx, low, mine); }, *A_);
    made_->update(ctx, A_ ? *A_ : low);
    tell(lowering_ms);
  }
  bool varies() const override { return made_->varies(); }
  int nested_solvers() const override { return made_->nested_solvers(); }
  void require_definite(Context& ctx) const override { made_->require_definite(ctx); }
  bool has_adjoint() const override { return made_->has_adjoint(); }
  const Array<T>& apply_adjoint(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    require_size("preconditioner: z", z.size(), z_.size());
    lower(ctx, r);
    const Array<lower_t<T>>& low = made_->apply_adjoint(ctx, r_, z_);
    ctx.dispatch([&](const auto& where) {
      run_pass(where, z.size(), ConvertVector<Low, High>{low.read(where), z.write(where)});
    });
    return z;
  }

 private:
  using High = kernel_t<T>;
  using Low = kernel_t<lower_t<T>>;

  void tell(double lowering_ms) {
    report_ = made_->report();
    report_.numeric_ms += lowering_ms;
    report_.bytes += detail::bytes_of(r_, z_) + (A_ ? bytes(*A_) : 0);
    report_.facts.push_back({"precision", std::string(is_complex<T> ? "complex64" : "float32")});
  }
  /// New values in the arrays that products go on with.
  template <class Matrix>
  void follow(Context& ctx, const AnyMatrix<lower_t<T>>& from, Matrix& to) const {
    const auto* same = std::get_if<Matrix>(&from);
    if constexpr (is_csr<Matrix> || std::is_same_v<Matrix, Bsr<lower_t<T>>>)
      if (same && same->values().size() == to.values().size()) return copy(ctx, same->values(), to.values());
    refuse_pattern(type_);
  }
  void lower(Context& ctx, const Array<T>& r) const {
    require_size("preconditioner: r", r.size(), r_.size());
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(), ConvertVector<High, Low>{r.read(where), r_.write(where)});
    });
  }
  const Array<lower_t<T>>& apply_low(Context& ctx, const Array<T>& r) const {
    lower(ctx, r);
    return made_->apply(ctx, r_, z_);
  }

  std::string_view type_;
  mutable Array<lower_t<T>> r_, z_;
  std::optional<AnyMatrix<lower_t<T>>> A_;
  MadePreconditioner<lower_t<T>> made_;  // may multiply with A_
  PreconditionerReport report_;
};

}  // namespace

template <class T>
MadePreconditioner<T> make_in_lower_precision(Context& ctx, std::string_view type, const AnyMatrix<T>& A,
                                              bool keeps_matrix, const MakeLower<T>& make) {
  return std::make_unique<LowerPrecision<T>>(ctx, type, A, keeps_matrix, make);
}

template <class T>
HeldMemory memory_in_lower_precision(MemoryLedger& ledger, Context& host, std::string_view type, const AnyMatrix<T>& A,
                                     bool keeps_matrix, const LowerMemory<T>& memory) {
  const AnyMatrix<lower_t<T>> low = Lowered<T>(host, type)(A);
  const auto lowered = [&] { return ledger.hold(bytes(low)); };
  HeldMemory matrix = std::holds_alternative<Bsr<T>>(A)
                          ? lowered()
                          : with_csr_memory(ledger, host, A, [&](const auto&) { return lowered(); });
  ledger.scratch({1});  // of the first value beyond the range
  HeldMemory kept = memory(low);
  if (keeps_matrix) kept += std::move(matrix);
  ledger.hold_later(2 * static_cast<std::size_t>(rows(A)) * sizeof(lower_t<T>));  // r and z
  return kept;
}

template MadePreconditioner<double> make_in_lower_precision(Context&, std::string_view, const AnyMatrix<double>&, bool,
                                                            const MakeLower<double>&);
template MadePreconditioner<std::complex<double>> make_in_lower_precision(Context&, std::string_view,
                                                                          const AnyMatrix<std::complex<double>>&, bool,
                                                                          const MakeLower<std::complex<double>>&);

template HeldMemory memory_in_lower_precision(MemoryLedger&, Context&, std::string_view, const AnyMatrix<double>&, bool,
                                              const LowerMemory<double>&);
template HeldMemory memory_in_lower_precision(MemoryLedger&, Context&, std::string_view,
                                              const AnyMatrix<std::complex<double>>&, bool,
                                              const LowerMemory<std::complex<double>>&);

}  // namespace krill

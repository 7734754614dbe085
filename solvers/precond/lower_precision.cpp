#include "solvers/precond/lower_precision.hpp"

#include <algorithm>
#include <optional>

#include "solvers/krylov_passes.hpp"
#include "solvers/operator.hpp"
#include "solvers/precond/lower_precision_passes.hpp"
#include "solvers/precond/make.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/spmv/work.hpp"
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

/// Matrices in CSR or BSR in single precision; what is in other formats, in CSR. Where values overflow, or all of them
/// nearly vanish there, it is a power of two times the matrix that is lowered, unless they span more than its range.
template <class T>
class Lowering {
 public:
  using Low = lower_t<T>;
  explicit Lowering(std::string_view type) : type_(type) {}

  AnyMatrix<Low> operator()(Context& ctx, const AnyMatrix<T>& A) {
    if (const auto* bsr = std::get_if<Bsr<T>>(&A)) {
      Array<Low> values = room(bsr->values().size());
      lower(ctx, *bsr, values);
      return Bsr<Low>(bsr->rows(), bsr->cols(), bsr->blocks(), copy_of(ctx, bsr->row_offsets()),
                      copy_of(ctx, bsr->col_indices()), std::move(values));
    }
    return with_csr(ctx, A, [&]<class Offset>(const Csr<T, Offset>& csr) -> AnyMatrix<Low> {
      Array<Low> values = room(csr.nnz());
      lower(ctx, csr, values);
      return Csr<Low, Offset>(csr.cols(), copy_of(ctx, csr.row_offsets()), copy_of(ctx, csr.col_indices()),
                              std::move(values));
    });
  }

  /// New values in the arrays of `to`, which was made of such a matrix. Waits.
  void update(Context& ctx, const AnyMatrix<T>& A, AnyMatrix<Low>& to) {
    if (const auto* bsr = std::get_if<Bsr<T>>(&A)) return follow(ctx, *bsr, std::get_if<Bsr<Low>>(&to));
    with_csr(ctx, A,
             [&]<class Offset>(const Csr<T, Offset>& csr) { follow(ctx, csr, std::get_if<Csr<Low, Offset>>(&to)); });
  }

  /// What the last matrix was multiplied by, which its inverse has to be multiplied by as well.
  double scale() const { return scale_; }

 private:
  static constexpr double min_normal = std::numeric_limits<float>::min();
  static Array<Low> room(std::int64_t size) { return Array<Low>(size, "values in single precision"); }

  template <class Matrix, class LowMatrix>
  void follow(Context& ctx, const Matrix& A, LowMatrix* to) {
    if (!to || to->values().size() != A.values().size()) refuse_pattern(type_);
    lower(ctx, A, to->values());
  }
  template <class Matrix>
  void lower(Context& ctx, const Matrix& A, Array<Low>& to) {
    scale_ = 1;
    const LoweredValues plain = lower_values(ctx, A.values(), to);
    const bool overflows = plain.overflow.value != FirstIndex{}.value,
               vanishes = plain.greatest > 0 && plain.greatest < 1e8 * min_normal;
    if (!overflows && !vanishes) return;
    scale_ = scale_of(plain.greatest);  // to numbers below 2
    if (overflows && plain.least * scale_ < min_normal) refuse(row_of_value(A, plain.overflow.value));
    lower_values(ctx, A.values(), to);
  }
  LoweredValues lower_values(Context& ctx, const Array<T>& values, Array<Low>& to) {
    ctx.dispatch([&](const auto& where) {
      run_pass(
          where, values.size(),
          LowerValues<kernel_t<T>, kernel_t<Low>>{scale_, values.read(where), to.write(where), facts_.write(where)});
    });
    return facts_.host()[0];
  }
  template <class Offset>
  static std::int64_t row_of_value(const Csr<T, Offset>& A, std::int64_t k) {
    return row_of(A.row_offsets(), k);
  }
  static std::int64_t row_of_value(const Bsr<T>& A, std::int64_t k) {
    const Blocking& blocks = A.blocks();
    const std::int64_t at = k % blocks.size(),
                       in_block = blocks.order == BlockOrder::row_major ? at / blocks.col_dim : at % blocks.row_dim;
    return row_of(A.row_offsets(), k / blocks.size()) * blocks.row_dim + in_block;
  }
  [[noreturn]] void refuse(std::int64_t row) const {
    refuse_row(type_, row, "there is a value beyond the range of float32", "use precision auto, or scale the matrix");
  }

  std::string_view type_;
  Array<LoweredValues> facts_{1, "values in single precision"};
  double scale_ = 1;
};

template <class T>
class LowerPrecision final : public Preconditioner<T> {
 public:
  LowerPrecision(Context& ctx, std::string_view type, const AnyMatrix<T>& A, const Operator<T>* products,
                 bool keeps_matrix, const MakeLower<T>& make)
      : lowering_(type), r_(krill::rows(A), "r in single precision"), z_(krill::rows(A), "z in single precision") {
    const Stopwatch watch;
    A_ = lowering_(ctx, A);
    take_scale();
    if (keeps_matrix) take_form(ctx, A, products);
    const double lowering_ms = watch.milliseconds();
    made_ = make(*A_, products_ ? &*products_ : nullptr);
    if (!keeps_matrix) A_.reset();
    tell(lowering_ms);
  }

  const Array<T>& apply(Context& ctx, const Array<T>& r, Array<T>& z) const override {
    require_size("preconditioner: z", z.size(), z_.size());
    const Array<lower_t<T>>& low = apply_low(ctx, r);
    raise(ctx, low, z);
    return z;
  }
  Preconditioned<T> apply_dot(Context& ctx, const Array<T>& r, const Array<double>&, Array<T>& z,
                              Array<double>& rz) const override {
    require_size("preconditioner: z", z.size(), z_.size());
    const Array<lower_t<T>>& low = apply_low(ctx, r);
    ctx.dispatch([&](const auto& where) {
      run_pass(
          where, z.size(),
          RaiseDot<Low, High>{{factor_.read(where), low.read(where), z.write(where)}, r.read(where), rz.write(where)});
    });
    return {z, rz};
  }
  PreconditionerReport report() const override { return report_; }
  /// Of the one in single precision, and the two passes that convert r and z.
  ApplicationWork work() const override {
    ApplicationWork all = made_->work();
    if (products_)
      all.own += {all.products * product_work_.bytes, all.products * product_work_.flops}, all.products = 0;
    const auto n = static_cast<double>(r_.size());
    all.own.bytes += 2 * n * (sizeof(T) + sizeof(lower_t<T>));
    if (made_->takes_wide()) all.own.bytes -= n * sizeof(lower_t<T>);  // which it would read
    return all;
  }

  void update(Context& ctx, const AnyMatrix<T>& A) override {
    const Stopwatch watch;
    std::optional<AnyMatrix<lower_t<T>>> low;
    if (A_)
      lowering_.update(ctx, A, *A_);
    else
      low = lowering_(ctx, A);
    if (products_) products_->update(ctx);
    const double lowering_ms = watch.milliseconds();
    made_->update(ctx, A_ ? *A_ : *low);
    take_scale();
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
    raise(ctx, low, z);
    return z;
  }

 private:
  using High = kernel_t<T>;
  using Low = kernel_t<lower_t<T>>;

  void tell(double lowering_ms) {
    report_ = made_->report();
    report_.numeric_ms += lowering_ms;
    report_.bytes += detail::bytes_of(r_, z_) + (A_ ? bytes(*A_) : 0) + product_bytes_;
    report_.facts.push_back({"precision", std::string(is_complex<T> ? "complex64" : "float32")});
  }
  /// What multiplies with A in the solve multiplies with its copy, where that takes no look at the entries.
  void take_form(Context& ctx, const AnyMatrix<T>& A, const Operator<T>* products) {
    const auto* by_matrix = dynamic_cast<const MatrixOperator<T>*>(products);
    if (!by_matrix || by_matrix->matrix() != &A) return;
    const SpmvPlan<T>& plan = by_matrix->prepare(ctx);
    if (!plan.names_rows()) return;
    using Value = lower_t<T>;
    const SpmvPlan<Value>& low = products_.emplace(ctx, *A_, plan, lowering_.scale()).prepare(ctx);
    product_bytes_ = low.bytes();
    product_work_ = {spmv_bytes<Value>(static_cast<double>(low.report().bytes), low.rows(), low.cols(), false),
                     spmv_flops<Value>(low.rows(), nnz(*A_), false)};
  }
  void take_scale() {
    if (factor_.host()[0] != lowering_.scale()) factor_.edit()[0] = lowering_.scale();
  }
  void raise(Context& ctx, const Array<lower_t<T>>& low, Array<T>& z) const {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, z.size(), RaiseVector<Low, High>{factor_.read(where), low.read(where), z.write(where)});
    });
  }
  void lower(Context& ctx, const Array<T>& r) const {
    require_size("preconditioner: r", r.size(), r_.size());
    ctx.dispatch([&](const auto& where) {
      run_pass(where, r.size(), LowerVector<High, Low>{r.read(where), r_.write(where)});
    });
  }
  const Array<lower_t<T>>& apply_low(Context& ctx, const Array<T>& r) const {
    require_size("preconditioner: r", r.size(), r_.size());
    if (made_->takes_wide()) return made_->apply_wide(ctx, r, r_, z_);
    lower(ctx, r);
    return made_->apply(ctx, r_, z_);
  }

  Lowering<T> lowering_;
  Array<double> factor_{1};  // of results, for the matrix may have been scaled
  mutable Array<lower_t<T>> r_, z_;
  std::optional<AnyMatrix<lower_t<T>>> A_;
  std::optional<MatrixOperator<lower_t<T>>> products_;
  std::size_t product_bytes_ = 0;
  Work product_work_;
  MadePreconditioner<lower_t<T>> made_;  // may multiply with A_
  PreconditionerReport report_;
};

}  // namespace

template <class T>
MadePreconditioner<T> make_in_lower_precision(Context& ctx, std::string_view type, const AnyMatrix<T>& A,
                                              const Operator<T>* products, bool keeps_matrix,
                                              const MakeLower<T>& make) {
  return std::make_unique<LowerPrecision<T>>(ctx, type, A, products, keeps_matrix, make);
}

template <class T>
HeldMemory memory_in_lower_precision(MemoryLedger& ledger, Context& host, std::string_view type, const AnyMatrix<T>& A,
                                     bool keeps_matrix, const LowerMemory<T>& memory) {
  const AnyMatrix<lower_t<T>> low = Lowering<T>(type)(host, A);
  const auto lowered = [&] { return ledger.hold(bytes(low)); };
  HeldMemory matrix = std::holds_alternative<Bsr<T>>(A)
                          ? lowered()
                          : with_csr_memory(ledger, host, A, [&](const auto&) { return lowered(); });
  ledger.scratch({1});  // of what values are
  HeldMemory kept = memory(low);
  if (keeps_matrix) kept += std::move(matrix);
  ledger.hold_later(2 * static_cast<std::size_t>(rows(A)) * sizeof(lower_t<T>));  // r and z
  return kept;
}

template MadePreconditioner<double> make_in_lower_precision(Context&, std::string_view, const AnyMatrix<double>&,
                                                            const Operator<double>*, bool, const MakeLower<double>&);
template MadePreconditioner<std::complex<double>> make_in_lower_precision(Context&, std::string_view,
                                                                          const AnyMatrix<std::complex<double>>&,
                                                                          const Operator<std::complex<double>>*, bool,
                                                                          const MakeLower<std::complex<double>>&);

template HeldMemory memory_in_lower_precision(MemoryLedger&, Context&, std::string_view, const AnyMatrix<double>&, bool,
                                              const LowerMemory<double>&);
template HeldMemory memory_in_lower_precision(MemoryLedger&, Context&, std::string_view,
                                              const AnyMatrix<std::complex<double>>&, bool,
                                              const LowerMemory<std::complex<double>>&);

}  // namespace krill

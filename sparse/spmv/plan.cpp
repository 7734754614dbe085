#include "krill/sparse/spmv/plan.hpp"

#include <fmt/format.h>

#include <chrono>
#include <optional>

#include "krill/sparse/convert/to_format.hpp"
#include "krill/sparse/core/instantiate.hpp"
#include "krill/sparse/spmv/call.hpp"
#include "krill/sparse/spmv/csr_parts.hpp"
#include "krill/sparse/spmv/packed.hpp"
#include "krill/sparse/vector/vector.hpp"

namespace krill {
namespace {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

template <class Matrix, class T>
inline constexpr bool is_csr =
    std::is_same_v<Matrix, Csr<T, std::int32_t>> || std::is_same_v<Matrix, Csr<T, std::int64_t>>;

/// The arrays of a matrix in CSR, whoever owns them, and its pieces.
template <class T>
struct Rows {
  std::int32_t rows = 0, cols = 0;
  const Array<std::int32_t>* short_offsets = nullptr;
  const Array<std::int64_t>* long_offsets = nullptr;
  const Array<std::int32_t>* columns = nullptr;
  const Array<T>* values = nullptr;
  CsrBalance balance = {};

  static Rows of(Context& ctx, const Csr<T, std::int32_t>& a) {
    return {a.rows(),
            a.cols(),
            &a.row_offsets(),
            nullptr,
            &a.col_indices(),
            &a.values(),
            CsrBalance(ctx, a.rows(), a.nnz(), a.row_offsets(), sizeof(T))};
  }
  static Rows of(Context& ctx, const Csr<T, std::int64_t>& a) {
    return {a.rows(),
            a.cols(),
            nullptr,
            &a.row_offsets(),
            &a.col_indices(),
            &a.values(),
            CsrBalance(ctx, a.rows(), a.nnz(), a.row_offsets(), sizeof(T))};
  }

  template <class Where>
  void multiply(const Where& where, const SpmvCall<T>& call) const {
    if (short_offsets)
      multiply(where, short_offsets->read(where), call);
    else
      multiply(where, long_offsets->read(where), call);
  }

 private:
  template <class Where, class Offset>
  void multiply(const Where& where, const Offset* offsets, const SpmvCall<T>& call) const {
    const CsrView<const kernel_t<T>, Offset> view{
        rows, cols, values->size(), offsets, columns->read(where), values->read(where)};
    if constexpr (std::is_same_v<Where, Cuda>)
      run_product(where, call.product(where, view), balance.parts(where));
    else
      run_product(where, call.product(where, view));
  }
};

constexpr std::int64_t least_entries = 20'000;         // below that, a product is a launch and no more
constexpr double clearly_slower = 1.1;                 // than csr: what a timing may say without being noise
constexpr std::int64_t longest_row_for_blocks = 4096;  // counting blocks takes a thread a block row

template <class T>
std::string format_name(const AnyMatrix<T>& A) {
  return std::visit(
      Overloaded{[](const Coo<T>&) { return "coo"; }, [](const CooAos<T>&) { return "coo_aos"; },
                 [](const Csc<T>&) { return "csc"; }, [](const Bsr<T>&) { return "bsr"; },
                 [](const Bsrx<T>&) { return "bsrx"; }, [](const Gebsc<T>&) { return "gebsc"; },
                 [](const Ell<T>&) { return "ell"; }, [](const Sell<T>&) { return "sell"; },
                 [](const Hyb<T>&) { return "hyb"; }, [](const Dia<T>& a) { return a.hack_rows() ? "hdia" : "dia"; },
                 [](const BlockedEll<T>&) { return "blocked_ell"; }, [](const auto&) { return "csr"; }},
      A);
}

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// A product's time: the mean of some, after two that warm up.
template <class F>
double time_of(Context& ctx, F&& product) {
  constexpr int products = 8;
  for (int i = 0; i < 2; ++i) product();
  ctx.synchronize();
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < products; ++i) product();
  ctx.synchronize();
  return milliseconds_since(start) / products;
}

}  // namespace

template <class T>
struct SpmvPlan<T>::Body {
  const AnyMatrix<T>& A;
  Op op;
  SpmvReport report = {};

  // one of these multiplies; none: A's own kernel does
  std::optional<Rows<T>> rows = {};
  std::optional<Packed<T>> packed = {};
  std::optional<AnyMatrix<T>> other = {};

  // what `rows` points to beside A's arrays
  Array<std::int64_t> offsets{0, "plan row_offsets"};
  Array<std::int32_t> columns{0, "plan col_indices"};
  std::optional<Csr<T, std::int32_t>> short_csr = {};
  std::optional<Csr<T, std::int64_t>> long_csr = {};

  void make_in_place(Context& ctx) {
    std::visit([&](const auto& a) { make_in_place(ctx, a); }, A);
  }

  template <class Matrix>
  void make_in_place(Context& ctx, const Matrix& a) {
    if constexpr (is_csr<Matrix, T>)
      op == Op::none ? multiply_with(ctx, a) : own(ctx, transpose(ctx, a, op));
    else if constexpr (std::is_same_v<Matrix, Csc<T>>)
      make_by_columns(ctx, a.transposed());
    else if constexpr (std::is_same_v<Matrix, Gebsc<T>>)
      make_by_block_columns(ctx, a.transposed());
    else if (op != Op::none)
      make_from_csr(ctx, entries_of(ctx, a));
    else if constexpr (std::is_same_v<Matrix, Coo<T>>)
      make_offsets(ctx, a, a.row_indices(), a.col_indices());
    else if constexpr (std::is_same_v<Matrix, CooAos<T>>)
      make_from_pairs(ctx, a);
    else if constexpr (std::is_same_v<Matrix, Hyb<T>>)
      make_offsets(ctx, a.coo(), a.coo().row_indices(), a.coo().col_indices());
  }

  /// A is stored as its transpose.
  void make_by_columns(Context& ctx, const Csr<T>& transposed) {
    if (op == Op::transpose || (op == Op::adjoint && !is_complex<T>)) return multiply_with(ctx, transposed);
    Csr<T> csr = transpose(ctx, transposed);
    op == Op::none ? own(ctx, std::move(csr)) : own(ctx, transpose(ctx, csr, Op::adjoint));
  }
  void make_by_block_columns(Context& ctx, const Bsr<T>& transposed) {
    Csr<T, std::int64_t> csr = to_csr_without_zeros(ctx, transposed);
    if (op == Op::transpose) return own(ctx, std::move(csr));
    make_from_csr(ctx, transpose(ctx, csr));
  }
  template <class Matrix>
  static Csr<T, std::int64_t> entries_of(Context& ctx, const Matrix& a) {
    if constexpr (requires { to_csr_without_zeros(ctx, a); })
      return to_csr_without_zeros(ctx, a);
    else
      return to_csr<T, std::int64_t>(ctx, a);
  }
  void make_from_csr(Context& ctx, Csr<T, std::int64_t> csr) {
    op == Op::none ? own(ctx, std::move(csr)) : own(ctx, transpose(ctx, csr, op));
  }
  template <class Matrix>
  void make_offsets(Context& ctx, const Matrix& a, const Array<std::int32_t>& row_indices,
                    const Array<std::int32_t>& col_indices) {
    offsets = Array<std::int64_t>(a.rows() + std::int64_t{1}, "plan row_offsets");
    ctx.dispatch([&](const auto& where) {
      compress_rows(where, a.rows(), a.nnz(), row_indices.read(where), offsets.write(where));
    });
    rows = Rows<T>{a.rows(),
                   a.cols(),
                   nullptr,
                   &offsets,
                   &col_indices,
                   &a.values(),
                   CsrBalance(ctx, a.rows(), a.nnz(), offsets, sizeof(T))};
  }
  void make_from_pairs(Context& ctx, const CooAos<T>& a) {
    const Coo<T> split = to_coo(ctx, a);
    columns = copy_of(ctx, split.col_indices());
    make_offsets(ctx, a, split.row_indices(), columns);
  }
  template <class Offset>
  void multiply_with(Context& ctx, const Csr<T, Offset>& csr) {
    rows = Rows<T>::of(ctx, csr);
  }
  void own(Context& ctx, Csr<T, std::int32_t> csr) { multiply_with(ctx, short_csr.emplace(std::move(csr))); }
  void own(Context& ctx, Csr<T, std::int64_t> csr) { multiply_with(ctx, long_csr.emplace(std::move(csr))); }
  bool owns_values() const { return short_csr || long_csr || packed || other; }

  std::size_t bytes() const {
    std::size_t sum = detail::bytes_of(offsets, columns) + (rows ? rows->balance.bytes() : 0);
    if (short_csr) sum += short_csr->bytes();
    if (long_csr) sum += long_csr->bytes();
    if (packed) sum += packed->sizes().bytes;
    return other ? sum + krill::bytes(*other) : sum;
  }

  /// Calls f with A, which has to be in CSR.
  template <class F>
  void with_csr(F&& f) const {
    std::visit(
        [&]<class Matrix>(const Matrix& a) {
          if constexpr (is_csr<Matrix, T>) f(a);
        },
        A);
  }

  void multiply(Context& ctx, const SpmvCall<T>& call) const {
    if (other)
      return call.z ? residual_of(ctx, *other, call)
                    : spmv(ctx, Op::none, call.alpha, *other, call.x, call.beta, call.y, call.dots);
    if (packed)
      return ctx.dispatch([&](const auto& where) { run_product(where, call.product(where, packed->view(where))); });
    if (const auto* hyb = std::get_if<Hyb<T>>(&A); hyb && op == Op::none) return multiply_hyb(ctx, *hyb, call);
    if (rows) return ctx.dispatch([&](const auto& where) { rows->multiply(where, call); });
    call.z ? residual_of(ctx, A, call) : spmv(ctx, op, call.alpha, A, call.x, call.beta, call.y, call.dots);
  }

  static void residual_of(Context& ctx, const AnyMatrix<T>& matrix, const SpmvCall<T>& call) {
    krill::residual(ctx, matrix, call.x, *call.z, call.y, call.dots);
  }

  void multiply_hyb(Context& ctx, const Hyb<T>& hyb, const SpmvCall<T>& call) const {
    const Dots<T> no_dots;
    const Scalar<T> one(1);
    const bool alone = hyb.coo().nnz() == 0;
    const SpmvCall<T> first{call.alpha, call.x, call.beta, call.y, alone ? call.dots : no_dots, call.z};
    ctx.dispatch([&](const auto& where) { run_product(where, first.product(where, hyb.ell().view(where))); });
    if (alone) return;
    const SpmvCall<T> second{call.alpha, call.x, one, call.y, call.dots};
    ctx.dispatch([&](const auto& where) { rows->multiply(where, second); });
  }

  // The automatic choice.
  struct Candidate {
    std::string method, what;
    std::size_t bytes = 0;
    std::int32_t block_dim = 0;
  };

  void choose(Context& ctx) {
    const auto start = std::chrono::steady_clock::now();
    make_in_place(ctx);
    report.method = format_name(A);
    bool csr = false;
    if (op == Op::none) with_csr([&](const auto& a) { csr = true, choose(ctx, a); });
    if (!csr) {
      report.why = "only a matrix in csr, not transposed, is looked at";
      report.csr_bytes = report.bytes = krill::bytes(A);
    }
    ctx.synchronize();
    report.setup_ms = milliseconds_since(start);
    if (report.csr_ms > report.ms) report.break_even = report.setup_ms / (report.csr_ms - report.ms);
  }

  template <class Offset>
  void choose(Context& ctx, const Csr<T, Offset>& a) {
    report.csr_bytes = report.bytes = a.bytes();
    if (a.nnz() < least_entries) {
      report.why = fmt::format("with less than {} entries there is nothing to gain", least_entries);
      return;
    }
    try {
      choose_form(ctx, a);
    } catch (const OutOfMemory&) {
      packed.reset(), other.reset();
      report.ms = report.csr_ms;
      report.why = "there is no memory for another form beside csr";
    }
  }

  template <class Offset>
  void choose_form(Context& ctx, const Csr<T, Offset>& a) {
    const Candidate best = best_candidate(ctx, a);
    if (best.bytes >= a.bytes()) {
      packed.reset();
      report.why =
          fmt::format("no other form moves fewer bytes; the best is {} with {}", best.method, human_bytes(best.bytes));
      return;
    }
    compare(ctx, a, best);
  }

  /// The form that moves the fewest bytes.
  template <class Offset>
  Candidate best_candidate(Context& ctx, const Csr<T, Offset>& a) {
    packed.emplace(ctx, a);
    Candidate best{"packed", "sell with " + packed->description(), packed->sizes().bytes};
    const std::int64_t diagonals = stored_diagonals(ctx, a);
    const auto dia = static_cast<double>(diagonals) * static_cast<double>(sizeof(T)) * a.rows();
    if (dia < static_cast<double>(best.bytes))
      best = {"dia", fmt::format("{} diagonals", diagonals), static_cast<std::size_t>(dia)};
    // blocks save indices alone, which row patterns have saved already
    if (packed->sizes().columns == ColumnCode::pattern || a.nnz() < 4 * std::int64_t{a.rows()} ||
        packed->longest_row() > longest_row_for_blocks)
      return best;
    for (const std::int32_t dim : {2, 3, 4}) {
      const auto blocks = static_cast<std::size_t>(stored_blocks(ctx, a, {dim, dim}));
      const auto size = static_cast<std::size_t>(dim) * static_cast<std::size_t>(dim);
      const std::size_t bytes = blocks * (size * sizeof(T) + sizeof(std::int32_t)) +
                                static_cast<std::size_t>(a.rows() / dim + 1) * sizeof(std::int32_t);
      if (bytes < best.bytes && blocks <= std::numeric_limits<std::int32_t>::max())
        best = {"bsr", fmt::format("blocks of {0} x {0}", dim), bytes, dim};
    }
    return best;
  }

  /// Makes the candidate and keeps it if it is the faster one.
  template <class Offset>
  void compare(Context& ctx, const Csr<T, Offset>& a, const Candidate& best) {
    const auto time = [&] {
      Array<T> x(a.cols(), "plan x"), y(a.rows(), "plan y");
      fill(ctx, T(1), x);
      const Scalar<T> one(1), zero(0);
      const Dots<T> no_dots;
      const SpmvCall<T> call{one, x, zero, y, no_dots};
      return time_of(ctx, [&] { multiply(ctx, call); });
    };
    std::optional<Packed<T>> candidate = std::exchange(packed, std::nullopt);
    report.csr_ms = time();
    if (best.method == "packed")
      packed = std::move(candidate), packed->fill(ctx, a);
    else if (best.method == "dia")
      other.emplace(to_dia(ctx, a));
    else
      other.emplace(to_bsr(ctx, a, {best.block_dim, best.block_dim, BlockOrder::row_major}));
    report.ms = time();
    const std::string sizes = fmt::format("{} in place of {}", human_bytes(best.bytes), human_bytes(a.bytes()));
    if (report.ms < clearly_slower * report.csr_ms) {
      report.method = best.method, report.bytes = best.bytes;
      report.why =
          fmt::format("{}: {}, {:.3g} ms a product in place of {:.3g}", best.what, sizes, report.ms, report.csr_ms);
    } else {
      packed.reset(), other.reset();
      report.why =
          fmt::format("{} ({}) was tried: {:.3g} ms a product, csr {:.3g}", best.what, sizes, report.ms, report.csr_ms);
      report.ms = report.csr_ms;
    }
  }
};

template <class T>
SpmvPlan<T>::SpmvPlan(Context& ctx, const AnyMatrix<T>& A, Op op, SpmvMethod method)
    : body_(std::make_unique<Body>(Body{A, op})) {
  const Context::SkipScope never(ctx, nullptr);  // a plan that was left half made would stay so
  if (method == SpmvMethod::automatic) {
    body_->choose(ctx);
    return;
  }
  const auto start = std::chrono::steady_clock::now();
  body_->make_in_place(ctx);
  body_->report.method = format_name(A);
  body_->report.why = "in place, as it was asked for";
  body_->report.csr_bytes = body_->report.bytes = krill::bytes(A);
  body_->report.setup_ms = milliseconds_since(start);
}

template <class T>
SpmvPlan<T>::SpmvPlan(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>& SpmvPlan<T>::operator=(SpmvPlan&&) noexcept = default;
template <class T>
SpmvPlan<T>::~SpmvPlan() = default;

template <class T>
std::int32_t SpmvPlan<T>::rows() const {
  return body_->op == Op::none ? krill::rows(body_->A) : krill::cols(body_->A);
}
template <class T>
std::int32_t SpmvPlan<T>::cols() const {
  return body_->op == Op::none ? krill::cols(body_->A) : krill::rows(body_->A);
}
template <class T>
const SpmvReport& SpmvPlan<T>::report() const {
  return body_->report;
}
template <class T>
std::size_t SpmvPlan<T>::bytes() const {
  return body_->bytes();
}

template <class T>
void SpmvPlan<T>::update(Context& ctx) {
  if (!body_->owns_values()) return;
  const Context::SkipScope never(ctx, nullptr);
  if (body_->packed)
    body_->with_csr([&](const auto& a) { body_->packed->update(ctx, a); });
  else if (body_->other)
    body_->with_csr([&](const auto& a) { update_values(ctx, a, *body_->other); });
  else
    body_->make_in_place(ctx);
}

template <class T>
void SpmvPlan<T>::apply(Context& ctx, const Scalar<T>& alpha, const Array<T>& x, const Scalar<T>& beta, Array<T>& y,
                        const Dots<T>& dots) const {
  const SpmvCall<T> call{alpha, x, beta, y, dots};
  call.check(rows(), cols());
  body_->multiply(ctx, call);
}

template <class T>
void SpmvPlan<T>::residual(Context& ctx, const Array<T>& x, const Array<T>& b, Array<T>& r, const Dots<T>& dots) const {
  const Scalar<T> minus_one(-1), one(1);
  const SpmvCall<T> call{minus_one, x, one, r, dots, &b};
  call.check(rows(), cols());
  body_->multiply(ctx, call);
}

#define INSTANTIATE(T) template class SpmvPlan<T>;
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill

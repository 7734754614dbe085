#include "sparse/spmv/automatic.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <string>

#include "sparse/convert/formats.hpp"
#include "sparse/convert/structure.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill::detail {
namespace {

// Reasoned, not varied.
struct Tuning {
  static constexpr std::int64_t min_entries = 20'000;         ///< below that, a product is a launch and no more
  static constexpr double max_slowdown = 1.02;                ///< beside csr: what a timing may say without being noise
  static constexpr double max_bytes_share = 0.95;             ///< of csr's bytes: what is worth being made and timed
  static constexpr std::int64_t max_row_for_blocks = 4096;    ///< entries: blocks are made with a thread a row
  static constexpr std::int64_t min_mean_row_for_blocks = 4;  ///< entries
  static constexpr double entry_ms = 2e-4, bytes_a_ms = 4e9;  ///< of a thread on its own; of a device
  static constexpr double max_products = 4, enough_ms = 0.2;  ///< that are timed, after one that warms up
  static constexpr double long_ms = 1;                        ///< of a product on the host, which needs no warming up
};
constexpr std::int64_t max_blocks = 2'000'000'000;  // estimated: they have 32-bit offsets

/// A form, and what a product with it moves.
template <class T>
struct Candidate {
  std::string method, what;
  std::size_t bytes = 0;
  std::int32_t block_dim = 0;            // bsr
  std::optional<Packed<T>> packed = {};  // packed: looked at, not filled
};

/// Whether a product with slices takes no longer than its bytes do: on a device a thread goes along each row.
template <class T, class Offset>
bool can_be_sliced(bool on_cuda, const Csr<T, Offset>& A, std::int64_t longest_row) {
  return !on_cuda ||
         Tuning::entry_ms * static_cast<double>(longest_row) <= static_cast<double>(A.bytes()) / Tuning::bytes_a_ms;
}

/// The form that moves the fewest bytes.
template <class T, class Offset>
Candidate<T> best_candidate(Context& ctx, const Csr<T, Offset>& A, bool on_cuda) {
  const std::int64_t longest_row = detail::longest_row(ctx, A.row_offsets());
  // blocks save indices alone, which row patterns have saved already
  bool try_blocks = A.nnz() >= Tuning::min_mean_row_for_blocks * A.rows() && longest_row <= Tuning::max_row_for_blocks;
  Candidate<T> best{"csr", "", A.bytes()};
  if (can_be_sliced(on_cuda, A, longest_row)) {
    Packed<T> packed(ctx, A, longest_row);
    try_blocks = try_blocks && packed.sizes().columns != ColumnCode::pattern;
    best = {"packed", "sell with " + packed.description(), packed.sizes().bytes};
    best.packed = std::move(packed);
  }
  const std::size_t diagonal_bytes = sizeof(T) * static_cast<std::size_t>(std::max(A.rows(), 1));
  const auto max_diagonals = static_cast<std::int64_t>(best.bytes / diagonal_bytes);
  if (longest_row <= max_diagonals)  // there are no fewer diagonals than entries in the longest row
    if (const std::int64_t diagonals = stored_diagonals(ctx, A, max_diagonals); diagonals <= max_diagonals)
      best = {"dia", fmt::format("{} diagonals", diagonals), static_cast<std::size_t>(diagonals) * diagonal_bytes};
  if (!try_blocks) return best;
  const auto blocks = estimated_squares(ctx, A);
  for (const std::int32_t dim : {2, 3, 4}) {
    const std::int64_t stored = blocks[static_cast<std::size_t>(dim)];
    const std::size_t bytes = bsr_bytes<T>(A.rows(), stored, {dim, dim});
    if (bytes < best.bytes && stored < max_blocks) best = {"bsr", fmt::format("blocks of {0} x {0}", dim), bytes, dim};
  }
  return best;
}

template <class T, class Offset>
bool is_worth_trying(const Candidate<T>& form, const Csr<T, Offset>& A, std::size_t operands = 0) {
  return form.method != "csr" && static_cast<double>(form.bytes + operands) <=
                                     Tuning::max_bytes_share * static_cast<double>(A.bytes() + operands);
}

/// A in that form; form.packed is used up.
template <class T, class Offset>
OtherForm<T> make(Context& ctx, const Csr<T, Offset>& A, Candidate<T>& form) {
  if (form.packed) {
    form.packed->fill(ctx, A);
    return {*std::move(form.packed)};
  }
  if (form.method == "dia") return {to_dia(ctx, A)};
  Bsr<T> bsr = to_bsr(ctx, A, {form.block_dim, form.block_dim, BlockOrder::row_major});
  CsrTiles tiles = CsrTiles::of(ctx, bsr);
  return {std::move(bsr), std::move(tiles)};
}

/// Milliseconds of a product, after one that warms up, unless that is long and the host's: the mean of a few where they
/// are short, for a plan should not cost many products.
template <class Product>
double milliseconds_of(Context& ctx, Product&& product) {
  const auto mean_of = [&](int products) {
    ctx.synchronize();
    const Stopwatch watch;
    for (int i = 0; i < products; ++i) product();
    ctx.synchronize();
    return watch.milliseconds() / products;
  };
  const double first = mean_of(1);
  if (!ctx.on_cuda() && first >= Tuning::long_ms) return first;
  return mean_of(static_cast<int>(std::clamp(Tuning::enough_ms / first, 1.0, Tuning::max_products)));
}

/// Makes the best candidate and keeps it unless it is timed and clearly slower than csr.
template <class T, class Offset>
std::optional<OtherForm<T>> try_best(Context& ctx, const Csr<T, Offset>& A, const FormTrial<T>& trial,
                                     SpmvReport& report) {
  Candidate<T> best = best_candidate(ctx, A, ctx.on_cuda());
  if (best.method == "csr") {
    report.why = "no other form suits rows of so different length";
    return {};
  }
  if (!is_worth_trying(best, A, trial.operands)) {
    report.why = fmt::format("no other form moves clearly fewer bytes; the best is {} with {} in place of {}",
                             best.method, human_bytes(best.bytes), human_bytes(A.bytes()));
    return {};
  }
  OtherForm<T> other = make(ctx, A, best);
  const std::string sizes = fmt::format("{} in place of {}", human_bytes(other.bytes()), human_bytes(A.bytes()));
  if (!trial.prepare) {
    report.method = best.method, report.bytes = other.bytes();
    report.why = fmt::format("{}: {}", best.what, sizes);
    return other;
  }
  const auto multiply = trial.prepare();
  report.csr_ms = milliseconds_of(ctx, [&] { multiply(nullptr); });
  report.ms = milliseconds_of(ctx, [&] { multiply(&other); });
  if (report.ms < Tuning::max_slowdown * report.csr_ms) {
    report.method = best.method, report.bytes = other.bytes();
    report.why =
        fmt::format("{}: {}, {:.3g} ms a product in place of {:.3g}", best.what, sizes, report.ms, report.csr_ms);
    return other;
  }
  report.why =
      fmt::format("{} ({}) was tried: {:.3g} ms a product, csr {:.3g}", best.what, sizes, report.ms, report.csr_ms);
  report.ms = report.csr_ms;
  return {};
}

}  // namespace

template <class T>
std::size_t OtherForm<T>::bytes() const {
  return block_tiles.bytes() + std::visit(Overloaded{[](const Packed<T>& a) { return a.sizes().bytes; },
                                                     [](const AnyMatrix<T>& a) { return krill::bytes(a); }},
                                          matrix);
}

template <class T>
void OtherForm<T>::multiply(Context& ctx, const SpmvCall<T>& call) const {
  std::visit(
      Overloaded{[&](const Packed<T>& a) {
                   ctx.dispatch([&](const auto& where) { run_product(where, call.product(where, a.view(where))); });
                 },
                 [&](const AnyMatrix<T>& a) { run_call(ctx, a, block_tiles, call); }},
      matrix);
}

template <class T>
template <class Offset>
void OtherForm<T>::update(Context& ctx, const Csr<T, Offset>& A) {
  std::visit(Overloaded{[&](Packed<T>& a) { a.update(ctx, A); }, [&](AnyMatrix<T>& a) { update_values(ctx, A, a); }},
             matrix);
}

template <class T, class Offset>
FormEstimate estimate_form(Context& ctx, const Csr<T, Offset>& A, bool for_cuda) {
  if (A.nnz() < Tuning::min_entries) return {"csr", A.bytes()};
  const Candidate<T> best = best_candidate(ctx, A, for_cuda);
  if (!is_worth_trying(best, A)) return {"csr", A.bytes()};
  return {best.method, best.bytes};
}

template <class T, class Offset>
std::optional<OtherForm<T>> choose_form(Context& ctx, const Csr<T, Offset>& A, const FormTrial<T>& trial,
                                        SpmvReport& report) {
  if (A.nnz() < Tuning::min_entries) {
    report.why = fmt::format("with less than {} entries there is nothing to gain", Tuning::min_entries);
    return {};
  }
  try {
    return try_best(ctx, A, trial, report);
  } catch (const OutOfMemory&) {
    report.ms = report.csr_ms;
    report.why = "there is no memory for another form beside csr";
    return {};
  }
}

KRILL_INSTANTIATE(OtherForm);

template <class T, class Offset>
struct AutomaticOffsetInstances {
  static constexpr std::tuple list{
      &OtherForm<T>::template update<Offset>,
      instance<FormEstimate(Context&, const Csr<T, Offset>&, bool)>(estimate_form),
      instance<std::optional<OtherForm<T>>(Context&, const Csr<T, Offset>&, const FormTrial<T>&, SpmvReport&)>(
          choose_form)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(AutomaticOffsetInstances);

}  // namespace krill::detail

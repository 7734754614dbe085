// C = A B with A, B and C in 16 bits and sums of float: CSR, and Blocked-ELL by the usual units and by tensor cores.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "apps/bench/job.hpp"
#include "apps/system/linear_system.hpp"
#include "sparse/convert/formats.hpp"
#include "sparse/spmm/blocks.hpp"
#include "sparse/spmm/work.hpp"

namespace krill::apps::bench {
namespace {

constexpr std::int32_t half_columns[] = {1, 8, 32, 128};
constexpr std::int32_t bfloat16_columns[] = {1, 8};  // the kernels are those of Half
constexpr std::int32_t half_block_dim = 16;          // which is what tensor cores take
constexpr std::int64_t max_half_entries = std::int64_t{1} << 29;
constexpr std::int32_t checked_half_rows = 1000;  // at most, evenly spread

/// How a product is made; the words stand behind the columns in a row's variant.
enum class HalfForm { csr, blocked_ell, tensor_cores };
std::string_view words_of(HalfForm form) {
  return form == HalfForm::csr ? "" : form == HalfForm::blocked_ell ? " blocked_ell" : " blocked_ell tensor cores";
}

template <class T>
Array<T> rounded(std::span<const float> values) {
  std::vector<T> made(values.size());
  std::ranges::transform(values, made.begin(), [](float value) { return T(value); });
  return Array(std::move(made), "16-bit values");
}
/// Bits of a fraction, the first one of which is not stored.
template <class T>
constexpr int digits_of = std::is_same_v<T, Half> ? 11 : 8;

/// A matrix in 16 bits, its operands, and what multiplies.
template <class T>
class HalfProduct {
 public:
  HalfProduct(const BenchSubject<float>& s, const Csr<float>& A, std::int32_t columns, Order order, HalfForm form)
      : ctx_(s.ctx),
        form_(form),
        csr_(A.cols(), A.row_offsets().clone(), A.col_indices().clone(), rounded<T>(A.values().host())),
        B_(A.cols(), columns, rounded<T>(random_vector<float>(std::int64_t{A.cols()} * columns, 1, RandomPurpose::rhs)),
           order),
        C_(A.rows(), columns, order) {
    if constexpr (is_half) task_ = {nullptr, nullptr, &B_.values(), &C_.values()};
    if (form == HalfForm::csr) {
      if constexpr (is_half) task_.csr = &csr_;
      plan_.emplace(ctx_, csr_, Op::none, columns);
      return;
    }
    const BlockedEll<float> wide = to_blocked_ell(ctx_, A, half_block_dim);
    blocks_.emplace(wide.rows(), wide.cols(), half_block_dim, wide.ell_cols(), wide.col_indices().clone(),
                    rounded<T>(wide.values().host()));
    if constexpr (is_half) task_.blocks = &*blocks_;
  }
  HalfProduct(HalfProduct&&) = delete;  // it points to itself

  void run() {
    if (plan_) return plan_->apply(ctx_, Op::none, 1.0f, B_, 0.0f, C_);
    const auto units = form_ == HalfForm::tensor_cores ? TensorCores::allowed : TensorCores::none;
    spmm_mixed(ctx_, Op::none, 1.0f, *blocks_, B_, 0.0f, C_, units);
  }
  Work work() const {
    const double dense = static_cast<double>(B_.bytes() + C_.bytes());
    return {static_cast<double>(blocks_ ? blocks_->bytes() : csr_.bytes()) + dense,
            multiply_add<float> * static_cast<double>(B_.cols()) * static_cast<double>(csr_.nnz())};
  }
  /// Null where no rival is known.
  const HalfTask* task() const { return is_half ? &task_ : nullptr; }

  /// What is wrong with C, if anything: rounding of a row's terms, and of C, explains all of an entry's error. Whoever
  /// comes next finds NaN.
  std::string fault() {
    const std::string found = wrong_entry();
    std::ranges::fill(C_.values().edit(), T(std::numeric_limits<float>::quiet_NaN()));
    return found;
  }

 private:
  using Types = MixedTypes<T, T, T, float>;
  static constexpr bool is_half = std::is_same_v<T, Half>;

  std::string wrong_entry() const {
    const auto offsets = csr_.row_offsets().host();
    const auto columns = csr_.col_indices().host();
    const auto values = csr_.values().host();
    const auto b = B_.host(), c = C_.host();
    const std::int32_t step = std::max(1, csr_.rows() / checked_half_rows);
    for (std::int32_t i = 0; i < csr_.rows(); i += step) {
      const auto from = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]),
                 to = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]);
      for (std::int32_t j = 0; j < B_.cols(); ++j) {
        double sum = 0, size = 0;
        for (std::size_t k = from; k < to; ++k) {
          const double term = double(values[k]) * double(b.at(columns[k], j));
          sum += term, size += std::abs(term);
        }
        const double error = std::abs(sum - double(c.at(i, j)));
        const double bound = 8 * static_cast<double>(to - from + 2) * 0x1p-23 * size +
                             std::ldexp(std::abs(sum), 1 - digits_of<T>) + 0x1p-24;
        if (size < 32'768 && !(error <= bound))
          return fmt::format("wrong result: entry ({}, {}) is off by {:.2g} of its terms", i, j, error / size);
      }
    }
    return {};
  }

  Context& ctx_;
  HalfForm form_;
  Csr<T> csr_;
  std::optional<BlockedEll<T>> blocks_;
  std::optional<MixedPlan<Types>> plan_;
  Dense<T> B_, C_;
  HalfTask task_;
};

template <class T>
void measure_half(const BenchSubject<float>& s, const Csr<float>& A, std::int32_t columns, Order order, HalfForm form) {
  const bool by_rows = order == Order::row_major;
  const std::string_view place = by_rows ? "by rows" : columns == 1 ? "column" : "columns";
  Row row = s.row("spmm", fmt::format("{} {}{}", columns, place, words_of(form)));
  row.precision = std::is_same_v<T, Half> ? "float16" : "bfloat16";
  measure_job<float>(s, row, [&](std::size_t) {
    auto product = std::make_shared<HalfProduct<T>>(s, A, columns, order, form);
    auto* const o = product.get();
    Job<float> job;
    const Work work = o->work();
    job.bytes = work.bytes, job.flops = work.flops;
    job.run = [o] { o->run(); };
    job.task = {.kernel = "spmm", .half = o->task()};
    job.task.columns = columns, job.task.by_rows = by_rows;
    job.fault = [o] { return o->fault(); };
    job.keeps = std::move(product);
    return job;
  });
  s.report(row);
}

}  // namespace

void bench_half_products(const BenchSubject<float>& s) {
  const auto* A = std::get_if<Csr<float>>(&*s.A);
  if (!A) return;  // 64-bit offsets: more entries than a device has room for
  for (const HalfForm form : {HalfForm::csr, HalfForm::blocked_ell, HalfForm::tensor_cores})
    for (const Order order : {Order::column_major, Order::row_major})
      for (const std::int32_t columns : half_columns)
        if ((columns > 1 || (order == Order::column_major && form == HalfForm::csr)) &&
            std::max(A->rows(), A->cols()) <= max_half_entries / columns)
          measure_half<Half>(s, *A, columns, order, form);
  for (const std::int32_t columns : bfloat16_columns)
    measure_half<BFloat16>(s, *A, columns, Order::column_major, HalfForm::csr);
}

}  // namespace krill::apps::bench

// y = A x in every storage form, alone and with the dot of x and y in the same pass.
#include <fmt/format.h>

#include <cmath>
#include <deque>
#include <functional>
#include <limits>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "apps/bench/timing.hpp"
#include "apps/samples/formats.hpp"
#include "apps/system/linear_system.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/spmv/work.hpp"
#include "sparse/vector/vector.hpp"

namespace krill::apps::bench {
namespace {

/// A matrix, or a plan made of one, that is ready to be multiplied with.
template <class T>
struct TimedProduct {
  std::shared_ptr<const AnyMatrix<T>> matrix;  ///< null where the product has no matrix of a known format
  std::function<void(Context&, const Array<T>& x, Array<T>& y, const Dots<T>&)> apply;
  double bytes;  ///< of the matrix, in the form in which it is read
};

/// A plan of the matrix, which keeps both.
template <class T>
TimedProduct<T> planned(Context& ctx, const std::shared_ptr<const AnyMatrix<T>>& A,
                        SpmvMethod method = SpmvMethod::in_place) {
  const auto plan = std::make_shared<const SpmvPlan<T>>(ctx, *A, Op::none, method);
  const auto apply = [A, plan](Context& on, const Array<T>& x, Array<T>& y, const Dots<T>& dots) {
    plan->apply(on, 1.0, x, 0.0, y, dots);
  };
  const bool chosen = method == SpmvMethod::automatic;
  const double bytes = chosen ? static_cast<double>(plan->report().bytes) : matrix_bytes(*A);
  return {chosen ? nullptr : A, apply, bytes};
}

/// A way to hold the matrix, under the name that rows and --format use.
template <class T>
struct ProductVariant {
  std::string name;
  std::function<TimedProduct<T>(const BenchSubject<T>&, std::size_t copy)> make;
};

/// The matrix in a format.
template <class T>
TimedProduct<T> converted(const BenchSubject<T>& s, Format format) {
  return with_csr(*s.A, [&](const auto& csr) {
    return planned<T>(s.ctx, std::make_shared<const AnyMatrix<T>>(convert_format(s.ctx, csr, format, {})));
  });
}

/// The first one is what the others have to beat.
template <class T>
const std::vector<ProductVariant<T>>& variants() {
  static const std::vector<ProductVariant<T>> all = [] {
    std::vector<ProductVariant<T>> some{
        {"csr", [](const BenchSubject<T>& s, std::size_t copy) { return planned<T>(s.ctx, source_copy(s, copy)); }},
        {"auto", [](const BenchSubject<T>& s, std::size_t copy) {
           return planned<T>(s.ctx, source_copy(s, copy), SpmvMethod::automatic);
         }}};
    for (const NamedFormat& named : format_samples(in_bench))
      some.push_back({named.name,
                      [format = named.format](const BenchSubject<T>& s, std::size_t) { return converted(s, format); }});
    return some;
  }();
  return all;
}

template <class T>
class SpmvBench {
 public:
  SpmvBench(const BenchSubject<T>& subject, bool with_dot)
      : s_(subject),
        with_dot_(with_dot),
        reference_(rows(*s_.A), "reference"),
        difference_(rows(*s_.A), "difference"),
        dot_(1, "dot") {}

  void run() {
    if (with_dot_ && rows(*s_.A) != cols(*s_.A)) {
      Row row = s_.row("spmv_dot", "csr");
      row.error = "x and y are of different sizes, as the matrix is not square";
      return s_.report(row);
    }
    for (const ProductVariant<T>& variant : variants<T>()) {
      const bool baseline = &variant == &variants<T>().front();
      if (!baseline && !s_.wants(variant.name)) continue;
      Row row = measured(variant);
      if (baseline)
        baseline_ = row;
      else
        relate(row);
      if (s_.wants(variant.name)) s_.report(row);
    }
  }

 private:
  Row measured(const ProductVariant<T>& variant) {
    Row row = s_.row(with_dot_ ? "spmv_dot" : "spmv", variant.name);
    measure_job<T>(
        s_, row, [&](std::size_t copy) { return job(copy == 0 ? timed(variant, row) : variant.make(s_, copy), copy); });
    if (!row.error.empty()) row.setup_ms.reset();
    return row;
  }

  /// The quicker of two times: the first one finds caches, workspace and the device's memory unprepared.
  TimedProduct<T> timed(const ProductVariant<T>& variant, Row& row) {
    TimedProduct<T> product;
    const auto build = [&] {
      product = {};
      return once_ms(s_.ctx, [&] { product = variant.make(s_, 0); });
    };
    const double first = build();
    row.setup_ms = std::min(first, build());
    return product;
  }

  Job<T> job(TimedProduct<T> made, std::size_t copy) {
    const auto product = std::make_shared<const TimedProduct<T>>(std::move(made));
    const Array<T>& x = vector_of(x_, copy, cols(*s_.A), "x");
    Array<T>& y = vector_of(y_, copy, rows(*s_.A), "y");
    Job<T> job;
    const Dots<T> dots = with_dot_ ? Dots<T>{.with_first = &x, .first = &dot_} : Dots<T>{};
    job.run = [this, product, &x, &y, dots] { product->apply(s_.ctx, x, y, dots); };
    job.bytes = spmv_bytes<T>(product->bytes, y.size(), x.size(), false);
    job.flops = spmv_flops<T>(y.size(), nnz(*s_.A), with_dot_);
    job.task = {.kernel = with_dot_ ? "spmv_dot" : "spmv", .A = product->matrix.get(), .x = &x, .y = &y};
    job.keeps = product;
    job.fault = [this, &y] { return fault(y); };
    return job;
  }

  /// Copies of a vector are made as they are asked for, and serve all variants.
  static Array<T>& vector_of(std::deque<Array<T>>& copies, std::size_t copy, std::int64_t size, const char* name) {
    while (copies.size() <= copy)
      copies.emplace_back(copies.empty() ? random_vector<T>(size, 1, RandomPurpose::rhs)
                                         : std::vector<T>(copies[0].host().begin(), copies[0].host().end()),
                          name);
    return copies[copy];
  }

  /// The first result, which is csr's, is the reference for all others. Whoever comes next finds NaN in y, so that it
  /// cannot pass with what stood there.
  std::string fault(Array<T>& y) {
    std::string found;
    if (has_reference_)
      found = difference_from_reference(y);
    else
      copy(s_.ctx, y, reference_);
    has_reference_ = true;
    fill(s_.ctx, std::numeric_limits<real_t<T>>::quiet_NaN(), y);
    return found;
  }
  /// A wrong kernel is off by far more than sqrt(eps) of the norm, a right one by far less.
  std::string difference_from_reference(const Array<T>& y) {
    copy(s_.ctx, y, difference_);
    axpby(s_.ctx, -1.0, reference_, 1.0, difference_);
    const double size = norm(reference_), off = norm(difference_);
    const double tolerance = std::sqrt(static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()));
    if (!std::isfinite(size) || off <= tolerance * size) return {};
    return fmt::format("wrong result: it differs from the first variant's by {:.2g} of its norm", off / size);
  }
  double norm(const Array<T>& v) {
    Array<double> result(1);
    norm2(s_.ctx, v, result);
    return result.host()[0];
  }

  /// What csr in place, the baseline, says about another variant. Where the rival has no such format, its best for csr
  /// is what it would be used with.
  void relate(Row& row) const {
    if (!row.ms || !baseline_.ms) return;
    if (*row.ms < *baseline_.ms) row.break_even = std::ceil(row.setup_ms.value_or(0) / (*baseline_.ms - *row.ms));
    if (row.rival_ms || !row.rival_error.empty() || !baseline_.rival_ms) return;
    row.rival = baseline_.rival, row.rival_variant = baseline_.rival_variant, row.rival_ms = baseline_.rival_ms;
    row.ratio = *row.rival_ms / *row.ms;
  }

  const BenchSubject<T>& s_;
  bool with_dot_;
  std::deque<Array<T>> x_, y_;
  Array<T> reference_, difference_;
  Array<wide_t<T>> dot_;
  bool has_reference_ = false;
  Row baseline_;
};

}  // namespace

template <class T>
void bench_spmv(const BenchSubject<T>& s) {
  SpmvBench<T>(s, false).run();
}

template <class T>
void bench_spmv_dot(const BenchSubject<T>& s) {
  SpmvBench<T>(s, true).run();
}

std::vector<std::string> spmv_formats() {
  std::vector<std::string> names;
  for (const auto& variant : variants<double>()) names.emplace_back(variant.name);
  return names;
}

template <class T>
struct SpmvBenchInstances {
  static constexpr std::tuple list{instance<void(const BenchSubject<T>&)>(bench_spmv),
                                   instance<void(const BenchSubject<T>&)>(bench_spmv_dot)};
};
KRILL_INSTANTIATE(SpmvBenchInstances);

}  // namespace krill::apps::bench

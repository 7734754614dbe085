// From format to format, and the transposition. Results go into arrays that are there already, as cuSPARSE's do.
#include <functional>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"
#include "apps/samples/formats.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/convert/work.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/work.hpp"

namespace krill::apps::bench {
namespace {

/// What a conversion reads and writes; not all of it is used by each.
template <class T, class Offset>
struct Arrays {
  std::shared_ptr<const AnyMatrix<T>> source;
  Array<Offset> offsets{0, "result offsets"};
  Array<std::int32_t> indices{0, "result indices"};
  Array<T> values{0, "result values"};

  /// For the rival, which counts in 32 bits.
  Task<T> task(std::string_view kernel) {
    Task<T> task{.kernel = kernel, .indices = &indices, .values = &values};
    if constexpr (sizeof(Offset) == sizeof(std::int32_t)) task.A = source.get(), task.offsets = &offsets;
    return task;
  }
};

template <class T, class Offset>
Job<T> csr_to_csc(const BenchSubject<T>& s, const Csr<T, Offset>&, std::size_t copy) {
  auto arrays = std::make_shared<Arrays<T, Offset>>();
  arrays->source = source_copy(s, copy);
  const auto& A = std::get<Csr<T, Offset>>(*arrays->source);
  arrays->offsets = Array<Offset>(A.cols() + std::int64_t{1}, "csc col_offsets");
  arrays->indices = Array<std::int32_t>(A.nnz(), "csc row_indices");
  arrays->values = Array<T>(A.nnz(), "csc values");
  const auto run = [&ctx = s.ctx, &A, out = arrays.get()] {
    ctx.dispatch([&](const auto& where) {
      csr_transpose<kernel_t<T>, Offset>(
          where, A.view(where), false,
          {A.cols(), A.rows(), A.nnz(), out->offsets.write(where), out->indices.write(where), out->values.write(where)},
          nullptr);
    });
  };
  return {run, csr2csc_bytes<T, Offset>(A.rows(), A.cols(), A.nnz()), arrays->task("csr2csc"), arrays, {}};
}

template <class T, class Offset>
Job<T> csr_to_coo(const BenchSubject<T>& s, const Csr<T, Offset>&, std::size_t copy) {
  auto arrays = std::make_shared<Arrays<T, Offset>>();
  arrays->source = source_copy(s, copy);
  const auto& A = std::get<Csr<T, Offset>>(*arrays->source);
  arrays->indices = Array<std::int32_t>(A.nnz(), "coo row_indices");
  const auto run = [&ctx = s.ctx, &A, out = arrays.get()] {
    ctx.dispatch([&](const auto& where) {
      expand_offsets(where, A.rows(), A.nnz(), A.row_offsets().read(where), out->indices.write(where));
    });
  };
  return {run, row_index_bytes<Offset>(A.rows(), A.nnz()), arrays->task("csr2coo"), arrays, {}};
}

template <class T, class Offset>
Job<T> coo_to_csr(const BenchSubject<T>& s, const Csr<T, Offset>& csr, std::size_t) {
  auto arrays = std::make_shared<Arrays<T, Offset>>();
  arrays->source = std::make_shared<const AnyMatrix<T>>(to_coo(s.ctx, csr));
  const auto& A = std::get<Coo<T>>(*arrays->source);
  arrays->offsets = Array<Offset>(A.rows() + std::int64_t{1}, "csr row_offsets");
  const auto run = [&ctx = s.ctx, &A, out = arrays.get()] {
    ctx.dispatch([&](const auto& where) {
      compress_rows(where, A.rows(), A.nnz(), A.row_indices().read(where), out->offsets.write(where));
    });
  };
  return {run, row_index_bytes<Offset>(A.rows(), A.nnz()), arrays->task("coo2csr"), arrays, {}};
}

/// The whole conversion, the result's memory included.
template <class T>
Job<T> csr_to(const BenchSubject<T>& s, Format format, std::size_t copy) {
  return with_csr(*s.A, [&]<class Matrix>(const Matrix&) -> Job<T> {
    const auto source = source_copy(s, copy);
    const auto& A = std::get<Matrix>(*source);
    const double bytes = matrix_bytes(*source) + matrix_bytes(convert_format(s.ctx, A, format));
    return {[&ctx = s.ctx, &A, format] { convert_format(ctx, A, format); }, bytes, {.kernel = "convert"}, source, {}};
  });
}

/// A conversion under the name that rows use, with the format that --format has to name.
template <class T>
struct Conversion {
  std::string name, format;
  std::function<Job<T>(const BenchSubject<T>&, std::size_t copy)> make;
};

template <class T, auto Make>
Job<T> from_csr(const BenchSubject<T>& s, std::size_t copy) {
  return with_csr(*s.A, [&](const auto& csr) { return Make(s, csr, copy); });
}

template <class T>
std::vector<Conversion<T>> conversions() {
  std::vector<Conversion<T>> all{
      {"csr to coo", "coo", from_csr<T, [](const auto&... all) { return csr_to_coo(all...); }>},
      {"coo to csr", "coo", from_csr<T, [](const auto&... all) { return coo_to_csr(all...); }>}};
  for (const NamedFormat& named : format_samples(in_conversions))
    all.push_back(
        {"csr to " + named.name, named.name,
         [format = named.format](const BenchSubject<T>& s, std::size_t copy) { return csr_to(s, format, copy); }});
  return all;
}

}  // namespace

template <class T>
void bench_convert(const BenchSubject<T>& s) {
  for (const Conversion<T>& conversion : conversions<T>()) {
    if (!s.wants(conversion.format)) continue;
    Row row = s.row("convert", conversion.name);
    measure_job<T>(s, row, [&](std::size_t copy) { return conversion.make(s, copy); });
    s.report(row);
  }
}

template <class T>
void bench_csr2csc(const BenchSubject<T>& s) {
  Row row = s.row("csr2csc", "csr");
  measure_job<T>(
      s, row, [&](std::size_t copy) { return with_csr(*s.A, [&](const auto& a) { return csr_to_csc(s, a, copy); }); });
  s.report(row);
}

template <class T>
struct ConversionBenchInstances {
  static constexpr std::tuple list{instance<void(const BenchSubject<T>&)>(bench_convert),
                                   instance<void(const BenchSubject<T>&)>(bench_csr2csc)};
};
KRILL_INSTANTIATE(ConversionBenchInstances);

}  // namespace krill::apps::bench

#include "apps/bench/bench_matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <numeric>

#include "apps/case/generator.hpp"
#include "apps/case/keys.hpp"
#include "apps/case/suggest.hpp"
#include "sparse/core/counter_random.hpp"
#include "sparse/io/generate_rows.hpp"
#include "sparse/io/hypre_ij.hpp"
#include "sparse/io/read.hpp"
#include "sparse/spmv/work.hpp"

namespace krill::apps::bench {
namespace {

constexpr int seed = 1;
enum Purpose { entry_column = 201, row_length, entry_value };  // what random numbers are for
constexpr std::int64_t max_rows = std::numeric_limits<std::int32_t>::max();

Poisson3dOptions twenty_seven_points(int n) { return {n, 0, 0, Stencil3d::twenty_seven}; }

/// A square matrix from columns(i, out), which replaces `out` by the columns of row i, ascending.
template <class T, class Columns>
AnyMatrix<T> from_columns(std::string_view type, std::int64_t rows, const Columns& columns) {
  std::vector<std::int64_t> before(static_cast<std::size_t>(rows) + 1);  // entries of the rows before
  for_blocks(krill::detail::all_threads(), rows, 1024, rows * 16, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::int32_t> row;
    for (std::int64_t i = begin; i < end; ++i) {
      columns(i, row);
      before[static_cast<std::size_t>(i) + 1] = std::ssize(row);
    }
  });
  std::partial_sum(before.begin(), before.end(), before.begin());
  const CounterRandom values(seed, entry_value);
  const auto first = [&](std::int64_t i) { return before[static_cast<std::size_t>(i)]; };
  const auto every_row = [](std::int64_t all, const auto&) { return RowRange{0, all}; };
  return krill::detail::build_rows<T>(type, rows, every_row, first,
                                      [&](std::int64_t i, std::int32_t* cols, kernel_t<T>* entries) {
                                        static thread_local std::vector<std::int32_t> row;
                                        columns(i, row);
                                        for (std::size_t k = 0; k < row.size(); ++k)
                                          cols[k] = row[k], entries[k] = values.symmetric<kernel_t<T>>(i, row[k]);
                                        return std::ssize(row);
                                      });
}

template <class T>
AnyMatrix<T> source_matrix(const RandomColumns& o) {
  const CounterRandom random(seed, entry_column);
  const auto length = static_cast<std::size_t>(std::min(o.row_entries, o.rows));
  return from_columns<T>("random columns", o.rows, [&](std::int64_t i, std::vector<std::int32_t>& row) {
    row.clear();
    for (std::int64_t draw = 0; row.size() < length; ++draw) {
      const auto col = static_cast<std::int32_t>(random.below(o.rows, i, draw));
      if (std::find(row.begin(), row.end(), col) == row.end()) row.push_back(col);
    }
    std::sort(row.begin(), row.end());
  });
}

template <class T>
AnyMatrix<T> source_matrix(const PowerLaw& o) {
  // Square roots and products alone, which every machine rounds alike. P(length > l) ~ l^(-4/3), and the column of rank
  // r is drawn with a chance of r^(-3/5); ranks are spread by a multiplier that shares no factor with most sizes.
  constexpr double shortest = 3.37;
  constexpr std::int64_t spread = 1'000'003;
  const CounterRandom lengths(seed, row_length), random(seed, entry_column);
  const std::int64_t n = o.rows;
  return from_columns<T>("power law", n, [&](std::int64_t i, std::vector<std::int32_t>& row) {
    const double root = std::sqrt(1 - lengths.unit(i));  // of a number in (0, 1]
    const double length = std::min(shortest / (root * std::sqrt(root)), std::max(1.0, static_cast<double>(n) / 20));
    row.resize(static_cast<std::size_t>(length));
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double u = random.unit(i, static_cast<std::int64_t>(k));
      const auto rank = static_cast<std::int64_t>(static_cast<double>(n) * (u * u * std::sqrt(u)));
      row[k] = static_cast<std::int32_t>(rank * spread % n);
    }
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
  });
}

template <class T>
AnyMatrix<T> source_matrix(const GeneratorOptions& options) {
  return generate<T>(options);
}

template <class T>
AnyMatrix<T> source_matrix(const MatrixFile& file) {
  CanonicalReport report;
  return assemble(read_matrix<T>(file.file).matrix, report);
}

/// "bcsstk08" of "matrices/bcsstk08.mtx.gz".
std::string stem(const std::string& path) {
  const std::string name = std::filesystem::path(path).filename().string();
  const std::string first = name.substr(0, name.find('.'));
  return first.empty() ? name : first;
}

template <class T>
std::int64_t times(const AnyMatrix<T>& A, const RepeatBlocks& repeat) {
  if (repeat.times > 0) return repeat.times;
  const auto size = std::max<std::int64_t>({rows(A), cols(A), 1});
  const double wanted = std::ceil(repeat.min_bytes / matrix_bytes(A));
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(wanted), 1, max_rows / size);
}

template <class T, class From, class To>
AnyMatrix<T> repeat_as(const Csr<T, From>& A, std::int64_t times) {
  const std::int64_t rows = A.rows(), nnz = A.nnz();
  Array<To> row_offsets(rows * times + 1, "csr row_offsets");
  Array<std::int32_t> col_indices(nnz * times, "csr col_indices");
  Array<T> values(nnz * times, "csr values");
  const CsrView<const kernel_t<T>, From> a = A.view(Host{});
  const CsrView<kernel_t<T>, To> out{static_cast<std::int32_t>(rows * times),
                                     static_cast<std::int32_t>(A.cols() * times),
                                     nnz * times,
                                     row_offsets.write(Host{}),
                                     col_indices.write(Host{}),
                                     values.write(Host{})};
  for_blocks(krill::detail::all_threads(), times, 1, out.nnz, [&](std::int64_t block, std::int64_t) {
    const auto shift = static_cast<std::int32_t>(block * A.cols());
    const auto before = static_cast<To>(block * nnz);
    for (std::int64_t i = 0; i < rows; ++i)
      out.row_offsets[block * rows + i] = before + static_cast<To>(a.row_offsets[i]);
    for (std::int64_t k = 0; k < nnz; ++k) out.col_indices[block * nnz + k] = a.col_indices[k] + shift;
    std::copy_n(a.values, nnz, out.values + block * nnz);
  });
  out.row_offsets[rows * times] = static_cast<To>(out.nnz);
  return Csr<T, To>(out.cols, std::move(row_offsets), std::move(col_indices), std::move(values));
}

/// All names that --matrix knows.
std::vector<std::string> known_names() {
  std::vector<std::string> names = types_of(case_key("matrix"));
  for (const auto suite_name : suite_names)
    for (const BenchMatrix& matrix : suite(suite_name))
      if (std::find(names.begin(), names.end(), matrix.name) == names.end()) names.push_back(matrix.name);
  return names;
}

}  // namespace

std::vector<BenchMatrix> suite(std::string_view name) {
  if (name == "targets")
    return {{"p2d4096", Poisson2dOptions{4096}}, {"p3d256", Poisson3dOptions{256}},
            {"p3d128", Poisson3dOptions{128}},   {"p2d1024", Poisson2dOptions{1024}},
            {"s27", twenty_seven_points(160)},   {"rnd", RandomColumns{2'000'000, 16}},
            {"pow", PowerLaw{1'000'000}}};
  return {{"p2d1024", Poisson2dOptions{1024}}, {"p3d100", Poisson3dOptions{100}},
          {"p3d50", Poisson3dOptions{50}},     {"p2d256", Poisson2dOptions{256}},
          {"s27_50", twenty_seven_points(50)}, {"rnd100k", RandomColumns{100'000, 16}},
          {"pow100k", PowerLaw{100'000}}};
}

BenchMatrix named_matrix(const std::string& name, const std::vector<std::string>& settings) {
  const auto generators = types_of(case_key("matrix"));
  if (std::find(generators.begin(), generators.end(), name) != generators.end()) {
    std::string with_settings = name;
    for (const auto& setting : settings) with_settings += " " + setting;
    return {with_settings, parse_generator(name, settings)};
  }
  if (!settings.empty())
    throw InvalidArgument(fmt::format(
        "{}: {} is no generator, so it takes no settings; krill explain matrix lists them", settings.front(), name));
  for (const auto suite_name : suite_names)
    for (BenchMatrix& matrix : suite(suite_name))
      if (matrix.name == name) return std::move(matrix);
  if (!std::filesystem::exists(name) && !find_ij_files(name)) {
    const auto names = known_names();
    throw InvalidArgument(fmt::format("--matrix: there is neither a file nor a matrix '{}'{}\n  expected a file or {}",
                                      name, did_you_mean(name, names), one_of(names)));
  }
  peek_matrix(name);
  return {stem(name), MatrixFile{name}};
}

std::optional<BenchMatrix> enlarged(const BenchMatrix& matrix, int times) {
  const auto* options = std::get_if<GeneratorOptions>(&matrix.source);
  if (!options || !grid_of(*options)) return {};
  BenchMatrix larger{fmt::format("{} with {} times the rows", matrix.name, times), *options};
  std::visit(
      [&]<class Options>(Options& o) {
        if constexpr (requires { o.nz; })
          o.nz = (o.nz > 0 ? o.nz : o.nx) * times;
        else if constexpr (requires { o.ny; })
          o.ny = (o.ny > 0 ? o.ny : o.nx) * times;
        else if constexpr (requires { o.nx; })
          o.nx *= times;
      },
      std::get<GeneratorOptions>(larger.source));
  return larger;
}

const GeneratorOptions* own_rows_of(const BenchMatrix& matrix) {
  const auto* options = std::get_if<GeneratorOptions>(&matrix.source);
  return options && systems_of(*options) == 0 && makes_own_rows(*options) ? options : nullptr;
}

bool needs_complex(const BenchMatrix& matrix) {
  if (const auto* file = std::get_if<MatrixFile>(&matrix.source))
    return peek_matrix(file->file).field == Field::complex;
  const auto* options = std::get_if<GeneratorOptions>(&matrix.source);
  return options && krill::needs_complex(*options);
}

template <class T>
AnyMatrix<T> repeat_blocks(const AnyMatrix<T>& A, std::int64_t times) {
  const std::int64_t rows = krill::rows(A), cols = krill::cols(A), nnz = krill::nnz(A);
  if (rows * times > max_rows || cols * times > max_rows)
    throw InvalidArgument(
        fmt::format("--repeat-blocks {}: {} x {} repeated as often has more than {} rows or columns; at most {} blocks "
                    "are possible",
                    times, rows, cols, max_rows, max_rows / std::max(rows, cols)));
  krill::detail::require_matrix_memory("--repeat-blocks", rows * times, nnz * times, sizeof(T));
  return with_csr(A, [&]<class Offset>(const Csr<T, Offset>& a) {
    return nnz * times <= max_rows ? repeat_as<T, Offset, std::int32_t>(a, times)
                                   : repeat_as<T, Offset, std::int64_t>(a, times);
  });
}

template <class T>
MadeMatrix<T> make_matrix(const BenchMatrix& matrix, const RepeatBlocks& repeat) {
  AnyMatrix<T> A = std::visit([](const auto& source) { return source_matrix<T>(source); }, matrix.source);
  const bool from_file = std::holds_alternative<MatrixFile>(matrix.source);
  const std::int64_t blocks = from_file ? times(A, repeat) : 1;
  if (blocks == 1) return {matrix.name, std::move(A)};
  return {fmt::format("{} x {}", matrix.name, blocks), repeat_blocks(A, blocks)};
}

template <class T>
struct BenchMatrixInstances {
  static constexpr std::tuple list{instance<MadeMatrix<T>(const BenchMatrix&, const RepeatBlocks&)>(make_matrix),
                                   instance<AnyMatrix<T>(const AnyMatrix<T>&, std::int64_t)>(repeat_blocks)};
};
KRILL_INSTANTIATE(BenchMatrixInstances);

}  // namespace krill::apps::bench

#include "apps/system/linear_system.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "apps/case/file_list.hpp"
#include "apps/system/own_rows.hpp"
#include "apps/system/partition_file.hpp"
#include "solvers/method/refusal.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/counter_random.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/core/team.hpp"
#include "sparse/io/matrix_text.hpp"

namespace krill::apps {
namespace {

/// Copies in this or another precision, beyond the range of which values become infinite or 0.
template <class To, class From>
Array<To> converted(const Array<From>& from) {
  Array<To> to(from.size(), "values");
  const auto values = from.host();
  const auto out = to.edit();
#pragma omp parallel for if (values.size() > 100'000)
  for (std::size_t k = 0; k < values.size(); ++k) out[k] = static_cast<To>(values[k]);
  return to;
}
template <class To, class From, class Offset>
AnyMatrix<To> converted(const Csr<From, Offset>& A) {
  return Csr<To, Offset>(A.cols(), A.row_offsets().clone(), A.col_indices().clone(), converted<To>(A.values()));
}
template <class To, class Other>
AnyMatrix<To> converted(const Other&) {
  throw InvalidArgument("a copy in another precision: the matrix has to be in CSR form");
}
template <class To, class From>
AnyMatrix<To> converted(const AnyMatrix<From>& A) {
  return std::visit([](const auto& a) { return converted<To>(a); }, A);
}

/// Raises InvalidArgument where one of the first entries is not finite.
template <class T>
void require_finite(const std::string& what, const Columns<T>& columns, std::int64_t size) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(size); ++i) {
    const std::complex<double> value(columns.values[i]);
    if (!std::isfinite(value.real()) || !std::isfinite(value.imag()))
      throw InvalidArgument(
          fmt::format("{}: entry {} (counted from 0) is {}; a solve needs finite numbers", what, i, value_text(value)));
  }
}

/// Raises InvalidArgument where vectors have another length.
template <class T>
void require_length(const std::string& what, const Columns<T>& columns, std::int64_t size) {
  if (columns.rows != size)
    throw InvalidArgument(fmt::format("{} has {} entries, the matrix has {} rows", what, columns.rows, size));
}

template <class T>
const Array<T>& values_of(const AnyMatrix<T>& A) {
  if (const auto* narrow = std::get_if<Csr<T, std::int32_t>>(&A)) return narrow->values();
  return std::get<Csr<T, std::int64_t>>(A).values();
}

/// Whether `rounded` holds each value as it was given.
template <class T>
bool is_exact(const Array<T>& rounded, const Array<wide_t<T>>& given) {
  return std::ranges::equal(rounded.host(), given.host(),
                            [](const T& a, const wide_t<T>& b) { return static_cast<wide_t<T>>(a) == b; });
}

/// Raises InvalidArgument where a finite matrix lies outside of the range of T as a whole.
template <class T>
void require_in_range(const std::string& name, const Array<wide_t<T>>& values) {
  double most = 0;
  for (const auto& value : values.host()) most = std::max(most, std::abs(value));
  using Limits = std::numeric_limits<real_t<T>>;
  if (most == 0 || !std::isfinite(most) || (most >= Limits::min() && most <= Limits::max())) return;
  throw InvalidArgument(
      fmt::format("{}: the greatest entry has modulus {:.3g}; in single precision, numbers beyond 3.4e38 are infinite "
                  "and those below 1.2e-38 vanish; use precision: {}, or scale the matrix",
                  name, most, is_complex<T> ? "complex128" : "float64"));
}

template <class T>
SourceMatrix<T> read_source(const MatrixFile& o, Timings& timings) {
  Stopwatch watch;
  auto input = read_matrix<wide_t<T>>(o.file);
  timings.read += watch.lap();
  CanonicalReport canonical;
  auto A = assemble(std::move(input.matrix), canonical);
  SourceMatrix<T> source = rounded<T>(std::move(A), {o.file, input.checksum, input.kind, canonical});
  source.rhs = std::move(input.rhs), source.rhs_name = input.rhs_name;
  timings.assemble += watch.lap();
  source.coordinates = read_coordinates(o, rows(source.A));
  timings.read += watch.lap();
  return source;
}

template <class T>
SourceMatrix<T> read_source(const MatrixBatch& o, Timings& timings) {
  Stopwatch watch;
  auto input = read_batch<wide_t<T>>(o.batch);
  timings.read += watch.lap();
  SourceMatrix<T> source = rounded<T>(std::move(input.matrix), {o.batch, input.checksum, input.kind, input.canonical});
  source.systems = input.systems;
  timings.assemble += watch.lap();
  return source;
}

template <class T>
SourceMatrix<T> read_source(const GeneratorOptions& options, Timings& timings) {
  Stopwatch watch;
  AnyMatrix<wide_t<T>> A = generate<wide_t<T>>(options);
  timings.read += watch.lap();
  SourceMatrix<T> source = rounded<T>(std::move(A), {source_name(options), {}, {}, {}});
  source.systems = systems_of(options);
  timings.assemble += watch.lap();
  if (auto coordinates = node_coordinates(options))
    source.coordinates = std::make_shared<const Dense<double>>(std::move(*coordinates));
  timings.read += watch.lap();
  return source;
}

template <class T>
Array<T> first_column(Columns<T> columns, const char* name) {
  columns.values.resize(static_cast<std::size_t>(columns.rows));
  return Array<T>(std::move(columns.values), name);
}

/// A vector, or of a batch one for each system, one after the other.
template <class T>
Array<T> read_checked(const std::string& key, const std::string& path, std::int64_t size, std::int32_t systems,
                      const char* name) {
  Columns<T> columns = read_vector<T>(path);
  if (columns.cols != std::max(1, systems))
    throw InvalidArgument(fmt::format(
        "{}: {} has {} rows and {} columns; {} expected", key, path, columns.rows, columns.cols,
        systems == 0 ? "one column is" : fmt::format("{} columns, one for each system of the batch, are", systems)));
  if (columns.rows == size / columns.cols)
    columns.rows = static_cast<std::int32_t>(size), columns.cols = 1;
  else
    size /= columns.cols;
  require_vector(fmt::format("{}: {}", key, path), columns, size);
  return first_column(std::move(columns), name);
}

template <class T>
Array<T> random_array(std::int64_t size, int seed, RandomPurpose purpose, const char* name) {
  return Array<T>(random_vector<T>(size, seed, purpose), name);
}

/// Raises InvalidArgument for a right-hand side that is not finite; of several the first such entry is noted.
template <class T>
void look_at_rhs(const std::string& what, const Columns<T>& columns, std::vector<std::string>& notes) {
  if (columns.cols == 1) return require_finite(what, columns, columns.rows);
  const auto bad = std::ranges::find_if(columns.values, [](const T& value) { return !std::isfinite(std::abs(value)); });
  if (bad == columns.values.end()) return;
  const auto at = bad - columns.values.begin();
  notes.push_back(fmt::format(
      "{}: entry {} of column {} (both counted from 0) is {}; such columns are lost, and no other: correct them, or "
      "leave them out",
      what, at % columns.rows, at / columns.rows, value_text(std::complex<double>(*bad))));
}

/// The right-hand sides that came with the matrix.
template <class T>
Columns<wide_t<T>> carried_rhs(SourceMatrix<T>& source, std::int64_t size) {
  if (!source.rhs)
    throw InvalidArgument(fmt::format("rhs: {} carries no right-hand side; name a file: rhs: {{type: file, path: ...}}",
                                      source.origin.name));
  require_length("rhs: " + source.rhs_name, *source.rhs, size);
  return std::move(*source.rhs);
}

/// b of a file, or that which came with the matrix.
template <class T>
Array<wide_t<T>> file_rhs(const FileRhs& o, std::int64_t size, SourceMatrix<T>& source,
                          std::vector<std::string>& notes) {
  if (source.systems > 0 && !o.path.empty())
    return read_checked<wide_t<T>>("rhs.path", o.path, size, source.systems, "b");
  Columns<wide_t<T>> columns = o.path.empty() ? carried_rhs(source, size) : read_rhs<wide_t<T>>(o.path, size);
  look_at_rhs(o.path.empty() ? "rhs: " + source.rhs_name : "rhs.path: " + o.path, columns, notes);
  return Array<wide_t<T>>(std::move(columns.values), "b");
}

/// b, and the solution where b is made from one.
template <class T>
struct Rhs {
  Array<T> b;
  std::optional<Array<T>> known = {};
  std::optional<Array<wide_t<T>>> given = {};  ///< what b was rounded from
};

/// b from a file.
template <class T>
Rhs<T> rounded_rhs(const std::string& name, Array<wide_t<T>> given) {
  if constexpr (std::is_same_v<T, wide_t<T>>) {
    return {std::move(given)};
  } else {
    Array<T> b = converted<T>(given);
    const auto values = b.host();
    for (std::size_t i = 0; i < values.size(); ++i)
      if (!std::isfinite(std::abs(values[i])) && std::isfinite(std::abs(given.host()[i])))
        throw InvalidArgument(fmt::format(
            "rhs: {}: entry {} (counted from 0) is {}, which single precision cannot hold; use precision: "
            "{}, or scale the system",
            name, i, value_text(std::complex<double>(given.host()[i])), is_complex<T> ? "complex128" : "float64"));
    if (is_exact(b, given)) return {std::move(b)};
    return {std::move(b), {}, std::move(given)};
  }
}

template <class T>
Rhs<T> make_rhs(Context& ctx, const RhsOptions& options, const AnyMatrix<T>& A, SourceMatrix<T>& source,
                std::vector<std::string>& notes) {
  const std::int64_t n = cols(A);  // ranks may have fewer rows
  using Made = Rhs<T>;
  return std::visit(
      Overloaded{
          [&](const OnesRhs&) -> Made { return {Array<T>(std::vector<T>(static_cast<std::size_t>(n), T(1)), "b")}; },
          [&](const RandomRhs& o) -> Made {
            return {random_array<T>(n * (source.systems > 0 ? 1 : o.columns), o.seed, RandomPurpose::rhs, "b")};
          },
          [&](const FileRhs& o) -> Made {
            return rounded_rhs<T>(o.path.empty() ? source.rhs_name : o.path, file_rhs(o, n, source, notes));
          },
          [&](const ManufacturedRhs& o) -> Made {
            Array<T> known = random_array<T>(n, o.seed, RandomPurpose::known_solution, "known solution");
            if (source.given) {  // A x of the matrix as it was given
              Context host = Context::host(ctx.threads());
              Array<wide_t<T>> b(n, "b");
              MatrixOperator<wide_t<T>>(*source.given).apply(host, converted<wide_t<T>>(known), b);
              Rhs<T> rhs = rounded_rhs<T>("manufactured", std::move(b));
              rhs.known = std::move(known);
              return rhs;
            }
            Array<T> b(rows(A), "b");
            if (source.partition) {
              Context host = Context::host(ctx.threads());
              MatrixOperator<T>(A).apply(host, known, b);
              return {Array<T>(gather_rows<T>(*ctx.team, *source.partition, b.host()), "b"), std::move(known)};
            }
            MatrixOperator<T>(A).apply(ctx, known, b);
            ctx.synchronize();
            return {std::move(b), std::move(known)};
          }},
      options);
}

/// The system as it was given, where A or b were rounded.
template <class T>
std::shared_ptr<const GivenSystem<T>> given_system(std::shared_ptr<const AnyMatrix<wide_t<T>>> given,
                                                   const AnyMatrix<T>& A, Rhs<T>& rhs) {
  if (!given && !rhs.given) return {};
  if (!given) given = std::make_shared<const AnyMatrix<wide_t<T>>>(converted<wide_t<T>>(A));
  return std::make_shared<const GivenSystem<T>>(
      GivenSystem<T>{std::move(given), rhs.given ? std::move(*rhs.given) : converted<wide_t<T>>(rhs.b)});
}

/// A guess for each of so many right-hand sides.
template <class T>
Array<T> make_guess(const GuessOptions& options, std::int64_t n, std::int32_t systems, std::int64_t columns) {
  const auto repeated = [&](std::vector<T> one) {
    const auto size = static_cast<std::size_t>(n);
    one.resize(size * static_cast<std::size_t>(columns));
    for (std::size_t i = size; i < one.size(); ++i) one[i] = one[i - size];
    return Array<T>(std::move(one), "x");
  };
  return std::visit(
      Overloaded{
          [&](const ZeroGuess&) { return repeated(std::vector<T>(static_cast<std::size_t>(n))); },
          [&](const RandomGuess& o) { return repeated(random_vector<T>(n, o.seed, RandomPurpose::initial_guess)); },
          [&](const FileGuess& o) {
            const auto count = static_cast<std::int32_t>(columns);
            if (columns == 1) return read_checked<T>("initial_guess.path", o.path, n, systems, "x");
            Columns<T> guess = read_vector<T>(o.path);
            if (guess.cols != 1 && guess.cols != count)
              throw InvalidArgument(
                  fmt::format("initial_guess.path: {} has {} columns; one, or one for each of the {} right-hand "
                              "sides is expected",
                              o.path, guess.cols, count));
            require_length("initial_guess.path: " + o.path, guess, n);
            require_finite("initial_guess.path: " + o.path, guess, std::ssize(guess.values));
            return guess.cols == 1 ? repeated(std::move(guess.values)) : Array<T>(std::move(guess.values), "x");
          }},
      options);
}

}  // namespace

std::shared_ptr<const Dense<double>> read_coordinates(const MatrixFile& o, std::int64_t matrix_rows) {
  if (o.coordinates.empty()) return {};
  Columns<double> columns = read_vector<double>(o.coordinates);
  const std::string name = "matrix.coordinates: " + o.coordinates;
  if (columns.cols < 1 || columns.cols > 3)
    throw InvalidArgument(fmt::format("{} has {} columns; 1 to 3 are expected, one a dimension", name, columns.cols));
  if (columns.rows < 1 || matrix_rows % columns.rows != 0)
    throw InvalidArgument(
        fmt::format("{} has {} rows, one for each node; the matrix has {} rows, which is no multiple of that", name,
                    columns.rows, matrix_rows));
  require_finite(name, columns, std::ssize(columns.values));
  return std::make_shared<const Dense<double>>(columns.rows, columns.cols, Array<double>(std::move(columns.values)));
}

std::string source_name(const MatrixSource& options) {
  if (const std::string* file = file_of(options)) return *file;
  return std::visit([](const auto& o) { return fmt::format("generated {}", o.type); },
                    std::get<GeneratorOptions>(options));
}

void take_threads(const Case& settings) {
  if (settings.threads > 0) omp_set_num_threads(settings.threads);
}

Context make_context(const Case& settings) {
  const bool cuda =
      settings.backend == Backend::cuda || (settings.backend == Backend::automatic && device::count() > 0);
  take_threads(settings);
  Context ctx = cuda ? Context::cuda({settings.device}) : Context::host(settings.threads);
  if (settings.loop != LoopControl::automatic) ctx.loop_control = settings.loop;
  return ctx;
}

Precision resolve_precision(const Case& settings) {
  if (settings.precision != Precision::automatic) return settings.precision;
  const bool complex =
      std::visit(Overloaded{[](const MatrixFile& o) { return peek_matrix(o.file).field == Field::complex; },
                            [](const MatrixBatch& o) { return peek_batch(o.batch).field == Field::complex; },
                            [](const GeneratorOptions& o) { return needs_complex(o); }},
                 settings.matrix);
  return complex ? Precision::complex128 : Precision::float64;
}

template <class T>
SourceMatrix<T> rounded(AnyMatrix<wide_t<T>> A, MatrixOrigin origin) {
  if constexpr (std::is_same_v<T, wide_t<T>>) {
    return {std::move(A), std::move(origin)};
  } else {
    require_in_range<T>(origin.name, values_of(A));
    SourceMatrix<T> source{converted<T>(A), std::move(origin)};
    if (!is_exact(values_of(source.A), values_of(A)))
      source.given = std::make_shared<const AnyMatrix<wide_t<T>>>(std::move(A));
    return source;
  }
}

template <class T>
std::vector<T> random_vector(std::int64_t size, int seed, RandomPurpose purpose) {
  const CounterRandom random(seed, static_cast<int>(purpose));
  std::vector<T> values(static_cast<std::size_t>(size));
#pragma omp parallel for if (size > 100'000)
  for (std::int64_t i = 0; i < size; ++i) values[static_cast<std::size_t>(i)] = random.symmetric<T>(i);
  return values;
}

template <class T>
void require_vector(const std::string& what, const Columns<T>& columns, std::int64_t size) {
  require_length(what, columns, size);
  require_finite(what, columns, size);
}

template <class T>
Columns<T> read_rhs(const std::string& path, std::int64_t rows) {
  Columns<T> all;
  for (const std::string& file : files_named(path)) {
    Columns<T> columns = read_vector<T>(file);
    if (columns.cols == 0)
      throw InvalidArgument(
          fmt::format("rhs.path: {} has no columns; expected one of {} entries for each right-hand side", file, rows));
    require_length("rhs.path: " + file, columns, rows);
    if (all.cols > std::numeric_limits<std::int32_t>::max() - columns.cols)
      throw InvalidArgument(fmt::format("rhs.path: {}: more than 2^31 - 1 right-hand sides; name fewer files", file));
    all.rows = columns.rows, all.cols += columns.cols;
    if (all.values.empty())
      all.values = std::move(columns.values);
    else
      all.values.insert(all.values.end(), columns.values.begin(), columns.values.end());
  }
  return all;
}

std::int64_t count_rhs(const Case& settings, std::int32_t carried) {
  if (const auto* random = std::get_if<RandomRhs>(&settings.rhs)) return random->columns;
  const auto* file = std::get_if<FileRhs>(&settings.rhs);
  if (!file) return 1;
  if (file->path.empty()) return std::max(1, carried);
  std::int64_t count = 0;
  for (const std::string& name : files_named(file->path)) count += peek_matrix(name).cols;
  return count;
}

template <class T>
SourceMatrix<T> SourceMatrix<T>::clone() const {
  return {converted<T>(A), origin, rhs, rhs_name, given, properties, systems, coordinates, partition};
}

template <class T>
SourceMatrix<T> load_matrix(Context& ctx, const MatrixSource& options, Timings& timings) {
  SourceMatrix<T> source = std::visit([&](const auto& o) { return read_source<T>(o, timings); }, options);
  Stopwatch watch;
  source.properties = analyze(Host{ctx.threads(), {}, nullptr}, source.A);
  timings.analyze += watch.lap();
  if (source.systems == 0) require_solvable(source.origin.name, source.properties);
  return source;
}

template <class T>
std::vector<ChoiceReason> choose_method(SolveOptions& settings, const SourceMatrix<T>& source, bool on_cuda) {
  if (source.systems > 0) return choose_for_batch(settings, source.systems, source.origin.name);
  std::vector<ChoiceReason> choices = choose_for(settings, source.properties, on_cuda);
  require_suitable(source.origin.name, settings, source.properties);
  return choices;
}

template <class T>
LinearSystem<T> make_system(Context& ctx, SolveRecord& record, SourceMatrix<T> source) {
  Stopwatch watch;
  record.matrix = source.properties, record.origin = source.origin;
  record.choices = choose_method(record.settings, source, ctx.on_cuda());
  record.timings.choose += watch.lap();
  if (source.partition && !(record.why_whole = why_whole(record, &source.properties)).empty()) {
    Context host = Context::host(ctx.threads());
    source = load_matrix<T>(host, record.settings.matrix, record.timings);
    watch.lap();
  }
  auto A = std::make_shared<const AnyMatrix<T>>(std::move(source.A));
  Rhs<T> rhs = make_rhs(ctx, record.settings.rhs, *A, source, record.notes);
  if (source.systems == 0) record.singularity = singularity(record.matrix, rhs.b, stop(record.settings.solver));
  const std::int64_t columns = krill::columns_of("rhs", rhs.b.size(), cols(*A));
  Array<T> x = make_guess<T>(record.settings.initial_guess, cols(*A), source.systems, columns);
  record.timings.read += watch.lap();
  auto given = given_system(std::move(source.given), *A, rhs);
  record.timings.assemble += watch.lap();
  if (ctx.team && !source.partition)
    record.settings.partition = partition_of(record.settings.parallel.partition, rows(*A), ctx.team->size());
  PreparedSystem<T> prepared = prepare(ctx, record.settings, std::move(A), record);
  prepared.given = std::move(given);
  prepared.coordinates = source.coordinates, prepared.partition = std::move(source.partition);
  return {std::move(prepared), std::move(rhs.b), std::move(x), std::move(rhs.known)};
}

template <class T>
LinearSystem<T> load_system(Context& ctx, SolveRecord& record) {
  SourceMatrix<T> source = load_matrix<T>(ctx, record.settings.matrix, record.timings);
  return make_system(ctx, record, std::move(source));
}

template <class T>
struct LinearSystemInstances {
  static constexpr std::tuple list{
      instance<SourceMatrix<T>(Context&, const MatrixSource&, Timings&)>(load_matrix),
      instance<LinearSystem<T>(Context&, SolveRecord&, SourceMatrix<T>)>(make_system),
      instance<std::vector<ChoiceReason>(SolveOptions&, const SourceMatrix<T>&, bool)>(choose_method),
      instance<SourceMatrix<T>(AnyMatrix<wide_t<T>>, MatrixOrigin)>(rounded),
      instance<LinearSystem<T>(Context&, SolveRecord&)>(load_system),
      instance<std::vector<T>(std::int64_t, int, RandomPurpose)>(random_vector),
      instance<void(const std::string&, const Columns<T>&, std::int64_t)>(require_vector),
      instance<Columns<T>(const std::string&, std::int64_t)>(read_rhs)};
};
KRILL_INSTANTIATE(SourceMatrix);
KRILL_INSTANTIATE(LinearSystemInstances);

}  // namespace krill::apps

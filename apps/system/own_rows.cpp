#include "apps/system/own_rows.hpp"

#include <fmt/format.h>

#include <optional>
#include <tuple>
#include <variant>

#include "solvers/method/refusal.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/system/team_stages.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/overloaded.hpp"
#include "sparse/core/stopwatch.hpp"
#include "sparse/io/generate.hpp"
#include "sparse/parallel/analyze_rows.hpp"
#include "sparse/parallel/read_rows.hpp"

namespace krill::apps {
namespace {

/// Of what makes or reads the matrix; of a file its contents decide.
std::string why_whole_source(const MatrixSource& source) {
  return std::visit(Overloaded{[](const MatrixFile&) -> std::string { return {}; },
                               [](const MatrixBatch&) -> std::string { return "an archive is read whole"; },
                               [](const GeneratorOptions& o) -> std::string {
                                 if (systems_of(o) > 0) return "a batch is made whole";
                                 if (makes_own_rows(o)) return {};
                                 return fmt::format("{} makes no rows without all edges of its graph",
                                                    std::visit([](const auto& family) { return family.type; }, o));
                               }},
                    source);
}

/// Of what is done with the matrix before ranks share it.
std::string why_whole_method(const SolveOptions& options) {
  const auto is = [](const auto& variant, auto... natural) {
    return (std::holds_alternative<decltype(natural)>(variant) || ...);
  };
  if (!is(options.matching, NoMatching{}, AutoMatching{}))
    return fmt::format("matching {} looks at the whole matrix", type_name(options.matching));
  if (!is(options.scaling, NoScaling{}, AutoScaling{}))
    return fmt::format("scaling {} is of the whole matrix, which judges", type_name(options.scaling));
  if (!is(options.ordering, NaturalOrdering{}, AutoOrdering{}))
    return fmt::format("ordering {} looks at the whole matrix", type_name(options.ordering));
  const auto* blocks = std::get_if<BlockJacobiOptions>(&options.preconditioner);
  if (blocks && blocks->block_dim == 0)
    return "preconditioner block_jacobi looks for its block_dim in the whole matrix; name it";
  return {};
}

template <class T>
std::optional<SourceMatrix<T>> own_rows(const GeneratorOptions& options, Team& team, std::int64_t unit,
                                        SolveRecord& record) {
  Timings& timings = record.timings;
  Stopwatch watch;
  auto made = generate_own_rows<wide_t<T>>(options, team, unit);
  timings.read += watch.lap();
  SourceMatrix<T> source = rounded<T>(std::move(made.rows), {source_name(options), {}, {}, {}});
  source.partition = std::move(made.partition);
  timings.assemble += watch.lap();
  return source;
}

template <class T>
std::optional<SourceMatrix<T>> own_rows(const MatrixBatch&, Team&, std::int64_t, SolveRecord&) {
  return {};
}
template <class T>
std::optional<SourceMatrix<T>> own_rows(const MatrixFile& o, Team& team, std::int64_t unit, SolveRecord& record) {
  Stopwatch watch;
  auto input = read_rows<wide_t<T>>(team, o.file, unit);
  if (!input) {
    record.why_whole = "the file is packed, or holds no square matrix in coordinates, and is read whole";
    return {};
  }
  SourceMatrix<T> source = rounded<T>(std::move(input->rows), {o.file, input->checksum, input->kind, input->canonical});
  source.partition = std::move(input->partition);
  source.coordinates = read_coordinates(o, source.partition->rows());
  record.timings.read += watch.lap();
  return source;
}

}  // namespace

std::string why_whole(const SolveRecord& record, const MatrixProperties* known) {
  if (std::string why = why_whole_source(record.settings.matrix); !why.empty()) return why;
  if (std::string why = why_whole_method(record.settings); !why.empty()) return why;
  if (!std::holds_alternative<RowsPartition>(record.settings.parallel.partition))
    return "a partition other than rows orders the whole matrix";
  const bool single = record.precision == Precision::float32 || record.precision == Precision::complex64;
  if (single && (file_of(record.settings.matrix) != nullptr || std::holds_alternative<FileRhs>(record.settings.rhs)))
    return "in single precision what a file holds is rounded, and the whole matrix in double precision judges";
  if (known && known->missing_diagonal + known->zero_diagonal > 0)
    return "zeros on the diagonal make its structural rank a question, which takes the whole matrix";
  return {};
}

template <class T>
GeneratedRows<T> generate_own_rows(const GeneratorOptions& options, const Team& team, std::int64_t unit) {
  std::optional<RowPartition> partition;
  AnyMatrix<T> rows = generate_rows<T>(options, [&](std::int64_t all, const auto& entries_before) {
    partition = RowPartition::by_cost(all, entries_before, team.size(), unit);
    return RowRange{partition->begin(team.rank()), partition->end(team.rank())};
  });
  return {std::move(rows), std::move(*partition)};
}

template <class T>
SourceMatrix<T> load_in_team(Context& ctx, Team& team, SolveRecord& record) {
  const Case& settings = record.settings;
  record.why_whole = why_whole(record);
  if (!record.why_whole.empty()) return load_matrix<T>(ctx, settings.matrix, record.timings);
  const std::int64_t unit = unit_of_rows(settings.preconditioner);
  auto own = std::visit([&](const auto& o) { return own_rows<T>(o, team, unit, record); }, settings.matrix);
  if (!own) return load_matrix<T>(ctx, settings.matrix, record.timings);
  SourceMatrix<T> source = std::move(*own);
  if (!agree(team, !source.given)) {
    record.why_whole = "values were rounded to single precision, and the whole matrix in double precision judges";
    return load_matrix<T>(ctx, settings.matrix, record.timings);
  }
  Stopwatch watch;
  source.properties = with_csr(ctx, source.A, [&](const auto& rows) {
    return analyze_rows(ctx, team, *source.partition, slice_rows(rows, 0, rows.rows()));
  });
  record.timings.analyze += watch.lap();
  require_solvable(source.origin.name, source.properties);
  return source;
}

template <class T>
struct OwnRowsInstances {
  static constexpr std::tuple list{
      instance<GeneratedRows<T>(const GeneratorOptions&, const Team&, std::int64_t)>(generate_own_rows),
      instance<SourceMatrix<T>(Context&, Team&, SolveRecord&)>(load_in_team)};
};
KRILL_INSTANTIATE(OwnRowsInstances);

}  // namespace krill::apps

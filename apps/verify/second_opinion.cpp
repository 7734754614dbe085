#include "apps/verify/second_opinion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/system/linear_system.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill::apps {
namespace {

template <class T, class Offset>
Triplets<T> triplets_of(const Csr<T, Offset>& A) {
  Triplets<T> all;
  all.rows = A.rows(), all.cols = A.cols();
  const auto offsets = A.row_offsets().host();
  for (std::int32_t row = 0; row < A.rows(); ++row)
    all.row.insert(
        all.row.end(),
        static_cast<std::size_t>(offsets[static_cast<std::size_t>(row) + 1] - offsets[static_cast<std::size_t>(row)]),
        row);
  all.col.assign(A.col_indices().host().begin(), A.col_indices().host().end());
  all.value.assign(A.values().host().begin(), A.values().host().end());
  return all;
}
template <class T>
Triplets<T> triplets_of(const Coo<T>& A) {
  Triplets<T> all;
  all.rows = A.rows(), all.cols = A.cols();
  all.row.assign(A.row_indices().host().begin(), A.row_indices().host().end());
  all.col.assign(A.col_indices().host().begin(), A.col_indices().host().end());
  all.value.assign(A.values().host().begin(), A.values().host().end());
  return all;
}

/// The system in double precision, W = double or std::complex<double>.
template <class W>
struct Evidence {
  Triplets<W> matrix;
  std::vector<W> b;
};

template <class W>
Evidence<W> gather(const SolveRecord& record) {
  const Case& settings = record.settings;
  Evidence<W> evidence;
  std::optional<Columns<W>> carried;
  if (const auto* batch = std::get_if<MatrixBatch>(&settings.matrix)) {
    const BatchInput<W> input = read_batch<W>(batch->batch);
    if (input.checksum != record.origin.checksum) throw Error(batch->batch + " has changed since the solve read it");
    evidence.matrix = visit_entries(input.matrix, [](const auto& a) { return triplets_of(a); });
  } else if (const auto* file = std::get_if<MatrixFile>(&settings.matrix)) {
    MatrixInput<W> input = read_matrix<W>(file->file);
    if (input.checksum != record.origin.checksum) throw Error(file->file + " has changed since the solve read it");
    evidence.matrix = std::move(input.matrix);
    carried = std::move(input.rhs);
  } else {
    const AnyMatrix<W> A = generate<W>(std::get<GeneratorOptions>(settings.matrix));
    evidence.matrix = visit_entries(A, [](const auto& a) { return triplets_of(a); });
  }
  const auto n = static_cast<std::size_t>(evidence.matrix.rows);
  if (std::holds_alternative<OnesRhs>(settings.rhs)) evidence.b.assign(n, W(1));
  const std::size_t columns = std::max<std::size_t>(1, record.columns.size());
  if (const auto* random = std::get_if<RandomRhs>(&settings.rhs))
    evidence.b = random_vector<W>(static_cast<std::int64_t>(n * columns), random->seed, RandomPurpose::rhs);
  if (const auto* file = std::get_if<FileRhs>(&settings.rhs)) {
    const bool of_batch = record.columns.empty() && !record.result.systems.empty();
    if (!file->path.empty())
      carried = of_batch ? read_vector<W>(file->path) : read_rhs<W>(file->path, evidence.matrix.rows);
    if (!carried) throw Error("the right-hand side that came with the matrix is gone");
    if (carried->values.size() != n * columns)
      throw Error(fmt::format("the right-hand sides have {} entries, those that were solved {}", carried->values.size(),
                              n * columns));
    evidence.b = std::move(carried->values);
  }
  return evidence;
}

/// What a solve claims of ||b - A x||, and the norm that it is relative to.
struct Bound {
  double baseline = 0, target = 0;
};
Bound bound_of(const SystemResult& r, const StopOptions& stop) {
  return {r.baseline, std::max(stop.relative * r.baseline, stop.absolute)};
}
/// A batch is judged as one system.
Bound bound_of(const SolveReport& r, const StopOptions& stop) {
  if (r.systems.empty()) return bound_of(static_cast<const SystemResult&>(r), stop);
  Bound all;
  for (const SystemResult& system : r.systems) {
    const Bound one = bound_of(system, stop);
    all = {std::hypot(all.baseline, one.baseline), std::hypot(all.target, one.target)};
  }
  return all;
}

double seconds_of(const std::vector<Judgement>& all) {
  double sum = 0;
  for (const Judgement& one : all) sum += one.seconds;
  return sum;
}

template <class T>
std::vector<wide_t<T>> widened(std::span<const T> values) {
  return std::vector<wide_t<T>>(values.begin(), values.end());
}

/// What a solve claims, of several right-hand sides each that converged; their numbers go to `columns`.
template <class T>
std::vector<Claim<wide_t<T>>> claims_of(const SolveRecord& record, const Evidence<wide_t<T>>& evidence,
                                        const std::vector<wide_t<T>>& solution, std::vector<std::size_t>& columns) {
  const auto size = static_cast<std::size_t>(evidence.matrix.rows);
  std::vector<Claim<wide_t<T>>> claims;
  const auto claim = [&](std::size_t j, const Bound& bound) {
    claims.push_back({evidence.matrix, std::span(evidence.b).subspan(j * size, size),
                      std::span(solution).subspan(j * size, size), bound.target,
                      static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()),
                      bound.baseline > 0 ? bound.baseline : 1, record.settings.verify.tolerance});
    for (const Fact& fact : record.result.setup.facts)
      if (fact.name == factorization_fact) claims.back().made_by = std::get<std::string>(fact.value);
    columns.push_back(j);
  };
  const StopOptions& stop = krill::stop(record.settings.solver);
  if (record.columns.empty()) claim(0, bound_of(record.result, stop));
  for (std::size_t j = 0; j < record.columns.size(); ++j)
    if (record.columns[j].reason == Reason::converged) claim(j, bound_of(record.columns[j], stop));
  return claims;
}

}  // namespace

template <class T>
std::vector<Judgement> second_opinion(const SolveRecord& record, std::span<const T> b, std::span<const T> x) {
  const Stopwatch watch;
  Judgement none;
  try {
    Evidence<wide_t<T>> evidence = gather<wide_t<T>>(record);
    if (evidence.b.empty()) evidence.b = widened(b);
    const std::vector<wide_t<T>> solution = widened(x);
    std::vector<std::size_t> columns;
    const auto claims = claims_of<T>(record, evidence, solution, columns);
    std::vector<Judgement> found = judge(std::span<const Claim<wide_t<T>>>(claims));
    for (std::size_t k = 0; k < found.size(); ++k) found[k].column = columns[k];
    if (!found.empty()) found.front().seconds += watch.milliseconds() / 1000 - seconds_of(found);  // and the evidence
    return found;
  } catch (const Error& error) {
    none.reason = error.what();
  } catch (const std::bad_alloc&) {
    none.reason = "out of memory";
  }
  none.seconds = watch.milliseconds() / 1000;
  return {none};
}

Judgement together(const std::vector<Judgement>& columns) {
  const auto badness = [](const Judgement& j) {  // a failure, then no verdict, then what is nearest to its tolerance
    const int kind = j.verdict == Verdict::fail ? 2 : j.verdict == Verdict::none ? 1 : 0;
    const double share = j.tolerance > 0 ? j.residual / j.tolerance : 0;
    return std::pair(kind, std::isnan(share) ? std::numeric_limits<double>::infinity() : share);
  };
  Judgement worst = *std::ranges::max_element(
      columns, [&](const Judgement& p, const Judgement& q) { return badness(p) < badness(q); });
  worst.seconds = seconds_of(columns);
  if (columns.size() > 1 && !worst.reason.empty())
    worst.reason = fmt::format("column {}: {}", worst.column, worst.reason);
  return worst;
}

template <class T>
struct SecondOpinionInstances {
  static constexpr auto list =
      instance<std::vector<Judgement>(const SolveRecord&, std::span<const T>, std::span<const T>)>(second_opinion);
};
KRILL_INSTANTIATE(SecondOpinionInstances);

}  // namespace krill::apps

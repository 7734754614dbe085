#include "apps/verify/second_opinion.hpp"

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
  if (const auto* random = std::get_if<RandomRhs>(&settings.rhs))
    evidence.b = random_vector<W>(evidence.matrix.rows, random->seed, RandomPurpose::rhs);
  if (const auto* file = std::get_if<FileRhs>(&settings.rhs)) {
    if (!file->path.empty()) carried = read_vector<W>(file->path);
    if (!carried) throw Error("the right-hand side that came with the matrix is gone");
    if (!record.result.systems.empty()) carried->rows *= carried->cols, carried->cols = 1;  // one after the other
    require_vector("rhs", *carried, evidence.matrix.rows);
    carried->values.resize(n);
    evidence.b = std::move(carried->values);
  }
  return evidence;
}

template <class T>
std::vector<wide_t<T>> widened(std::span<const T> values) {
  return std::vector<wide_t<T>>(values.begin(), values.end());
}

}  // namespace

template <class T>
Judgement second_opinion(const SolveRecord& record, std::span<const T> b, std::span<const T> x) {
  const Stopwatch watch;
  Judgement judgement;
  try {
    Evidence<wide_t<T>> evidence = gather<wide_t<T>>(record);
    if (evidence.b.empty()) evidence.b = widened(b);
    const SolveReport& r = record.result;
    const StopOptions& stop = krill::stop(record.settings.solver);
    double baseline = r.baseline, target = std::max(stop.relative * r.baseline, stop.absolute);
    if (!r.systems.empty()) baseline = target = 0;  // a batch is judged as one system, which follows
    for (const SystemResult& system : r.systems) {
      baseline = std::hypot(baseline, system.baseline);
      target = std::hypot(target, std::max(stop.relative * system.baseline, stop.absolute));
    }
    const std::vector<wide_t<T>> solution = widened(x);
    Claim<wide_t<T>> claim{evidence.matrix,
                           evidence.b,
                           solution,
                           target,
                           static_cast<double>(std::numeric_limits<real_t<T>>::epsilon()),
                           baseline > 0 ? baseline : 1,
                           record.settings.verify.tolerance};
    for (const Fact& fact : r.setup.facts)
      if (fact.name == factorization_fact) claim.made_by = std::get<std::string>(fact.value);
    judgement = judge(claim);
  } catch (const Error& error) {
    judgement.reason = error.what();
  } catch (const std::bad_alloc&) {
    judgement.reason = "out of memory";
  }
  judgement.seconds = watch.milliseconds() / 1000;
  return judgement;
}

template <class T>
struct SecondOpinionInstances {
  static constexpr auto list =
      instance<Judgement(const SolveRecord&, std::span<const T>, std::span<const T>)>(second_opinion);
};
KRILL_INSTANTIATE(SecondOpinionInstances);

}  // namespace krill::apps

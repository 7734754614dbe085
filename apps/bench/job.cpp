#include "apps/bench/job.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <new>

#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/timing.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::bench {
namespace {

template <class T>
std::vector<Job<T>> make_jobs(const BenchSubject<T>& s, Row& row, const std::function<Job<T>(std::size_t)>& make) {
  std::vector<Job<T>> jobs;
  jobs.push_back(make(0));
  const Rotation round = rotation(jobs[0].bytes, cold_bytes(s.ctx), s.warm);
  for (std::size_t copy = 1; copy < round.copies; ++copy) jobs.push_back(make(copy));
  row.cache = round.cold ? "cold" : "warm";
  return jobs;
}

template <class T>
void require_result(const Job<T>& job) {
  const std::string fault = job.fault ? job.fault() : std::string();
  if (!fault.empty()) throw Error(fault);
}

template <class T>
void time_ours(const BenchSubject<T>& s, Row& row, const std::vector<Job<T>>& jobs) {
  const Timing timing = measure(s.ctx, jobs.size(), [&](std::size_t i) { jobs[i].run(); });
  if (jobs[0].colors) row.colors = jobs[0].colors();
  if (jobs[0].workspace) row.workspace_bytes = jobs[0].workspace();
  require_result(jobs[0]);
  row.ms = timing.ms;
  row.spread = timing.spread;
  row.bytes = jobs[0].bytes;
  if (jobs[0].flops > 0) row.flops = jobs[0].flops;
  row.gbps = jobs[0].bytes / timing.ms * 1e-6;
  if (s.ceiling > 0) row.ceiling_share = *row.gbps / s.ceiling;
}

struct RivalFigures {
  double ms;
  std::optional<std::int64_t> workspace;
};

template <class T>
RivalFigures time_rival(const BenchSubject<T>& s, Row& row, const std::string& algorithm,
                        const std::vector<Job<T>>& jobs) {
  std::vector<std::unique_ptr<RivalRun>> runs;
  runs.reserve(jobs.size());
  for (const Job<T>& job : jobs) runs.push_back(s.rival->prepare(s.ctx, algorithm, job.task));
  // What a call overwrites comes back half a turn before it is needed again, so that it has left the cache as all else
  // has, and the time of that does not count.
  const std::size_t count = runs.size();
  double ms = measure(s.ctx, count, [&](std::size_t i) {
                (*runs[i])();
                runs[(i + count / 2) % count]->restore();
              }).ms;
  if (runs[0]->restore()) {
    ms -= measure(s.ctx, count, [&](std::size_t i) { runs[i]->restore(); }).ms;
    if (!(ms > 0)) throw Error("its time does not stand out from that of restoring its inputs");
    (*runs[0])();
  }
  if (jobs[0].colors) row.rival_colors = jobs[0].colors();
  require_result(jobs[0]);
  return {ms, runs[0]->workspace()};
}

template <class T>
void compete(const BenchSubject<T>& s, Row& row, const std::vector<Job<T>>& jobs) {
  for (const std::string& algorithm : s.rival->algorithms(jobs[0].task)) {
    row.rival = s.rival->name();
    const std::string problem = failure_of([&] {
      const RivalFigures figures = time_rival(s, row, algorithm, jobs);
      if (row.rival_ms && figures.ms >= *row.rival_ms) return;
      row.rival_ms = figures.ms, row.rival_variant = algorithm, row.rival_workspace_bytes = figures.workspace;
    });
    if (!problem.empty())
      row.rival_error += fmt::format("{}{}: {}", row.rival_error.empty() ? "" : "; ", algorithm, problem);
  }
  if (row.rival_ms && row.ms) row.ratio = *row.rival_ms / *row.ms;
}

}  // namespace

std::string failure_of(const std::function<void()>& f) {
  try {
    f();
    return {};
  } catch (const Error& error) {
    return error.what();
  } catch (const std::bad_alloc&) {
    return "out of memory on the host";
  }
}

template <class T>
bool BenchSubject<T>::wants(std::string_view format) const {
  return formats.empty() || std::find(formats.begin(), formats.end(), format) != formats.end();
}

template <class T>
Row BenchSubject<T>::row(std::string_view kernel, std::string_view variant) const {
  Row row;
  row.kernel = kernel;
  row.matrix = name;
  if (A) row.rows = krill::rows(*A), row.nnz = krill::nnz(*A);
  row.precision = precision;
  row.variant = variant;
  return row;
}

template <class T>
std::shared_ptr<const AnyMatrix<T>> source_copy(const BenchSubject<T>& s, std::size_t copy) {
  if (copy == 0) return s.A;
  return std::make_shared<const AnyMatrix<T>>(with_csr(*s.A, [](const auto& a) { return AnyMatrix<T>(a.clone()); }));
}

template <class T>
void measure_job(const BenchSubject<T>& s, Row& row, const std::function<Job<T>(std::size_t)>& make) {
  row.error = failure_of([&] {
    const std::vector<Job<T>> jobs = make_jobs(s, row, make);
    time_ours(s, row, jobs);
    if (s.rival) compete(s, row, jobs);
  });
}

template <class T>
struct JobInstances {
  static constexpr std::tuple list{
      instance<std::shared_ptr<const AnyMatrix<T>>(const BenchSubject<T>&, std::size_t)>(source_copy),
      instance<void(const BenchSubject<T>&, Row&, const std::function<Job<T>(std::size_t)>&)>(measure_job)};
};
KRILL_INSTANTIATE(BenchSubject);
KRILL_INSTANTIATE(JobInstances);

}  // namespace krill::apps::bench

#include "apps/evaluate/worker.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <new>

#include "apps/case/fill.hpp"
#include "apps/case/with_scalar.hpp"
#include "apps/evaluate/outcome.hpp"
#include "apps/evaluate/portfolio.hpp"
#include "apps/support/matrix_json.hpp"
#include "apps/system/solve_system.hpp"
#include "solvers/method/type_name.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill::apps::evaluate {
namespace {

using Json = nlohmann::ordered_json;

constexpr double long_run = 10'000;  ///< milliseconds of a first run that is measured and not repeated
constexpr double enough = 20'000;    ///< milliseconds of all runs of a variant, after which none begins
constexpr double short_total = 200;  ///< runs go on until they took as many milliseconds together
constexpr int max_short_runs = 20;

void answer(const Json& json) { std::cout << json.dump(-1, ' ', false, Json::error_handler_t::replace) << std::endl; }

Case case_from(const Json& json) {
  Case settings;
  FromJson::fill(settings, json);
  return settings;
}

/// Ends where the parent does, whatever this process is at.
void die_with(pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) std::_Exit(1);
}

/// Tests of the sweep's own machinery need variants that go wrong: KRILL_WORKER_FAULT=crash:ssor makes every variant
/// with preconditioner ssor end by SIGSEGV, `kill` by SIGKILL, and `hang` never.
void fail_on_request(std::string_view preconditioner) {
  const char* fault = std::getenv("KRILL_WORKER_FAULT");
  if (!fault) return;
  const std::string_view text = fault, kind = text.substr(0, text.find(':'));
  if (text.substr(kind.size()) != ":" + std::string(preconditioner)) return;
  if (kind == "crash") std::raise(SIGSEGV);
  if (kind == "kill") std::raise(SIGKILL);
  while (kind == "hang") pause();
}

/// Runs f, and says in an outcome what it raised.
template <class F>
Outcome guarded(F&& f) {
  try {
    return f();
  } catch (const OutOfMemory& error) {
    return out_of_memory(error.what());
  } catch (const std::bad_alloc&) {
    return out_of_memory("out of memory on the host");
  } catch (const NoDevice& error) {
    return failure("no_device", error.what(), "Use backend: host, or a machine with a device.");
  } catch (const CudaError& error) {
    return failure("device_error", error.what(), "Run it alone with krill solve, and again under compute-sanitizer.");
  } catch (const std::exception& error) {
    return failure("refused", error.what());
  }
}

/// What one worker knows: a matrix in one precision on one backend.
template <class T>
class Bench {
 public:
  explicit Bench(const Case& settings) : Bench(make_context(settings), settings) {}

  Json loaded(const Case& settings) {
    Json json{{"source", source_.origin.name}, {"checksum", source_.origin.checksum}};
    json.update(matrix_json(source_.properties));
    json["read_ms"] = timings_.read + timings_.assemble + timings_.analyze;
    const SystemKind kind = system_kind(source_.properties, settings.assume);
    return {{"loaded", std::move(json)},
            {"kind", kind},
            {"chosen", chosen_by_rules(source_.properties, !device_.empty())},
            {"device", device_}};
  }

  /// A run that warms up, then measured ones. The workspace is the variant's own: it counts as its memory.
  Outcome measure(const Case& settings, int repeats, double limit) {
    Context ctx = make_context(settings);
    const Stopwatch watch;
    Outcome outcome = run(ctx, settings, limit);
    double spent = watch.milliseconds();
    if (!outcome.converged() || spent > long_run) return outcome;
    answer({{"run", 0}});
    outcome.samples.clear();
    for (int done = 0; spent < enough;) {
      const Outcome again = run(ctx, settings, limit);
      if (!again.converged()) return again;  // it took longer than the first time, say
      outcome.samples.push_back(again.samples.front());
      answer({{"run", ++done}});
      spent = watch.milliseconds();
      if (done >= repeats && (spent > short_total || done >= std::max(repeats, max_short_runs))) break;
    }
    return outcome;
  }

 private:
  Bench(Context ctx, const Case& settings)
      : device_(ctx.on_cuda() ? device::info(settings.device).name : ""),
        source_(load_matrix<T>(ctx, settings.matrix, timings_)) {}

  Outcome run(Context& ctx, const Case& settings, double limit) {
    SolveRecord record;
    record.settings = settings;
    record.settings.output = {false, false, false};
    record.settings.on_failure = OnFailure::stop;  // the steps of a ladder are variants of their own
    const Stopwatch watch;
    begin_record(record);
    record_backend(record, ctx);
    LinearSystem<T> system = make_system(ctx, record, source_.clone());
    const double own_limit = stop(settings.solver).time_limit;
    const auto limit_the_solve = [&] {
      const double left = std::max(1e-3, limit - 1e-3 * watch.milliseconds());
      std::visit([&](auto& o) { o.stop.time_limit = own_limit > 0 ? std::min(own_limit, left) : left; },
                 record.settings.solver);
    };
    solve_system(ctx, system, record, limit_the_solve, [](const Sight&) { return true; });
    Outcome outcome = outcome_of(record);
    if (record.result.reason == Reason::time_limit && stop(record.settings.solver).time_limit != own_limit) {
      outcome.why = fmt::format("set-up and solve took more than {:.3g} s; the residual is {:.2e}, the target {:.2e}",
                                limit, outcome.true_relative, outcome.target_relative);
      outcome.remedy = "Raise time_limit, or try a stronger preconditioner.";
    }
    const Timings& t = record.timings;
    outcome.samples.push_back({t.match, t.scale, t.order, t.convert + t.products, t.preconditioner_setup, t.solve});
    return outcome;
  }

  Timings timings_;
  std::string device_;
  SourceMatrix<T> source_;
};

template <class T>
void serve(const Case& first) {
  std::optional<Bench<T>> bench;
  const Outcome loading = guarded([&] {
    bench.emplace(first);
    return Outcome();
  });
  if (!bench) {
    Outcome why = loading;
    if (why.status == "refused") why.status = "no_matrix";
    return answer({{"outcome", to_json(why)}});
  }
  answer(bench->loaded(first));
  for (std::string line; std::getline(std::cin, line);) {
    const Json request = Json::parse(line);
    const Case settings = case_from(request.at("case"));
    fail_on_request(type_name(settings.preconditioner));
    const double limit = request.at("time_limit");
    Outcome outcome = guarded([&] { return bench->measure(settings, request.at("repeats"), limit); });
    outcome.limit_s = limit;
    answer({{"outcome", to_json(outcome)}});
  }
}

}  // namespace

int run_worker(int parent) {
  die_with(parent);
  std::string line;
  if (!std::getline(std::cin, line)) return 0;
  const Case first = case_from(Json::parse(line).at("case"));
  std::optional<Precision> precision;
  const Outcome failed = guarded([&] {
    precision = resolve_precision(first);
    return Outcome();
  });
  if (precision) {
    with_scalar(*precision, [&]<class T>(T) { serve<T>(first); });
  } else {
    answer({{"outcome", to_json(failure("no_matrix", failed.why))}});
  }
  return 0;
}

}  // namespace krill::apps::evaluate

#include "apps/evaluate/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>

#include "apps/case/effective.hpp"

namespace krill::apps::evaluate {
namespace {

using Json = nlohmann::ordered_json;

constexpr double reading_limit = 3600;  // seconds

/// A solve ends itself at the limit; this long after it a worker hangs.
double patience(double limit) { return limit + std::max(2.0, 0.2 * limit); }

Outcome outcome_of_end(const WorkerEnd& end, double limit) {
  const std::string words = end.last_words.empty() ? "" : "; its last words: " + end.last_words;
  if (end.kind == WorkerEnd::Kind::interrupted) return failure("not_run", "interrupted");
  if (end.kind == WorkerEnd::Kind::too_long)
    return failure("too_long", fmt::format("no end within {:.3g} s, so it was ended from outside", limit),
                   "Raise time_limit, or leave it out.");
  if (end.signal == SIGKILL)
    return out_of_memory("the system ended it by SIGKILL, most likely for want of memory" + words);
  const std::string how = end.signal != 0
                              ? fmt::format("died of SIG{} ({})", sigabbrev_np(end.signal), strsignal(end.signal))
                              : fmt::format("exited with code {}", end.exit_code);
  return failure("crashed", fmt::format("the process {}{}", how, words),
                 "This is a fault of Krill: please report it with the case and the matrix.");
}

}  // namespace

std::string Runner::group(const Case& settings) {
  const Json all = effective_json(settings);
  Json shared;
  for (const char* key : {"matrix", "precision", "backend", "device", "threads", "assume"}) shared[key] = all.at(key);
  return shared.dump();
}

Outcome Runner::measure(const Case& settings, int repeats, double limit) {
  if (auto failed = prepare(settings)) return *failed;
  worker_->send({{"case", effective_json(settings)}, {"repeats", repeats}, {"time_limit", limit}});
  for (;;) {
    const auto got = worker_->receive(patience(limit), interruption_);
    if (const auto* end = std::get_if<WorkerEnd>(&got)) {
      worker_.reset();
      Outcome outcome = outcome_of_end(*end, limit);
      outcome.limit_s = limit;
      outcome.matrix = matrix_;
      return outcome;
    }
    const Json& answer = std::get<Json>(got);
    if (!answer.contains("outcome")) continue;
    Outcome outcome = outcome_from(answer.at("outcome"));
    outcome.rounds = 1;
    outcome.matrix = matrix_;
    // What ran out of memory may have left holes in it, and a device error is never forgotten.
    if (outcome.status == "out_of_memory" || outcome.status == "device_error") worker_.reset();
    return outcome;
  }
}

std::optional<SystemKind> Runner::kind(const Case& settings) {
  if (prepare(settings)) return {};
  return kind_;
}

/// Has a worker with the matrix of that case; returns why there is none.
std::optional<Outcome> Runner::prepare(const Case& settings) {
  const std::string wanted = group(settings);
  if (worker_ && wanted == group_) return {};
  worker_.reset();
  worker_.emplace();
  group_ = wanted;
  worker_->send({{"case", effective_json(settings)}});
  const auto got = worker_->receive(reading_limit, interruption_);
  std::optional<Outcome> failed;
  if (const auto* end = std::get_if<WorkerEnd>(&got)) {
    failed = outcome_of_end(*end, reading_limit);
  } else if (const Json& answer = std::get<Json>(got); answer.contains("outcome")) {
    failed = outcome_from(answer.at("outcome"));
  } else {
    kind_ = answer.at("kind").get<SystemKind>();
    chosen_ = answer.at("chosen").get<std::vector<std::string>>();
    if (const std::string device = answer.at("device"); !device.empty()) device_ = device;
    matrix_ = answer.at("loaded");
  }
  if (failed) worker_.reset();
  return failed;
}

}  // namespace krill::apps::evaluate

#include "apps/evaluate/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "apps/report/report.hpp"

namespace krill::apps::evaluate {
namespace {

using Json = nlohmann::ordered_json;

double number(const Json& json, const char* key) {
  const auto at = json.find(key);
  return at != json.end() && at->is_number() ? at->get<double>() : std::numeric_limits<double>::quiet_NaN();
}

/// Four digits are enough for a curve, and half the bytes.
double rounded(double value) { return std::isfinite(value) ? std::stod(fmt::format("{:.3e}", value)) : value; }

Json history_json(const std::vector<HistoryPoint>& history) {
  Json iterations = Json::array(), residuals = Json::array();
  for (const auto& [iteration, residual] : history) {
    iterations.push_back(iteration);
    residuals.push_back(rounded(residual));
  }
  return {{"iteration", std::move(iterations)}, {"residual", std::move(residuals)}};
}

template <class Part>
Spread spread_of(const std::vector<Sample>& samples, Part&& part) {
  std::vector<double> values;
  values.reserve(samples.size());
  for (const Sample& sample : samples) values.push_back(part(sample));
  return spread(std::move(values));
}

}  // namespace

Spread spread(std::vector<double> values) {
  if (values.empty()) return {};
  std::ranges::sort(values);
  const std::size_t middle = values.size() / 2;
  const double median = values.size() % 2 ? values[middle] : 0.5 * (values[middle - 1] + values[middle]);
  return {median, values.front(), values.back()};
}

std::vector<HistoryPoint> thinned(const std::vector<double>& history, std::size_t most) {
  std::vector<HistoryPoint> points;
  const std::size_t size = history.size();
  const auto add = [&](std::size_t k) { points.push_back({static_cast<int>(k), history[k]}); };
  const std::size_t stretch = size <= most ? 1 : (2 * size + most - 1) / most;
  if (stretch <= 2) {
    for (std::size_t k = 0; k < size; ++k) add(k);
    return points;
  }
  add(0);
  for (std::size_t from = 1; from + 1 < size; from += stretch) {
    const auto begin = history.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = history.begin() + static_cast<std::ptrdiff_t>(std::min(from + stretch, size - 1));
    const auto [least, greatest] = std::minmax_element(begin, end);
    const auto a = static_cast<std::size_t>(std::min(least, greatest) - history.begin());
    const auto b = static_cast<std::size_t>(std::max(least, greatest) - history.begin());
    add(a);
    if (b != a) add(b);
  }
  add(size - 1);
  return points;
}

Spread Outcome::setup() const {
  return spread_of(samples, [](const Sample& s) { return s.setup(); });
}
Spread Outcome::solve() const {
  return spread_of(samples, [](const Sample& s) { return s.solve; });
}

Outcome outcome_of(const SolveRecord& record) {
  const SolveReport& r = record.result;
  Outcome o;
  o.status = name(r.reason);
  const Advice help = advice(record);
  o.why = help.why;
  o.remedy = help.remedy;
  o.iterations = r.iterations;
  o.true_relative = r.true_relative;
  o.recurrence_relative = r.recurrence_relative;
  o.target_relative = r.target_relative;
  o.backward_error = record.backward_error;
  o.known_error = record.known_error;
  o.memory_bytes = record.memory_bytes;
  o.format = format_used(record);
  o.precision = precision_names[static_cast<std::size_t>(record.precision)];
  o.backend = record.on_cuda ? "cuda" : "host";
  o.threads = record.threads;
  o.history = thinned(r.history);
  o.facts = preconditioner_json(record.preconditioner);
  o.notes = record.notes;
  return o;
}

Json to_json(const Outcome& o) {
  Json samples = Json::array();
  for (const Sample& s : o.samples)
    samples.push_back({{"match", s.match},
                       {"scale", s.scale},
                       {"order", s.order},
                       {"convert", s.convert},
                       {"preconditioner", s.preconditioner},
                       {"solve", s.solve}});
  return {{"status", o.status},
          {"why", o.why},
          {"remedy", o.remedy},
          {"samples_ms", std::move(samples)},
          {"rounds", o.rounds},
          {"time_limit_s", o.limit_s},
          {"iterations", o.iterations},
          {"true_relative", o.true_relative},
          {"recurrence_relative", o.recurrence_relative},
          {"target_relative", o.target_relative},
          {"backward_error", o.backward_error},
          {"known_error", o.known_error ? Json(*o.known_error) : Json()},
          {"memory_bytes", o.memory_bytes},
          {"format", o.format},
          {"precision", o.precision},
          {"backend", o.backend},
          {"threads", o.threads},
          {"preconditioner", o.facts},
          {"matrix", o.matrix},
          {"notes", o.notes},
          {"history", history_json(o.history)}};
}

Outcome outcome_from(const Json& json) {
  Outcome o;
  json.at("status").get_to(o.status);
  json.at("why").get_to(o.why);
  json.at("remedy").get_to(o.remedy);
  for (const Json& s : json.at("samples_ms"))
    o.samples.push_back({number(s, "match"), number(s, "scale"), number(s, "order"), number(s, "convert"),
                         number(s, "preconditioner"), number(s, "solve")});
  json.at("rounds").get_to(o.rounds);
  o.limit_s = number(json, "time_limit_s");
  json.at("iterations").get_to(o.iterations);
  o.true_relative = number(json, "true_relative");
  o.recurrence_relative = number(json, "recurrence_relative");
  o.target_relative = number(json, "target_relative");
  o.backward_error = number(json, "backward_error");
  if (json.at("known_error").is_number()) o.known_error = number(json, "known_error");
  json.at("memory_bytes").get_to(o.memory_bytes);
  json.at("format").get_to(o.format);
  json.at("precision").get_to(o.precision);
  json.at("backend").get_to(o.backend);
  json.at("threads").get_to(o.threads);
  o.facts = json.at("preconditioner");
  o.matrix = json.at("matrix");
  json.at("notes").get_to(o.notes);
  const Json& history = json.at("history");
  const Json &iterations = history.at("iteration"), &residuals = history.at("residual");
  for (std::size_t k = 0; k < iterations.size(); ++k)
    o.history.push_back({iterations[k].get<int>(), residuals.at(k).is_number()
                                                       ? residuals[k].get<double>()
                                                       : std::numeric_limits<double>::quiet_NaN()});
  return o;
}

Outcome failure(std::string status, std::string why, std::string remedy) {
  Outcome o;
  o.status = std::move(status);
  o.why = std::move(why);
  o.remedy = std::move(remedy);
  return o;
}

Outcome out_of_memory(std::string why) {
  return failure("out_of_memory", std::move(why),
                 "Use precision: float32, format: csr, or a preconditioner that keeps less.");
}

}  // namespace krill::apps::evaluate

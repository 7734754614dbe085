#include <cmath>
#include <nlohmann/json.hpp>

#include "apps/case/effective.hpp"
#include "apps/verify/verification.hpp"
#include "sparse/core/config.hpp"

namespace krill::apps::verify {
namespace {

using Json = nlohmann::ordered_json;

/// Infinite: NaN or nothing to divide by.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json("infinite"); }

Json histogram_json(const UlpHistogram& histogram) {
  Json json = Json::object();
  for (std::size_t bin = 0; bin < histogram.counts.size(); ++bin)
    if (histogram.counts[bin] > 0) json[std::string(UlpHistogram::labels[bin])] = histogram.counts[bin];
  return json;
}

Json iterations(const std::vector<double>& history) { return history.empty() ? Json() : Json(history.size() - 1); }

Json difference_json(const Difference& d) {
  return {{"index", d.index},       {"with", d.where},          {"got", d.got},
          {"expected", d.expected}, {"error", number(d.error)}, {"bound", number(d.bound)}};
}

Json check_json(const Check& check) {
  const Comparison& c = check.result;
  Json json = {{"group", check.group},
               {"name", check.name},
               {"subject", check.subject},
               {"verdict", verdict_name(c.verdict)},
               {"entries", c.entries},
               {"wrong", c.wrong},
               {"error_over_bound", {{"componentwise", number(c.componentwise)}, {"normwise", number(c.normwise)}}},
               {"relative_error", number(c.relative)},
               {"bound", check.bound},
               {"ulps", histogram_json(c.ulps)},
               {"ms", check.ms}};
  if (c.unjudged > 0) json["entries_without_bound"] = c.unjudged;
  if (c.verdict != Verdict::pass && !c.reason.empty()) json["reason"] = c.reason;
  if (c.first) json["first_wrong"] = difference_json(*c.first);
  return json;
}

Json group_json(const GroupSummary& g) {
  Json json = {{"group", g.group},
               {"checks", g.checks},
               {"failed", g.failed},
               {"not_checked", g.not_checked},
               {"entries", g.entries},
               {"ulps", histogram_json(g.ulps)},
               {"ms", g.ms}};
  if (g.worst) json["worst"] = check_json(*g.worst);
  return json;
}

Json device_json(const std::optional<DeviceInfo>& device) {
  if (!device) return {};
  return {{"name", device->name},
          {"compute_capability", device->compute_capability},
          {"driver", device->driver},
          {"runtime", device->runtime},
          {"memory_bytes", device->memory_bytes}};
}

}  // namespace

Json verification_json(const VerifyResult& v) {
  Json json = {{"verdict", exit_code(v) == 0 ? "PASS" : "FAIL"},
               {"exit_code", exit_code(v)},
               {"name", v.name},
               {"checks_made", v.ledger.checks().size()},
               {"failed", v.ledger.count(Verdict::fail)},
               {"not_checked", v.ledger.count(Verdict::none)},
               {"backend", v.device ? "cuda" : "host"},
               {"device", device_json(v.device)},
               {"threads", v.threads},
               {"ranks", v.ranks},
               {"seconds", v.seconds},
               {"started_at", v.started_at},
               {"versions", {{"krill", version}, {"commit", git_commit()}, {"compiler", cxx_compiler}}}};
  if (!v.ended_early.empty()) json["ended_early"] = v.ended_early;
  json["groups"] = Json::array();
  for (const GroupSummary& group : summarize(v.ledger.checks())) json["groups"].push_back(group_json(group));
  json["checks"] = Json::array();
  for (const Check& check : v.ledger.checks())
    if (v.settings || check.result.verdict != Verdict::pass) json["checks"].push_back(check_json(check));
  if (!v.settings) return json;
  json["residuals"] = Json::array();
  for (const Curves& c : v.ledger.curves())
    json["residuals"].push_back({{"name", c.name},
                                 {"target_relative", c.target},
                                 {"iterations", iterations(c.backend)},
                                 {"host_iterations", iterations(c.host)},
                                 {"textbook_iterations", iterations(c.textbook)},
                                 {"history", c.backend},
                                 {"host_history", c.host},
                                 {"textbook_history", c.textbook}});
  json["precision"] = precision_names[static_cast<std::size_t>(v.precision)];
  json["case"] = written_case(*v.settings);
  return json;
}

}  // namespace krill::apps::verify

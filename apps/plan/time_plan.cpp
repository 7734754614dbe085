#include "apps/plan/time_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "apps/case/suggest.hpp"
#include "apps/support/terminal.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps {
namespace {

/// The paths of the figures that are assumed.
class AssumedFigures {
 public:
  std::vector<std::string> found;

  template <class Options>
  void section(std::string_view name, Options& o, std::string_view) {
    const std::string outer = std::exchange(path_, path_ + std::string(name));
    if constexpr (std::is_base_of_v<Figure, Options>) {
      if (o.is_assumed()) found.push_back(path_);
    } else {
      path_ += ".";
      describe(*this, o);
    }
    path_ = outer;
  }
  template <class T>
  void value(std::string_view, T&, Range, std::string_view) {}
  template <class Enum, class Names>
  void choice(std::string_view, Enum&, const Names&, std::string_view) {}

 private:
  std::string path_;
};

/// Of those that the plan's times rest on.
std::vector<std::string> assumed_figures(const TimePlan& plan) {
  AssumedFigures all;
  Machine machine = plan.machine;
  describe(all, machine);
  const int together = std::min(plan.ranks, machine.extent.ranks_a_host);
  std::erase_if(all.found, [&](const std::string& name) {
    return (name.starts_with("network.") && hosts_of(machine, plan.ranks) == 1) ||
           (name == "link.sum_4_us" && together <= 2) || (name == "link.sum_8_us" && together <= 4);
  });
  return all.found;
}

/// Each part of a step under its key in JSON and its name in text.
struct StepPart {
  const char *key, *name;
  double StepTime::*us;
};
constexpr std::array step_parts{
    StepPart{"products_us", "products with own columns", &StepTime::products},
    StepPart{"vectors_us", "passes over vectors", &StepTime::vectors},
    StepPart{"halo_us", "ghosts, beyond products", &StepTime::halo},
    StepPart{"border_us", "rows with ghosts", &StepTime::border},
    StepPart{"sums_us", "sums over ranks", &StepTime::sums},
    StepPart{"fixed_us", "starts and ends of kernels", &StepTime::fixed},
};

nlohmann::ordered_json step_json(const StepTime& t) {
  nlohmann::ordered_json object{{"total_us", t.total()}};
  for (const auto& [key, name, us] : step_parts) object[key] = t.*us;
  object["in_one_kernel"] = t.in_one_kernel;
  return object;
}

}  // namespace

TimePlan plan_time(Machine machine, const std::optional<StepWork>& work, const RankPart& whole,
                   const std::vector<RankPart>& parts, bool can_stay_in_kernel, const std::string& solver,
                   const std::string& preconditioner) {
  TimePlan plan{std::move(machine), static_cast<int>(parts.size()), {}, {}, {}};
  if (!work) {
    plan.why_not = fmt::format("the model has no time for solver {} with preconditioner {}", solver, preconditioner);
    return plan;
  }
  plan.one = step_time(plan.machine, *work, whole, 1, can_stay_in_kernel);
  for (const RankPart& part : parts) {
    const StepTime t = step_time(plan.machine, *work, part, plan.ranks);
    if (t.total() > plan.many.total()) plan.many = t;
  }
  return plan;
}

RankPart rank_part(const SharedPart& share, double bytes_an_entry, std::int64_t between_hosts) {
  RankPart part;
  part.border_rows = static_cast<double>(share.border_rows);
  part.border_entries = static_cast<double>(share.border_nnz);
  part.rows = static_cast<double>(share.rows), part.entries = static_cast<double>(share.nnz) - part.border_entries;
  part.matrix_bytes = bytes_an_entry * part.entries;
  part.exchanged = static_cast<double>(std::max(share.ghosts, share.sent));
  part.between_hosts = static_cast<double>(between_hosts);
  return part;
}

std::vector<std::string> remarks(const TimePlan& plan) {
  const auto& extent = plan.machine.extent;
  std::vector<std::string> all;
  if (!plan.why_not.empty()) return all;
  if (plan.speed_up() < 1)
    all.push_back(fmt::format("{} ranks are slower than one here, {:.2f} times as quick: solve this by one process",
                              plan.ranks, plan.speed_up()));
  if (plan.one.in_one_kernel) all.emplace_back("on one rank a single kernel holds the whole loop");
  if (const int hosts = hosts_of(plan.machine, plan.ranks); hosts > extent.measured_hosts)
    all.push_back(
        fmt::format("extrapolated: {} hosts; the model was compared with runs on {}", hosts, extent.measured_hosts));
  if (plan.ranks > extent.measured_ranks)
    all.push_back(fmt::format("extrapolated: {} ranks; the model was compared with runs of at most {}", plan.ranks,
                              extent.measured_ranks));
  if (const auto assumed = assumed_figures(plan); !assumed.empty())
    all.push_back(fmt::format("assumed of the machine: {}", enumerate(assumed, ", ")));
  return all;
}

template <class T>
std::string slower_than_one(const Machine& machine, const SolveRecord& record) {
  if (!record.device || record.device->name.find(machine.device) == std::string::npos || record.ranks.size() < 2)
    return {};
  const SharedPart& first = record.ranks.front();
  const double bytes_an_entry =
      static_cast<double>(record.products.bytes) / std::max(1.0, static_cast<double>(first.nnz - first.border_nnz));
  std::vector<RankPart> parts;
  for (const SharedPart& share : record.ranks) parts.push_back(rank_part(share, bytes_an_entry));
  const LoopControl loop = record.settings.loop;
  const TimePlan plan = plan_time(
      machine,
      step_work<T>(record.settings.solver, record.settings.preconditioner, needs_definite(record.settings.solver)),
      rank_part({.rows = record.matrix.rows, .nnz = record.matrix.nnz}, bytes_an_entry), parts,
      loop == LoopControl::automatic || loop == LoopControl::persistent, std::string(solver_name(record)),
      std::string(preconditioner_name(record)));
  if (!plan.why_not.empty() || plan.speed_up() >= 1) return {};
  return fmt::format(
      "one device would be quicker, by the figures of {}: an iteration takes {:.2f} times as long on {} "
      "ranks (krill solve --plan --ranks {})",
      machine.name, 1 / plan.speed_up(), plan.ranks, plan.ranks);
}

template <class T>
struct SlowerThanOneInstances {
  static constexpr std::tuple list{instance<std::string(const Machine&, const SolveRecord&)>(slower_than_one<T>)};
};
KRILL_INSTANTIATE(SlowerThanOneInstances);

std::string time_text(const TimePlan& plan) {
  if (!plan.why_not.empty()) return wrapped(plan.why_not, 0) + "\n";
  std::string text =
      wrapped(fmt::format("time of an iteration, predicted for {} ({})", plan.machine.name, plan.machine.file), 0) +
      fmt::format("\n\n  {:<28} {:>12} {:>12}\n", "microseconds", "1 rank", fmt::format("{} ranks", plan.ranks));
  for (const auto& [key, name, us] : step_parts)
    text += fmt::format("  {:<28} {:>12.1f} {:>12.1f}\n", name, plan.one.*us, plan.many.*us);
  text += fmt::format("  {:<28} {:>12.1f} {:>12.1f}\n", "in all", plan.one.total(), plan.many.total());
  text += fmt::format("  {:<28} {:>25.2f}\n  {:<28} {:>23.0f} %\n", "speed-up", plan.speed_up(), "of as many ranks",
                      100 * plan.speed_up() / plan.ranks);
  const std::vector<std::string> sentences = remarks(plan);
  if (!sentences.empty()) text += "\n";
  for (const std::string& sentence : sentences) text += fmt::format("  {}\n", wrapped(sentence, 4, text_width - 2));
  return text;
}

nlohmann::ordered_json time_json(const TimePlan& plan) {
  nlohmann::ordered_json object{{"machine", plan.machine.name}, {"machine_file", plan.machine.file}};
  if (!plan.why_not.empty()) {
    object["why_not"] = plan.why_not;
    return object;
  }
  const int hosts = hosts_of(plan.machine, plan.ranks);
  object["one_rank"] = step_json(plan.one);
  object["ranks"] = plan.ranks, object["hosts"] = hosts;
  object["each_rank"] = step_json(plan.many);
  object["speed_up"] = plan.speed_up(), object["efficiency"] = plan.speed_up() / plan.ranks;
  object["extrapolated"] =
      hosts > plan.machine.extent.measured_hosts || plan.ranks > plan.machine.extent.measured_ranks;
  object["assumed"] = assumed_figures(plan);
  object["remarks"] = remarks(plan);
  return object;
}

}  // namespace krill::apps

#include "solvers/multigrid/level_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "solvers/multigrid/multigrid_passes.hpp"

namespace krill::detail {
namespace {

/// "12 of level 0, 3 of level 1", of counts by level; empty where all are 0.
std::string by_level(const std::vector<std::int64_t>& counts) {
  std::vector<std::string> parts;
  for (std::size_t l = 0; l < counts.size(); ++l)
    if (counts[l] > 0) parts.push_back(fmt::format("{} of level {}", counts[l], l));
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace

template <class T>
void tell_aggregates(Context& ctx, MultigridLevel<T>& level, const Aggregates& aggregates) {
  level.aggregate_sizes = Array<AggregateSizes>(1, "sizes of aggregates");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, aggregates.count,
             MeasureAggregates{aggregates.offsets.read(where), level.aggregate_sizes.write(where)});
  });
  level.report.aggregates = aggregates.count, level.report.aggregated = aggregates.rows.size();
}

/// The figures of all levels, by one read.
template <class T>
static std::vector<LevelFigures> collected(Context& ctx, const MultigridLevels<T>& levels) {
  Array<LevelFigures> all(std::ssize(levels), "figures of levels");
  ctx.dispatch([&](const auto& where) {
    const auto there = [&](const auto& array) { return array.size() > 0 ? array.read(where) : nullptr; };
    for (std::size_t l = 0; l < levels.size(); ++l) {
      const MultigridLevel<T>& level = *levels[l];
      run_pass(where, 1,
               CollectFigures{level.smoother ? level.max_eigenvalue.read(where) : nullptr, there(level.dead_columns),
                              there(level.aggregate_sizes), (l ? all.update(where) : all.write(where)) + l});
    }
  });
  return {all.host().begin(), all.host().end()};
}

template <class T>
static void tell_level(Context& ctx, MultigridLevel<T>& level, const AnyMatrix<T>& A, const LevelFigures& figures,
                       std::vector<std::pair<std::string_view, double>> steps) {
  LevelReport& report = level.report;
  report.rows = krill::rows(A), report.entries = nnz(A);
  report.setup_ms = 0;
  for (const auto& step : steps) report.setup_ms += step.second;
  report.steps = std::move(steps);
  if (report.aggregates > 0)
    report.least_aggregate = figures.aggregates.least, report.greatest_aggregate = figures.aggregates.greatest;
  report.dead_columns = figures.dead_columns;
  report.format = level.dense ? "dense inverse" : "that of the solve";
  if (level.smoother) {
    report.max_eigenvalue = figures.max_eigenvalue;
    report.longest_row = level.diagonal.longest_row;
    report.bytes += level.smoother->bytes();
  }
  if (level.dense) {
    level.dense_facts = level.dense->facts();
    report.longest_row = level.dense_facts.longest_row;
    report.bytes += level.dense->bytes() + bytes_of(level.kernel);
  }
  if (level.own_products) {
    const SpmvPlan<T>& plan = level.own_products->prepare(ctx);
    report.format = plan.report().method;
    report.bytes += plan.bytes();
    level.product_work = {static_cast<double>(plan.report().bytes),
                          multiply_add<T> * static_cast<double>(report.entries)};
  }
  if (level.A) report.bytes += krill::bytes(*level.A);
  if (level.transfer) report.bytes += level.transfer->bytes();
  report.bytes += bytes_of(level.inverse) + level.remaking_bytes;
  if (level.lanczos) report.bytes += level.lanczos->process.bytes() + bytes_of(level.lanczos->d, level.lanczos->w);
}

template <class T>
void tell_levels(Context& ctx, const MultigridLevels<T>& levels, const AnyMatrix<T>& finest,
                 const std::vector<StepTimes>& times) {
  const std::vector<LevelFigures> figures = collected(ctx, levels);
  for (std::size_t l = 0; l < levels.size(); ++l)
    tell_level(ctx, *levels[l], l ? *levels[l]->A : finest, figures[l], times[l].times());
}

template <class T>
void tell_cycle(MultigridLevel<T>& level, double visits, double products) {
  LevelReport& report = level.report;
  const auto rows = static_cast<double>(report.rows);
  report.visits = visits;
  report.cycle_entries = level.dense ? visits * rows * rows
                                     : products * static_cast<double>(report.entries) +
                                           2 * visits * static_cast<double>(report.transfer_entries);
}

template <class T>
std::vector<std::string> level_notes(const MultigridLevels<T>& levels) {
  std::vector<std::int64_t> left_out, negative, zero, dead;
  std::int64_t dead_before = 0;  // columns of the level above: rows that are zero
  for (const auto& level : levels) {
    const LevelReport& report = level->report;
    left_out.push_back(level->transfer ? report.not_aggregated * report.block_dim : 0);
    negative.push_back(level->smoother ? level->diagonal.negatives : 0);
    zero.push_back(level->smoother ? std::max<std::int64_t>(0, level->diagonal.zeros - dead_before) : 0);
    dead.push_back(report.dead_columns);
    dead_before = report.dead_columns;
  }
  std::vector<std::string> notes;
  const auto add = [&](const std::vector<std::int64_t>& counts, std::string_view what) {
    if (const std::string where = by_level(counts); !where.empty())
      notes.push_back(fmt::format("multigrid: {}: {}", what, where));
  };
  const std::int64_t alone = levels.front()->smoother ? levels.front()->diagonal.alone : 0;
  add(left_out, alone == 0 ? "rows that nothing binds strongly, which are smoothed only"
                           : fmt::format("rows that nothing binds strongly, which are smoothed only ({} of the finest "
                                         "have a diagonal entry alone)",
                                         alone));
  add(negative, "rows with a negative diagonal entry, where the matrix is not positive definite");
  add(zero, "rows without a diagonal entry, which are not smoothed");
  add(dead,
      "columns of the interpolation that are 0, for their aggregates have fewer independent rows than there are "
      "vectors of the near null space");
  const DenseFacts& last = levels.back()->dense_facts;
  if (levels.back()->dense && last.shift != 0)
    notes.emplace_back(
        "multigrid: the last level maps the near null space to nothing but rounding, as a singular matrix does, and "
        "takes the correction that has no part of it");
  const std::int64_t dead_of_last = levels.size() > 1 ? levels[levels.size() - 2]->report.dead_columns : 0;
  if (levels.back()->dense && last.singular > dead_of_last)
    notes.push_back(fmt::format("multigrid: the last level's matrix is singular: {} of {} columns without a pivot",
                                last.singular - dead_of_last, levels.back()->report.rows));
  return notes;
}

template <class T>
struct LevelReports {
  static constexpr std::tuple list{
      instance<void(Context&, MultigridLevel<T>&, const Aggregates&)>(tell_aggregates),
      instance<void(Context&, const MultigridLevels<T>&, const AnyMatrix<T>&, const std::vector<StepTimes>&)>(
          tell_levels),
      instance<void(MultigridLevel<T>&, double, double)>(tell_cycle),
      instance<std::vector<std::string>(const MultigridLevels<T>&)>(level_notes)};
};
KRILL_INSTANTIATE(LevelReports);

}  // namespace krill::detail

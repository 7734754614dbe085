#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "apps/parallel/agreement.hpp"
#include "apps/report/gnuplot.hpp"
#include "apps/verify/verification.hpp"

namespace krill::apps::verify {
namespace {

std::string milliseconds(double ms) { return fmt::format("{:.{}f}", ms, ms < 10 ? 2 : 0); }

/// "0.31", "-" where nothing was compared.
std::string figure(const Comparison& c, double value, const char* form) {
  if (c.verdict == Verdict::none && value == 0) return "-";
  return std::isfinite(value) ? fmt::format(fmt::runtime(form), value) : "inf";
}

/// The last bin that holds anything.
std::string_view worst_ulps(const UlpHistogram& histogram) {
  for (std::size_t bin = histogram.counts.size(); bin-- > 0;)
    if (histogram.counts[bin] > 0) return UlpHistogram::labels[bin];
  return "-";
}

/// In four columns.
std::string verdict_word(Verdict verdict, const Paint& paint) {
  if (verdict == Verdict::none) return paint.warning("-   ");
  return verdict == Verdict::pass ? paint.good("PASS") : paint.bad("FAIL");
}

std::string counted(std::int64_t n, std::string_view what) {
  return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
}

}  // namespace

int exit_code(const VerifyResult& v) { return v.ledger.count(Verdict::fail) > 0 || !v.ended_early.empty() ? 1 : 0; }

std::string check_head() {
  return fmt::format("  {:<4}  {:<42} {:>11} {:>8} {:>7}\n", "", "check", "error/bound", "ulps", "ms");
}

std::string check_line(const Check& check, const Paint& paint) {
  const Comparison& c = check.result;
  std::string line = fmt::format("  {}  {:<42} {:>11} {:>8} {:>7}\n", verdict_word(c.verdict, paint), check.name,
                                 figure(c, c.componentwise, "{:.2g}"), worst_ulps(c.ulps), milliseconds(check.ms));
  if (c.verdict == Verdict::none) line += fmt::format("        {}\n", wrapped("not checked: " + c.reason, 8));
  return line;
}

std::string failure_text(const Check& check, const Paint& paint) {
  const Comparison& c = check.result;
  std::string text = fmt::format("{}  {}\n", paint.bad("FAIL"),
                                 wrapped(fmt::format("{}: {}, {}", check.group, check.name, check.subject), 6));
  if (!c.reason.empty()) text += fmt::format("  {}\n", wrapped(c.reason, 4));
  if (c.wrong > 0) text += fmt::format("  {} of {} entries are beyond their bound\n", c.wrong, c.entries);
  if (c.first) {
    const Difference& d = *c.first;
    const std::string first =
        fmt::format("the first is entry {} (counted from 0){}{}: got {}, expected {}; |error| {:.3g}, bound {:.3g}",
                    d.index, d.where.empty() ? "" : " with ", d.where, d.got, d.expected, d.error, d.bound);
    text += fmt::format("  {}\n", wrapped(first, 4));
  }
  if (!check.bound.empty()) text += fmt::format("  bound: {}\n", wrapped(std::string(check.bound), 4));
  return text;
}

std::string group_table(const Ledger& ledger) {
  std::string text = fmt::format("  {:<17}  {:>7}  {:>7}  {:>11}  {:>11}  {:>8}\n", "group", "checks", "failed",
                                 "not checked", "error/bound", "ms");
  for (const GroupSummary& g : summarize(ledger.checks())) {
    fmt::format_to(std::back_inserter(text), "  {:<17}  {:>7}  {:>7}  {:>11}  {:>11}  {:>8.0f}\n", g.group, g.checks,
                   g.failed, g.not_checked,
                   g.worst ? figure(g.worst->result, g.worst->result.componentwise, "{:.2g}") : "-", g.ms);
    if (g.worst)
      text += fmt::format("    {}\n", wrapped(fmt::format("worst: {}, {}", g.worst->name, g.worst->subject), 6));
  }
  return text;
}

std::string verdict_line(const VerifyResult& v, const Paint& paint) {
  const std::int64_t failed = v.ledger.count(Verdict::fail), open = v.ledger.count(Verdict::none);
  const auto all = std::ssize(v.ledger.checks());
  std::string text;
  if (!v.ended_early.empty()) text += fmt::format("ended early: {}; ", v.ended_early);
  text += failed > 0 ? fmt::format("{} of {} failed", failed, counted(all, "check"))
                     : fmt::format("{} passed", counted(all - open, "check"));
  if (open > 0) text += fmt::format(", {} not checked", open);
  const std::string where = v.ranks > 1 ? "by " + team_text(v.ranks, v.device, v.threads)
                            : v.device  ? "on " + v.device->name
                                        : "on the host, " + counted(v.threads, "thread");
  text += fmt::format(", {} in {:.1f} s: {}", where, v.seconds, v.name);
  return (exit_code(v) == 0 ? paint.good("PASS: ") : paint.bad("FAIL: ")) + wrapped(text, 6) + "\n";
}

std::string curves_script(const VerifyResult& v) {
  if (v.ledger.curves().empty()) return {};
  const Curves& c = v.ledger.curves().front();
  const auto block = [](std::string_view name, const std::vector<double>& history) {
    std::string text = fmt::format("${} << EOD\n", name);
    for (std::size_t i = 0; i < history.size(); ++i)
      if (std::isfinite(history[i]) && history[i] > 0)
        fmt::format_to(std::back_inserter(text), "{} {:.6e}\n", i, history[i]);
    return text + "EOD\n";
  };
  const std::size_t last = std::max({c.backend.size(), c.host.size(), c.textbook.size(), std::size_t{2}}) - 1;
  // A plot without any point is an error to gnuplot: a line at the target comes first. Later curves are thinner.
  return block("textbook", c.textbook) + block("host", c.host) + block("backend", c.backend) +
         fmt::format(
             "set title {} noenhanced\nset xlabel 'iteration'\nset ylabel 'relative residual norm'\n"
             "set logscale y 10\nset format y '10^{{%L}}'\nset grid lc rgb '#dddddd'\nset key top right\n"
             "set xrange [0:{}]\nset offsets 0, 0, graph 0.03, graph 0.03\n"
             "plot {:.6e} with lines lw 2 dt 2 lc rgb '#D55E00' title 'target'"
             ", $textbook using 1:2 with lines lw 8 lc rgb '#cccccc' title 'textbook'"
             ", $host using 1:2 with lines lw 4 lc rgb '#E69F00' title 'host, one thread'"
             ", $backend using 1:2 with lines lw 1.5 lc rgb '#0072B2' title {}\n",
             gnuplot_string(fmt::format("{}: {}", v.name, c.name)), last, c.target > 0 ? c.target : 1,
             gnuplot_string(v.device ? v.device->name : fmt::format("host, {}", counted(v.threads, "thread"))));
}

}  // namespace krill::apps::verify

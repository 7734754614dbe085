#include "apps/bench/difference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace krill::apps::bench {
namespace {

using Kind = Change::Kind;

auto key(const Row& row) { return std::tie(row.kernel, row.matrix, row.precision, row.variant, row.cache); }

std::vector<Row> all_rows(const std::vector<Result>& results) {
  std::vector<Row> rows;
  for (const Result& result : results) rows.insert(rows.end(), result.rows.begin(), result.rows.end());
  return rows;
}

/// A row without a time does not know of its cache.
bool belong_together(const Row& a, const Row& b) {
  if (a.ms && b.ms) return key(a) == key(b);
  return std::tie(a.kernel, a.matrix, a.precision, a.variant) == std::tie(b.kernel, b.matrix, b.precision, b.variant);
}

Kind judge(const Row& before, const Row& after, double tolerance) {
  if (before.ms && after.ms) {
    const double let_pass = 1 + std::max({tolerance, before.spread.value_or(0), after.spread.value_or(0)});
    if (*after.ms > let_pass * *before.ms) return Kind::slower;
    return *before.ms > let_pass * *after.ms ? Kind::faster : Kind::same;
  }
  if (before.ms) return Kind::fails;
  return after.ms ? Kind::added : Kind::same;
}

const Row& shown(const Change& change) { return change.kind == Kind::added ? change.after : change.before; }

/// How wide the names of what is shown are.
struct Widths {
  std::size_t matrix = 0, variant = 0;

  explicit Widths(const std::vector<Change>& changes) {
    for (const Change& change : changes) {
      if (change.kind == Kind::same) continue;
      matrix = std::max(matrix, shown(change).matrix.size());
      variant = std::max(variant, shown(change).variant.size());
    }
  }
};

std::string line(const Change& change, const Widths& widths) {
  const Row& row = shown(change);
  std::string text = fmt::format("  {:<8} {:<{}} {:<10} {:<{}} {:<5}", row.kernel, row.matrix, widths.matrix,
                                 row.precision, row.variant, widths.variant, row.cache);
  switch (change.kind) {
    case Kind::slower:
    case Kind::faster:
      if (change.before.ms && change.after.ms)
        text += fmt::format("  {:.4g} -> {:.4g} ms, {:.2f} times as long", *change.before.ms, *change.after.ms,
                            *change.after.ms / *change.before.ms);
      if (change.before.iterations && change.after.iterations && change.before.iterations != change.after.iterations)
        text += fmt::format(", iterations {} -> {}", *change.before.iterations, *change.after.iterations);
      break;
    case Kind::fails:
      text += "  " + change.after.error;
      break;
    case Kind::gone:
    case Kind::added:
      if (row.ms) text += fmt::format("  {:.4g} ms", *row.ms);
      break;
    case Kind::same:
      break;
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

struct Heading {
  Kind kind;
  const char* text;
};
constexpr std::array<Heading, 5> headings{{{Kind::fails, "fails now"},
                                           {Kind::slower, "slower"},
                                           {Kind::faster, "faster"},
                                           {Kind::gone, "in the first file only"},
                                           {Kind::added, "in the second file only"}}};

}  // namespace

std::vector<Change> compare(const std::vector<Result>& before, const std::vector<Result>& after, double tolerance) {
  std::vector<Row> later = all_rows(after);
  std::vector<Change> changes;
  for (const Row& row : all_rows(before)) {
    const auto found = std::find_if(later.begin(), later.end(), [&](const Row& r) { return belong_together(row, r); });
    if (found == later.end()) {
      changes.push_back({Kind::gone, row, {}});
      continue;
    }
    changes.push_back({judge(row, *found, tolerance), row, *found});
    later.erase(found);
  }
  for (const Row& row : later) changes.push_back({Kind::added, {}, row});
  return changes;
}

bool got_worse(const std::vector<Change>& changes) {
  return std::any_of(changes.begin(), changes.end(),
                     [](const Change& change) { return change.kind == Kind::slower || change.kind == Kind::fails; });
}

std::string difference_text(const std::vector<Change>& changes, double tolerance) {
  const auto count = [&](Kind kind) {
    return std::count_if(changes.begin(), changes.end(), [&](const Change& c) { return c.kind == kind; });
  };
  const Widths widths(changes);
  std::string text;
  for (const auto& [kind, heading] : headings) {
    if (count(kind) == 0) continue;
    text += fmt::format("{}\n", heading);
    for (const Change& change : changes)
      if (change.kind == kind) text += line(change, widths);
  }
  const auto compared = std::ssize(changes) - count(Kind::gone) - count(Kind::added);
  return text + fmt::format("{} rows compared: {} slower, {} fail now, {} faster, {} within {:g} % or their spread\n",
                            compared, count(Kind::slower), count(Kind::fails), count(Kind::faster), count(Kind::same),
                            100 * tolerance);
}

}  // namespace krill::apps::bench

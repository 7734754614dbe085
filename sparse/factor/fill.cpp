#include "sparse/factor/fill.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <span>
#include <vector>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/factor/incomplete_passes.hpp"

namespace krill {

using namespace detail;
namespace {

constexpr std::size_t place(std::int64_t i) { return static_cast<std::size_t>(i); }

/// Rows of columns, on the host.
template <class Offset>
struct Graph {
  std::vector<Offset> offsets;
  std::vector<std::int32_t> cols;

  std::int32_t rows() const { return static_cast<std::int32_t>(offsets.size()) - 1; }
  std::span<const std::int32_t> row(std::int64_t i) const {
    const auto first = place(offsets[place(i)]);
    return {cols.data() + first, place(offsets[place(i) + 1]) - first};
  }
  friend bool operator==(const Graph&, const Graph&) = default;
};

template <class T, class Offset>
Graph<Offset> graph_of(const Csr<T, Offset>& A) {
  const auto offsets = A.row_offsets().host();
  const auto cols = A.col_indices().host();
  return {{offsets.begin(), offsets.end()}, {cols.begin(), cols.end()}};
}

template <class Offset>
Graph<Offset> transposed(const Graph<Offset>& graph) {
  Graph<Offset> t{std::vector<Offset>(graph.offsets.size()), std::vector<std::int32_t>(graph.cols.size())};
  for (const std::int32_t j : graph.cols) ++t.offsets[place(j) + 1];
  for (std::size_t j = 1; j < t.offsets.size(); ++j) t.offsets[j] += t.offsets[j - 1];
  std::vector<Offset> next(t.offsets.begin(), t.offsets.end() - 1);
  for (std::int32_t i = 0; i < graph.rows(); ++i)
    for (const std::int32_t j : graph.row(i)) t.cols[place(next[place(j)]++)] = i;
  return t;
}

/// The lower triangle and what mirrors it.
template <class Offset>
Graph<Offset> mirrored(const Graph<Offset>& graph) {
  const Graph<Offset> t = transposed(graph);
  Graph<Offset> both{{0}, {}};
  both.offsets.reserve(graph.offsets.size());
  for (std::int32_t i = 0; i < graph.rows(); ++i) {
    for (const std::int32_t j : graph.row(i))
      if (j <= i) both.cols.push_back(j);
    for (const std::int32_t j : t.row(i))
      if (j > i) both.cols.push_back(j);
    both.offsets.push_back(static_cast<Offset>(both.cols.size()));
  }
  return both;
}

/// Searches in breadth of one thread.
template <class Offset>
class Search {
 public:
  explicit Search(const Graph<Offset>& graph) : graph_(graph), seen_by_(place(graph.rows()), -1) {}

  /// Appends the rows from i on, ascending, that paths from i of at most `steps` steps through rows before i end in.
  void reach(std::int32_t i, int steps, std::vector<std::int32_t>& found) {
    const auto first = static_cast<std::ptrdiff_t>(found.size());
    front_.assign(1, i);
    for (int step = 0; step < steps && !front_.empty(); ++step) {
      next_.clear();
      for (const std::int32_t between : front_)
        for (const std::int32_t j : graph_.row(between)) {
          if (seen_by_[place(j)] == i) continue;
          seen_by_[place(j)] = i;
          (j < i ? next_ : found).push_back(j);
        }
      front_.swap(next_);
    }
    std::sort(found.begin() + first, found.end());
  }

 private:
  const Graph<Offset>& graph_;
  std::vector<std::int32_t> seen_by_, front_, next_;
};

/// Not varied.
struct FillTuning {
  static constexpr std::int32_t rows_of_a_block = 512;  ///< that a thread takes at a time
};

/// The upper triangle, by rows, of the pattern that elimination of a graph fills to a level.
class UpperPattern {
 public:
  /// Stops where it has more than max_entries.
  template <class Offset>
  UpperPattern(const Host& host, const Graph<Offset>& graph, int level, std::int64_t max_entries)
      : lengths_(place(graph.rows())), blocks_(place(ceil_div(graph.rows(), FillTuning::rows_of_a_block))) {
    const int steps = level == std::numeric_limits<int>::max() ? level : level + 1;
    const auto blocks = static_cast<std::int64_t>(blocks_.size());
    const int threads = host.threads_for(static_cast<std::int64_t>(graph.cols.size()));
    std::atomic<std::int64_t> entries = 0;
#pragma omp parallel num_threads(threads) if (threads > 1)
    {
      Search<Offset> search(graph);
#pragma omp for schedule(dynamic)
      for (std::int64_t block = 0; block < blocks; ++block) {
        std::vector<std::int32_t>& found = blocks_[place(block)];
        const std::int64_t first = block * FillTuning::rows_of_a_block,
                           end = std::min<std::int64_t>(graph.rows(), first + FillTuning::rows_of_a_block);
        for (std::int64_t i = first; i < end && entries.load(std::memory_order_relaxed) <= max_entries; ++i) {
          const std::size_t before = found.size();
          search.reach(static_cast<std::int32_t>(i), steps, found);
          lengths_[place(i)] = static_cast<std::int32_t>(found.size() - before);
          entries.fetch_add(lengths_[place(i)], std::memory_order_relaxed);
        }
      }
    }
    entries_ = entries;
  }

  std::int64_t entries() const { return entries_; }
  /// f(i, the columns of row i, ascending) for all rows, rows ascending where there is one thread.
  template <class F>
  void for_rows(int threads, F&& f) const {
    const auto blocks = static_cast<std::int64_t>(blocks_.size());
#pragma omp parallel for schedule(static) num_threads(threads) if (threads > 1)
    for (std::int64_t block = 0; block < blocks; ++block) {
      const std::int32_t* cols = blocks_[place(block)].data();
      const auto first = place(block) * FillTuning::rows_of_a_block,
                 end = std::min(lengths_.size(), first + FillTuning::rows_of_a_block);
      for (std::size_t i = first; i < end; cols += lengths_[i], ++i)
        f(static_cast<std::int32_t>(i), std::span(cols, place(lengths_[i])));
    }
  }

 private:
  std::vector<std::int32_t> lengths_;
  std::vector<std::vector<std::int32_t>> blocks_;
  std::int64_t entries_ = 0;
};

/// The pattern of the factors in one: of L and U, or of L where `upper` is left out. columns_of_l: L transposed.
template <class Offset>
struct FilledRows {
  Array<Offset> offsets;
  Array<std::int32_t> cols;

  FilledRows(std::int32_t rows, const UpperPattern& columns_of_l, const UpperPattern* upper, int threads)
      : offsets(rows + 1, "row_offsets"), cols(0, "col_indices") {
    const std::span<Offset> starts = offsets.edit();
    std::ranges::fill(starts, Offset{0});
    // where the diagonal belongs to U, it is left out of L
    const auto for_lower = [&](auto&& f) {
      columns_of_l.for_rows(1, [&](std::int32_t j, std::span<const std::int32_t> column) {
        for (const std::int32_t i : column)
          if (i > j || !upper) f(i, j);
      });
    };
    for_lower([&](std::int32_t i, std::int32_t) { ++starts[place(i) + 1]; });
    if (upper)
      upper->for_rows(threads,
                      [&](std::int32_t i, auto row) { starts[place(i) + 1] += static_cast<Offset>(row.size()); });
    for (std::size_t i = 1; i < starts.size(); ++i) starts[i] += starts[i - 1];
    cols = Array<std::int32_t>(static_cast<std::int64_t>(starts.back()), "col_indices");
    const std::span<std::int32_t> to = cols.edit();
    std::vector<Offset> next(starts.begin(), starts.end() - 1);
    for_lower([&](std::int32_t i, std::int32_t j) { to[place(next[place(i)]++)] = j; });
    if (upper)
      upper->for_rows(threads, [&](std::int32_t i, auto row) {
        std::ranges::copy(row, to.begin() + static_cast<std::ptrdiff_t>(next[place(i)]));
      });
  }
};

void require_room(bool fits, int level, std::int64_t entries, const FillRoom& room) {
  if (!fits)
    throw OutOfMemory(fmt::format("what was counted of the fill of level {} (a lower level has less)", level),
                      place(entries) * room.bytes_an_entry, room.free, room.device);
}

template <class Offset>
FilledRows<Offset> find_fill(const Host& host, const Graph<Offset>& graph, Factorization kind, int level,
                             const FillRoom& room) {
  const std::int32_t rows = graph.rows();
  const std::int64_t max = std::min(room.max_entries(), std::numeric_limits<std::int64_t>::max() - rows);
  const int threads = host.threads_for(static_cast<std::int64_t>(graph.cols.size()));
  const auto found = [&](const Graph<Offset>& of, std::int64_t most, std::int64_t others) {
    UpperPattern pattern(host, of, level, most);
    require_room(pattern.entries() <= most, level, pattern.entries() + others, room);
    return pattern;
  };
  if (kind == Factorization::ic0) {
    const UpperPattern columns = found(mirrored(graph), max, 0);
    require_offsets_fit<Offset>(columns.entries());
    return {rows, columns, nullptr, threads};
  }
  const Graph<Offset> turned = transposed(graph);  // both triangles have the diagonal, which counts once
  const UpperPattern upper = found(graph, max, 0);
  if (turned == graph) {
    require_room(2 * upper.entries() - rows <= max, level, 2 * upper.entries(), room);
    require_offsets_fit<Offset>(2 * upper.entries());
    return {rows, upper, &upper, threads};
  }
  const UpperPattern columns = found(turned, max - upper.entries() + rows, upper.entries());
  require_offsets_fit<Offset>(upper.entries() + columns.entries());
  return {rows, columns, &upper, threads};
}

}  // namespace

template <class T, class Offset>
FilledMatrix<T, Offset>::FilledMatrix(Context& ctx, const Csr<T, Offset>& A, Factorization kind, int level,
                                      const FillRoom& room)
    : matrix_(A.cols(), Array<Offset>{0}, Array<std::int32_t>(), Array<T>()), entries_of_a_(A.nnz()), level_(level) {
  require_size("fill: columns of the matrix", A.cols(), A.rows());
  require(level >= 0, fmt::format("fill: the level is {}, 0 or more are needed", level));
  const Host& host = ctx.host_tag();
  FilledRows<Offset> filled = find_fill(host, graph_of(A), kind, level, room);
  const std::int64_t entries = filled.cols.size();
  sources_ = Array<Offset>(entries, "sources of entries");
  std::int64_t taken = 0;
  run_pass(host, A.rows(),
           FindSources<Offset>{pattern(host, A), filled.offsets.read(host), filled.cols.read(host),
                               sources_.write(host), &taken});
  if (taken > 0) fill_ratio_ = static_cast<double>(entries) / static_cast<double>(taken);
  matrix_ =
      Csr<T, Offset>(A.cols(), std::move(filled.offsets), std::move(filled.cols), Array<T>(entries, "filled values"));
  update(ctx, A);
}

template <class T, class Offset>
FilledMatrix<T, Offset>::FilledMatrix(Context& ctx, const Csr<T, Offset>& A, Csr<T, Offset> pattern_of_factor,
                                      std::int64_t factored)
    : matrix_(std::move(pattern_of_factor)),
      sources_(matrix_.nnz(), "sources of entries"),
      entries_of_a_(A.nnz()),
      fill_ratio_(factored > 0 ? static_cast<double>(matrix_.nnz()) / static_cast<double>(factored) : 1) {
  require_size("fill: rows of the pattern", matrix_.rows(), A.rows());
  require_size("fill: columns of the pattern", matrix_.cols(), A.cols());
  Array<std::int64_t> taken(1, "entries of the matrix");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(),
             FindSources<Offset>{pattern(where, A), matrix_.row_offsets().read(where),
                                 matrix_.col_indices().read(where), sources_.write(where), taken.write(where)});
  });
  update(ctx, A);
}

template <class T, class Offset>
void FilledMatrix<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A) {
  require_size("fill: entries of the matrix", A.nnz(), entries_of_a_);
  require_size("fill: rows of the matrix", A.rows(), matrix_.rows());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, matrix_.nnz(),
             FillWithZeros<kernel_t<T>, Offset>{A.values().read(where), sources_.read(where),
                                                matrix_.values().write(where)});
  });
}

KRILL_INSTANTIATE_WITH_OFFSETS(FilledMatrix);

}  // namespace krill

#include "sparse/banded/ends.hpp"
#include "sparse/banded/factor_steps.hpp"
#include "sparse/banded/lane_blocks.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {
namespace {

/// Exchanges of a row of a block's systems, a byte each.
template <class T>
struct BlockExchanges {
  std::uint8_t* bits;
  int systems;
  bool one_for_all = false;
  using Mask = typename Lanes<T>::Mask;

  void keep(std::int64_t i, int v, int half, const Mask* exchange) const {
    const int left = std::min(systems - v * Lanes<T>::count, Lanes<T>::count);
    std::uint8_t* const row = bits + i * systems + v * Lanes<T>::count;
    for (int lane = 0; lane < left; ++lane) {
      unsigned all = 0;
      for (int r = 0; r < half; ++r) all |= exchange[r][lane] ? 1U << r : 0U;
      row[lane] = static_cast<std::uint8_t>(all);
    }
  }
  void bring(std::int64_t i, int v, int half, Mask* exchange) const {
    using Bytes [[gnu::vector_size(Lanes<T>::count)]] = std::uint8_t;
    const int left = std::min(systems - v * Lanes<T>::count, Lanes<T>::count);
    const std::uint8_t* const row = bits + i * systems + (one_for_all ? 0 : v * Lanes<T>::count);
    Bytes bytes{};
    if (one_for_all)
      bytes = bytes + row[0];
    else if (left == Lanes<T>::count)
      std::memcpy(&bytes, row, sizeof bytes);
    else
      std::memcpy(&bytes, row, static_cast<std::size_t>(left));
    const Mask all = __builtin_convertvector(bytes, Mask);
    for (int r = 0; r < half; ++r) exchange[r] = -(all >> r & 1);
  }
};

/// Where the factors of a block's systems lie.
template <class Steps, class T>
struct BlockFactor {
  static constexpr int half = Steps::ahead, count = factor_words(Steps::diagonals, Steps::method);
  BlockWords<T> words;
  BlockExchanges<T> exchanges;

  /// Of systems first to last - 1, or of the only one there is.
  BlockFactor(T* all, std::uint8_t* all_exchanges, const BandLayout& matrices, std::int64_t first, int systems)
      : words{all, systems, count}, exchanges{all_exchanges, systems} {
    if (matrices.batch == 1) words.systems = exchanges.systems = 1, words.one_for_all = exchanges.one_for_all = true;
    const std::int64_t rows_before = matrices.batch == 1 ? 0 : first * matrices.rows;
    words.words += rows_before * count;
    if (all_exchanges) exchanges.bits += rows_before;
  }
};

/// Systems first to last - 1.
template <class Steps, class T>
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose builds these would keep five times as long
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
[[gnu::flatten]]
#endif
void
factor_block(const BandedFactoring<T>& s, std::int64_t first, std::int64_t last) {
  using Vector = Lanes<T>;
  using Mask = typename Vector::Mask;
  constexpr int half = Steps::ahead, above = Steps::above, words = factor_words(Steps::diagonals, Steps::method);
  const auto systems = static_cast<int>(last - first);
  const int vectors = (systems + Vector::count - 1) / Vector::count;
  const std::int32_t n = s.a.layout.rows;
  const LanePlaces<T> matrix(s.a.layout, first, systems);
  const BlockFactor<Steps, T> factor(s.words, s.exchanges, s.a.layout, first, systems);

  BandTile<T, Steps::diagonals> rows{};
  LaneRow<T> kept[words];
  Steps steps[LaneTuning::vectors];
  Mask zero_rows[LaneTuning::vectors];
  for (Mask& row : zero_rows) row = Mask{} + no_row;
  for (std::int32_t r = 0; r < n + half; ++r) {
    const std::int32_t i = r - half;
    if (r % LaneTuning::tile_rows == 0 && r < n) rows.load(s.a, matrix, r, n);
    if (r == 0)
      for (int v = 0; v < vectors; ++v) steps[v].start(rows.top(v, n, s.conjugated));
    if (i < 0) continue;
    for (int v = 0; v < vectors; ++v) {
      Steps mine = steps[v];
      FactorLog<Vector, half, Mask> log;
      const auto made = mine.step(rows.row(r, v, n, s.conjugated), log);
      steps[v] = mine;
      const Mask found = no_pivot(made.entry[0]) & (zero_rows[v] == no_row);
      zero_rows[v] = found ? Mask{} + i : zero_rows[v];
      const Vector inverse = Vector(real_t<T>(1)) / made.entry[0];
      for (int k = 0; k < half; ++k) kept[k][v] = log.multiplier[k];
      kept[half][v] = inverse;
      for (int k = 1; k <= above; ++k) kept[half + k][v] = made.entry[k] * inverse;
      if (s.exchanges) factor.exchanges.keep(i, v, half, log.exchange);
    }
    for (int w = 0; w < words; ++w) factor.words.keep(i, w, kept[w]);
  }
  for (int j = 0; j < systems; ++j)
    s.zero_rows[first + j] = static_cast<std::int32_t>(zero_rows[j / Vector::count][j % Vector::count]);
}

/// Systems first to last - 1, row after row of all of them down, then back.
template <class Steps, class T>
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose builds these would keep five times as long
#if defined(__x86_64__) && !defined(__clang__)
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
[[gnu::flatten]]
#endif
void
solve_block_with_factor(const FactoredSolve<T>& s, std::int64_t first, std::int64_t last) {
  using Vector = Lanes<T>;
  using Mask = typename Vector::Mask;
  constexpr int half = Steps::ahead, tile = LaneTuning::tile_rows;
  const auto systems = static_cast<int>(last - first);
  const int vectors = (systems + Vector::count - 1) / Vector::count;
  const std::int32_t n = s.vectors.rows;
  const LanePlaces<T> rhs(s.vectors, first, systems);
  const BlockFactor<Steps, T> factor(const_cast<T*>(s.words), const_cast<std::uint8_t*>(s.exchanges), s.matrices, first,
                                     systems);

  LaneRow<T> in[tile], out[tile], down[half + 1];
  RhsSteps<Steps::method, Vector, half> steps[LaneTuning::vectors];
  for (std::int32_t r = 0; r < n + half; ++r) {
    const std::int32_t i = r - half;
    if (r % tile == 0 && r < n) rhs.load(s.b, r, std::min(r + tile, n) - r, in);
    if (i < 0) {
      for (int v = 0; v < vectors && r < n; ++v) steps[v].present[r] = in[r][v];
      continue;
    }
    for (int w = 0; w <= half; ++w) factor.words.bring(i, w, vectors, down[w]);
    for (int v = 0; v < vectors; ++v) {
      FactorLog<Vector, half, Mask> log;
      for (int k = 0; k < half; ++k) log.multiplier[k] = down[k][v];
      if (s.exchanges) factor.exchanges.bring(i, v, half, log.exchange);
      out[i % tile][v] = steps[v].step(r < n ? in[r % tile][v] : Vector(), log) * down[half][v];
    }
    if (i % tile == tile - 1 || i == n - 1) rhs.store(out, i / tile * tile, i % tile + 1, s.x);
  }
  substitute_back<T, Steps::above>(factor.words, half + 1, rhs, n, vectors, s.x);
}

/// An end of a single system, as a plan solves it.
template <class Steps, class T>
struct FactorEnd {
  static constexpr int half = Steps::ahead;
  BandedSystem<T> system;
  FactorRows<T> rows;
  std::int32_t count;
  std::int32_t zero_row = no_row;

  void factor() {
    Steps steps;
    steps.start(system);
    for (std::int32_t i = 0; i < count; ++i) {
      FactorLog<T, half> log;
      const auto row = steps.step(system.template row<Steps::diagonals>(i + half), log);
      keep_factor_row(rows, i, log, row, zero_row);
    }
    if (count < system.rows) keep_left_over(rows, count, steps.present);
  }
};

template <BandedMethod method, class T, int half>
void factor_system(const Host& host, const BandedFactoring<T>& s,
                   std::type_identity<EliminationSteps<method, T, half>>) {
  using End = FactorEnd<EliminationSteps<method, T, half>, T>;
  const std::int32_t n = s.a.layout.rows;
  const BandedSystem<T> system = system_without_rhs(s, 0);
  const FactorRows<T> rows{s.words, s.exchanges, n, 1};
  End ends[2] = {{system, rows, s.ends.count(0)}, {system.reversed(), rows.reversed(n), s.ends.count(1)}};
  for_blocks(host, s.ends.number, 1, n, [&](std::int64_t e, std::int64_t) { ends[e].factor(); });
  s.zero_rows[0] =
      zero_row_of_factor<method, T, half>(s.ends, {s.words, s.exchanges, n, 1}, ends[0].zero_row, ends[1].zero_row);
}

/// An end of a single right-hand side.
template <class Steps, class T>
struct FactoredEnd {
  static constexpr int half = Steps::ahead, above = Steps::above;
  FactorRows<const T> rows;
  const T* b;
  T* x;
  std::int64_t step;
  std::int32_t count, all;
  RhsSteps<Steps::method, T, half> steps{};

  void down() {
    const FactoredEnd mine = *this;  // in registers
    RhsSteps<Steps::method, T, half> under_way;
    for (std::int32_t r = 0; r < half && r < all; ++r) under_way.present[r] = mine.b[r * mine.step];
    for (std::int32_t i = 0; i < mine.count; ++i) {
      FactorDown<T, half> row;
      row.load(mine.rows, i);
      const T next = i + half < mine.all ? mine.b[(i + half) * mine.step] : T{};
      mine.x[i * mine.step] = under_way.step(next, row.log) * row.inverse;
    }
    steps = under_way;
  }
  void back(const T* next) const {
    const FactoredEnd mine = *this;
    BackSteps<T, above> steps;
    for (int k = 0; k < above; ++k) steps.known[k] = next[k];
    for (std::int32_t i = mine.count - 1; i >= 0; --i) {
      T entries[above];
      for (int k = 0; k < above; ++k) entries[k] = mine.rows.word(half + 1 + k, i);
      T& unknown = mine.x[i * mine.step];
      unknown = steps.step(entries, unknown);
    }
  }
};

template <BandedMethod method, class T, int half>
void solve_system_with_factor(const Host& host, const FactoredSolve<T>& s,
                              std::type_identity<EliminationSteps<method, T, half>>) {
  using End = FactoredEnd<EliminationSteps<method, T, half>, T>;
  constexpr int size = 2 * half;
  const std::int32_t n = s.vectors.rows;
  const std::int64_t step = s.vectors.row_stride;
  const FactorRows<const T> rows{s.words, s.exchanges, n, 1};
  End ends[2] = {{rows, s.b, s.x, step, s.ends.count(0), n},
                 {rows.reversed(n), s.b + (n - 1) * step, s.x + (n - 1) * step, -step, s.ends.count(1), n}};
  T middle[size] = {}, reversed[size] = {};
  for_blocks(host, s.ends.number, 1, n, [&](std::int64_t e, std::int64_t) { ends[e].down(); });
  if (s.ends.number == 2) {
    Equation<T, size + 1> left[2][half];
    for (int e = 0; e < 2; ++e) load_left_over(ends[e].rows, ends[e].count, ends[e].steps.present, left[e]);
    solve_middle<method>(left[0], left[1], middle);
    for (int k = 0; k < size; ++k) {
      reversed[k] = middle[size - 1 - k];
      s.x[(s.ends.middle() + k) * step] = middle[k];
    }
  }
  for_blocks(host, s.ends.number, 1, n,
             [&](std::int64_t e, std::int64_t) { ends[e].back(e == 0 ? middle : reversed); });
}

}  // namespace

template <class T>
void run_factoring(const Host& host, int diagonals, BandedMethod method, const BandedFactoring<T>& s) {
  if (host.skip.now()) return;
  if (s.vectors.batch == 1)
    return with_factor_steps<T>(diagonals, method, [&](auto steps) { factor_system(host, s, steps); });
  with_factor_steps<Lanes<T>>(diagonals, method, [&]<class Steps>(std::type_identity<Steps>) {
    for_blocks(host, s.a.layout.batch, systems_of_block<T>(s.vectors), s.a.layout.unknowns(),
               [&](std::int64_t first, std::int64_t last) { factor_block<Steps>(s, first, last); });
  });
}

template <class T>
void run_factored(const Host& host, int diagonals, BandedMethod method, const FactoredSolve<T>& s) {
  if (host.skip.now()) return;
  if (s.vectors.batch == 1)
    return with_factor_steps<T>(diagonals, method, [&](auto steps) { solve_system_with_factor(host, s, steps); });
  with_factor_steps<Lanes<T>>(diagonals, method, [&]<class Steps>(std::type_identity<Steps>) {
    for_blocks(host, s.vectors.batch, systems_of_block<T>(s.vectors), s.vectors.unknowns(),
               [&](std::int64_t first, std::int64_t last) { solve_block_with_factor<Steps>(s, first, last); });
  });
}

KRILL_INSTANTIATE(FactorKernels, Host);

}  // namespace krill::detail

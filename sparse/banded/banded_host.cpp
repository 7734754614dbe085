#include "sparse/banded/ends.hpp"
#include "sparse/banded/lane_blocks.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {
namespace {

/// Systems first to last - 1, row after row of all of them, a tile of rows at a time.
template <class Steps, class T>
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // whose builds these would keep five times as long
#if defined(__x86_64__) && !defined(__clang__)                       // which has no clones of what is flattened
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
[[gnu::flatten]]
#endif
void
solve_block(const BandedSolve<T>& s, std::int64_t first, std::int64_t last) {
  using Vector = Lanes<T>;
  using Mask = typename Vector::Mask;
  constexpr int above = Steps::above, tile = LaneTuning::tile_rows;
  const auto systems = static_cast<int>(last - first);
  const int vectors = (systems + Vector::count - 1) / Vector::count;
  const std::int32_t n = s.rows();
  const LanePlaces<T> matrix(s.a.layout, first, systems), rhs(s.vectors, first, systems);
  const BlockWords<T> triangle{s.above + first * n * above, systems, above};

  BandTile<T, Steps::diagonals> rows;
  LaneRow<T> kept[above], out[tile];
  Steps steps[LaneTuning::vectors];
  Mask zero_rows[LaneTuning::vectors];
  for (Mask& row : zero_rows) row = Mask{} + no_row;
  for (std::int32_t r = 0; r < n + Steps::ahead; ++r) {  // row r of the matrix, for row i of the triangle
    const std::int32_t i = r - Steps::ahead;
    if (r % tile == 0 && r < n) rows.load(s.a, matrix, r, n), rows.load_rhs(s.b, rhs, r, n);
    if (r == 0)
      for (int v = 0; v < vectors; ++v) steps[v].start(rows.top(v, n, s.conjugated));
    if (i < 0) continue;
    for (int v = 0; v < vectors; ++v) {
      Steps mine = steps[v];
      const auto made = mine.step(rows.row(r, v, n, s.conjugated));
      steps[v] = mine;
      const Mask found = no_pivot(made.entry[0]) & (zero_rows[v] == no_row);
      zero_rows[v] = found ? Mask{} + i : zero_rows[v];
      const Vector inverse = Vector(real_t<T>(1)) / made.entry[0];
      for (int k = 0; k < above; ++k) kept[k][v] = made.entry[k + 1] * inverse;
      out[i % tile][v] = made.rhs * inverse;
    }
    for (int k = 0; k < above; ++k) triangle.keep(i, k, kept[k]);
    if (i % tile == tile - 1 || i == n - 1) rhs.store(out, i / tile * tile, i % tile + 1, s.x);
  }
  substitute_back<T, above>(triangle, 0, rhs, n, vectors, s.x);
  for (int j = 0; j < systems; ++j)
    s.zero_rows[first + j] = static_cast<std::int32_t>(zero_rows[j / Vector::count][j % Vector::count]);
}

/// A single system from one end on.
template <class Steps, class T>
struct SystemEnd {
  BandedSystem<T> system;
  KeptRows<T> kept;
  std::int32_t count;  // of the unknowns that are eliminated
  Steps steps{};
  std::int32_t zero_row = no_row;

  void eliminate() {
    const SystemEnd mine = *this;  // in registers: stores to x cannot change it
    Steps under_way;
    std::int32_t zero = no_row;
    under_way.start(mine.system);
    for (std::int32_t i = 0; i < mine.count; ++i)
      keep_row(mine.kept, i, under_way.step(mine.system.template row<Steps::diagonals>(i + Steps::ahead)), zero);
    steps = under_way, zero_row = zero;
  }
  /// `next` are the unknowns after those that are eliminated.
  void substitute(const T* next) const {
    const KeptRows<T> rows = kept;
    BackSteps<T, Steps::above> back;
    for (int k = 0; k < Steps::above; ++k) back.known[k] = next[k];
    for (std::int32_t i = count - 1; i >= 0; --i) {
      T entries[Steps::above];
      for (int k = 0; k < Steps::above; ++k) entries[k] = rows.above[k * rows.plane + i * rows.step];
      T& x = rows.x[i * rows.x_step];
      x = back.step(entries, x);
    }
  }
};

/// One system, from one end, or from both to the middle and back: two threads at a time, in the same operations as one.
template <BandedMethod method, class T, int half>
void solve_system(const Host& host, const BandedSolve<T>& s, std::type_identity<EliminationSteps<method, T, half>>) {
  using End = SystemEnd<EliminationSteps<method, T, half>, T>;
  constexpr int size = 2 * half;
  const std::int32_t n = s.rows();
  const BandedSystem<T> system(s, 0);
  const KeptRows<T> kept = kept_in_work(s, system, 0);
  End ends[2] = {{system, kept, s.ends.count(0)}, {system.reversed(), kept.reversed(n), s.ends.count(1)}};
  T middle[size] = {}, reversed[size] = {};
  for_blocks(host, s.ends.number, 1, n, [&](std::int64_t e, std::int64_t) { ends[e].eliminate(); });
  int zero = size;
  if (s.ends.number == 2) {
    zero = solve_middle<method>(ends[0].steps.present, ends[1].steps.present, middle);
    for (int k = 0; k < size; ++k) {
      reversed[k] = middle[size - 1 - k];
      kept.x[(s.ends.middle() + k) * kept.x_step] = middle[k];
    }
  }
  for_blocks(host, s.ends.number, 1, n,
             [&](std::int64_t e, std::int64_t) { ends[e].substitute(e == 0 ? middle : reversed); });
  s.zero_rows[0] = zero_row_of_ends(s.ends, ends[0].zero_row, zero, ends[1].zero_row);
}

}  // namespace

template <class T>
void run_banded(const Host& host, int diagonals, BandedMethod method, const BandedSolve<T>& s) {
  if (host.skip.now()) return;
  if (s.vectors.batch == 1) return with_steps<T>(diagonals, method, [&](auto steps) { solve_system(host, s, steps); });
  with_steps<Lanes<T>>(diagonals, method, [&]<class Steps>(std::type_identity<Steps>) {
    for_blocks(host, s.vectors.batch, systems_of_block<T>(s.vectors), s.vectors.unknowns(),
               [&](std::int64_t first, std::int64_t last) { solve_block<Steps>(s, first, last); });
  });
}

KRILL_INSTANTIATE(BandedKernels, Host);

}  // namespace krill::detail

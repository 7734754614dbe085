#include <algorithm>

#include "sparse/banded/elimination.hpp"
#include "sparse/banded/lanes.hpp"
#include "sparse/banded/partition.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill::detail {
namespace {

struct Tuning {
  /// Vectors of lanes that go on together: lines of memory side by side, and divisions that do not wait for each other.
  /// Not varied.
  static constexpr int vectors = 8;
  /// Where systems of more than a tile lie one after the other: processors fetch few streams in advance. With 8 that
  /// takes twice as long for 1024 rows in float64.
  static constexpr int vectors_of_strided = 2;
  /// Rows that are brought into lanes at a time: where a system's rows lie side by side, a line of them.
  static constexpr int tile_rows = 8;
  static constexpr std::int32_t rows_of_two_ends =
      64;  ///< of single systems; shorter ones go from one end. Not varied.
};

template <class T>
inline constexpr int most_systems = Tuning::vectors* Lanes<T>::count;

/// A row of all systems of a block.
template <class T>
using LaneRow = Lanes<T>[Tuning::vectors];

/// Where the systems of a block lie in an array. Lanes without a system follow the last one, and are never stored.
template <class T>
class LanePlaces {
 public:
  [[gnu::noinline]] LanePlaces(const BandLayout& layout, std::int64_t first, int systems)
      : stride_(layout.row_stride), systems_(systems), side_by_side_(systems == most_systems<T>) {
    for (int s = 0; s < most_systems<T>; ++s) {
      at_[s] = layout.at(0, first + std::min(s, systems - 1));
      side_by_side_ = side_by_side_ && at_[s] == at_[0] + s;
    }
  }

  /// Rows i to i + count - 1.
  void load(const T* from, std::int64_t i, int count, LaneRow<T>* rows) const {
    if (side_by_side_) {
      for (int r = 0; r < count; ++r)
        for (int v = 0; v < Tuning::vectors; ++v)
          rows[r][v] = Lanes<T>::load(from + at_[0] + (i + r) * stride_ + v * Lanes<T>::count);
      return;
    }
    for (int v = 0; v * Lanes<T>::count < systems_; ++v) {
      const std::int64_t* const at = at_ + v * Lanes<T>::count;
      for (int r = 0; r < count; ++r)
        rows[r][v] = Lanes<T>::gathered([&](int lane) { return from[at[lane] + (i + r) * stride_]; });
    }
  }
  void store(const LaneRow<T>* rows, std::int64_t i, int count, T* to) const {
    if (side_by_side_) {
      for (int r = 0; r < count; ++r)
        for (int v = 0; v < Tuning::vectors; ++v)
          rows[r][v].store(to + at_[0] + (i + r) * stride_ + v * Lanes<T>::count);
      return;
    }
    for (int v = 0; v * Lanes<T>::count < systems_; ++v) {
      const std::int64_t* const at = at_ + v * Lanes<T>::count;
      const int lanes = std::min(Lanes<T>::count, systems_ - v * Lanes<T>::count);
      for (int lane = 0; lane < lanes; ++lane)
        for (int r = 0; r < count; ++r) to[at[lane] + (i + r) * stride_] = rows[r][v].get(lane);
    }
  }

 private:
  std::int64_t at_[most_systems<T>], stride_;
  int systems_;
  bool side_by_side_;
};

/// The triangles of a block, row after row in the workspace.
template <class T>
struct BlockTriangle {
  T* above;
  int systems, above_count;

  void keep(std::int64_t i, int k, const Lanes<T>* row) const { move<true>(i, k, row); }
  void bring(std::int64_t i, int k, Lanes<T>* row) const { move<false>(i, k, row); }

 private:
  template <bool out, class Row>
  void move(std::int64_t i, int k, Row* row) const {
    T* const memory = above + (i * above_count + k) * systems;
    for (int v = 0; v * Lanes<T>::count < systems; ++v) {
      T* const part = memory + v * Lanes<T>::count;
      const int left = systems - v * Lanes<T>::count;
      if constexpr (out) {
        if (left >= Lanes<T>::count) {
          std::memcpy(static_cast<void*>(part), &row[v], sizeof row[v]);
        } else {
          for (int lane = 0; lane < left; ++lane) part[lane] = row[v].get(lane);
        }
      } else {
        if (left >= Lanes<T>::count) {
          std::memcpy(static_cast<void*>(&row[v]), part, sizeof row[v]);
        } else {
          for (int lane = 0; lane < left; ++lane) row[v].set(lane, part[lane]);
        }
      }
    }
  }
};

/// Systems first to last - 1, row after row of all of them, a tile of rows at a time.
template <class Steps, class T>
#if defined(__x86_64__) && !defined(__clang__)  // which has no clones of what is flattened
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
[[gnu::flatten]] void
solve_block(const BandedSolve<T>& s, std::int64_t first, std::int64_t last) {
  using Vector = Lanes<T>;
  constexpr int diagonals = Steps::diagonals, half = diagonals / 2, ahead = Steps::ahead, above = Steps::above;
  constexpr int tile = Tuning::tile_rows;
  const auto systems = static_cast<int>(last - first);
  const int vectors = (systems + Vector::count - 1) / Vector::count;
  const std::int32_t n = s.rows();
  const T* const bands[5] = {s.a.ds, s.a.dl, s.a.d, s.a.du, s.a.dw};
  const LanePlaces<T> matrix(s.a.layout, first, systems), rhs(s.vectors, first, systems);
  const BlockTriangle<T> triangle{s.above + first * n * above, systems, above};

  LaneRow<T> in[diagonals + 1][tile], out[tile];
  Steps steps[Tuning::vectors];
  using Mask = typename Vector::Mask;
  Mask zero_rows[Tuning::vectors];
  for (Mask& row : zero_rows) row = Mask{} + no_row;
  LaneRow<T> kept[above];

  const auto load_tile = [&](std::int32_t begin) {
    const std::int32_t end = std::min(begin + tile, n);
    for (int k = -half; k <= half; ++k) {
      // Places outside of the matrix are zeros, whatever lies there.
      const std::int32_t from = std::clamp(-k, begin, end), to = std::clamp(n - k, from, end);
      for (std::int32_t r = begin; r < end; ++r)
        if (r < from || r >= to)
          for (Vector& entry : in[k + half][r - begin]) entry = Vector();
      matrix.load(bands[k + 2], from, to - from, in[k + half] + (from - begin));
    }
    rhs.load(s.b, begin, end - begin, in[diagonals]);
  };
  for (std::int32_t r = 0; r < n + ahead; ++r) {  // row r of the matrix, for row i of the triangle
    const std::int32_t i = r - ahead;
    if (r % tile == 0 && r < n) load_tile(r);
    if (r == 0 && ahead > 0)
      for (int v = 0; v < vectors; ++v) {
        // The first tile is a system, too.
        BandedSystem<Vector> top;
        for (int k = -half; k <= half; ++k) top.band[k + 2] = &in[k + half][0][v];
        top.b = &in[diagonals][0][v];
        top.stride = top.rhs_stride = Tuning::vectors, top.rows = n, top.conjugated = s.conjugated;
        steps[v].start(top);
      }
    if (i < 0) continue;
    for (int v = 0; v < vectors; ++v) {
      BandRow<Vector, diagonals> row;
      if (r < n) {
        for (int k = 0; k < diagonals; ++k) row.entry[k] = conj_if(s.conjugated, in[k][r % tile][v]);
        row.rhs = in[diagonals][r % tile][v];
      }
      Steps mine = steps[v];
      const auto made = mine.step(row);
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

  BackSteps<Vector, above> back[Tuning::vectors];
  for (std::int32_t begin = (n - 1) / tile * tile; begin >= 0; begin -= tile) {
    const std::int32_t end = std::min(begin + tile, n);
    rhs.load(s.x, begin, end - begin, out);
    for (std::int32_t i = end - 1; i >= begin; --i) {
      for (int k = 0; k < above; ++k) triangle.bring(i, k, kept[k]);
      for (int v = 0; v < vectors; ++v) {
        Vector entries[above];
        for (int k = 0; k < above; ++k) entries[k] = kept[k][v];
        out[i - begin][v] = back[v].step(entries, out[i - begin][v]);
      }
    }
    rhs.store(out, begin, end - begin, s.x);
  }
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

  /// The system with its rows and columns in reverse order.
  void reverse() {
    const std::int32_t last = system.rows - 1;
    std::swap(system.band[0], system.band[4]), std::swap(system.band[1], system.band[3]);
    for (const T*& band : system.band)
      if (band) band += last * system.stride;
    system.b += last * system.rhs_stride, system.x += last * system.rhs_stride;
    system.stride = -system.stride, system.rhs_stride = -system.rhs_stride;
    kept.above += last * kept.step, kept.x += last * kept.x_step;
    kept.step = -kept.step, kept.x_step = -kept.x_step;
  }
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

/// One system, from both ends to the middle and back: two threads at a time, in the same operations as one.
template <BandedMethod method, class T, int half>
void solve_system(const Host& host, const BandedSolve<T>& s, std::type_identity<EliminationSteps<method, T, half>>) {
  using End = SystemEnd<EliminationSteps<method, T, half>, T>;
  constexpr int size = 2 * half;
  const std::int32_t n = s.rows(), begin = n / 2 - half;  // of the unknowns in the middle
  const BandedSystem<T> system(s, 0);
  const KeptRows<T> kept = kept_in_work(s, system, 0);
  T middle[size] = {}, reversed[size] = {};
  if (n < Tuning::rows_of_two_ends) {
    End all{system, kept, n};
    all.eliminate();
    all.substitute(middle);
    s.zero_rows[0] = all.zero_row;
    return;
  }
  End ends[2] = {{system, kept, begin}, {system, kept, n - begin - size}};
  ends[1].reverse();
  for_blocks(host, 2, 1, n, [&](std::int64_t e, std::int64_t) { ends[e].eliminate(); });

  // Each end leaves `half` equations of the same unknowns.
  Equation<T, 2 * size> row[size];
  for (int r = 0; r < half; ++r) {
    const auto &first = ends[0].steps.present[r], &last = ends[1].steps.present[r];
    for (int k = 0; k < size; ++k) {
      row[r].entry[half + k] = first.entry[k];
      row[size - 1 - r].entry[half + size - 1 - k] = last.entry[k];
    }
    row[r].rhs = first.rhs, row[size - 1 - r].rhs = last.rhs;
  }
  const int zero = solve_group<method>(row, middle);
  for (int k = 0; k < size; ++k) {
    reversed[k] = middle[size - 1 - k];
    kept.x[(begin + k) * kept.x_step] = middle[k];
  }
  for_blocks(host, 2, 1, n, [&](std::int64_t e, std::int64_t) { ends[e].substitute(e == 0 ? middle : reversed); });

  std::int32_t& zero_row = s.zero_rows[0];
  zero_row = ends[0].zero_row;
  if (zero_row == no_row && zero < size) zero_row = begin + zero;
  if (zero_row == no_row && ends[1].zero_row != no_row) zero_row = n - 1 - ends[1].zero_row;
}

}  // namespace

template <class T>
void run_banded(const Host& host, int diagonals, BandedMethod method, const BandedSolve<T>& s) {
  if (host.skip.now()) return;
  if (s.vectors.batch == 1) return with_steps<T>(diagonals, method, [&](auto steps) { solve_system(host, s, steps); });
  const bool few_streams = s.vectors.is_interleaved() || s.rows() <= Tuning::tile_rows;
  const int systems = few_streams ? most_systems<T> : Tuning::vectors_of_strided * Lanes<T>::count;
  with_steps<Lanes<T>>(diagonals, method, [&]<class Steps>(std::type_identity<Steps>) {
    for_blocks(host, s.vectors.batch, systems, s.vectors.unknowns(),
               [&](std::int64_t first, std::int64_t last) { solve_block<Steps>(s, first, last); });
  });
}

KRILL_INSTANTIATE(BandedKernels, Host);

}  // namespace krill::detail

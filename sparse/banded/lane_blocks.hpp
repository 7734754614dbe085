// Blocks of systems on the host: one in each lane of several vector registers, row after row of all of them.
#pragma once
#include <algorithm>
#include <cstring>

#include "sparse/banded/lanes.hpp"

namespace krill::detail {

/// Of the host, which has a system in each lane.
struct LaneTuning {
  /// Vectors of lanes that go on together: lines of memory side by side, and divisions that do not wait for each other.
  /// Not varied.
  static constexpr int vectors = 8;
  /// Where systems of more than a tile lie one after the other: processors fetch few streams in advance. With 8 that
  /// takes twice as long for 1024 rows in float64.
  static constexpr int vectors_of_strided = 2;
  /// Rows that are brought into lanes at a time: where a system's rows lie side by side, a line of them.
  static constexpr int tile_rows = 8;
};

template <class T>
inline constexpr int max_systems = LaneTuning::vectors* Lanes<T>::count;

/// Systems that go on together.
template <class T>
int systems_of_block(const BandLayout& vectors) {
  const bool few_streams = vectors.is_interleaved() || vectors.rows <= LaneTuning::tile_rows;
  return few_streams ? max_systems<T> : LaneTuning::vectors_of_strided * Lanes<T>::count;
}

/// A row of all systems of a block.
template <class T>
using LaneRow = Lanes<T>[LaneTuning::vectors];

/// Where the systems of a block lie in an array. Lanes without a system follow the last one, and are never stored.
template <class T>
class LanePlaces {
 public:
  [[gnu::noinline]] LanePlaces(const BandLayout& layout, std::int64_t first, int systems)
      : stride_(layout.row_stride), systems_(systems), side_by_side_(systems == max_systems<T>) {
    for (int s = 0; s < max_systems<T>; ++s) {
      at_[s] = layout.at(0, first + std::min(s, systems - 1));
      side_by_side_ = side_by_side_ && at_[s] == at_[0] + s;
    }
  }

  /// Rows i to i + count - 1.
  void load(const T* from, std::int64_t i, int count, LaneRow<T>* rows) const {
    if (side_by_side_) {
      for (int r = 0; r < count; ++r)
        for (int v = 0; v < LaneTuning::vectors; ++v)
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
        for (int v = 0; v < LaneTuning::vectors; ++v)
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
  std::int64_t at_[max_systems<T>], stride_;
  int systems_;
  bool side_by_side_;
};

/// Words of the rows of a block's systems, row after row in memory: of their triangles, or of their factors. A block of
/// one system may stand for all.
template <class T>
struct BlockWords {
  T* words;
  int systems, count;
  bool one_for_all = false;

  void keep(std::int64_t i, int w, const Lanes<T>* row) const {
    for (int v = 0; v * Lanes<T>::count < systems; ++v) {
      T* const part = at(i, w) + v * Lanes<T>::count;
      const int left = systems - v * Lanes<T>::count;
      if (left >= Lanes<T>::count) {
        std::memcpy(static_cast<void*>(part), &row[v], sizeof row[v]);
      } else {
        for (int lane = 0; lane < left; ++lane) part[lane] = row[v].get(lane);
      }
    }
  }
  /// Into so many vectors.
  void bring(std::int64_t i, int w, int vectors, Lanes<T>* row) const {
    if (one_for_all) {
      const T one = *at(i, w);
      row[0] = Lanes<T>::gathered([one](int) { return one; });
      for (int v = 1; v < vectors; ++v) row[v] = row[0];
      return;
    }
    for (int v = 0; v < vectors; ++v) {
      const T* const part = at(i, w) + v * Lanes<T>::count;
      const int left = systems - v * Lanes<T>::count;
      if (left >= Lanes<T>::count) {
        std::memcpy(static_cast<void*>(&row[v]), part, sizeof row[v]);
      } else {
        for (int lane = 0; lane < left; ++lane) row[v].set(lane, part[lane]);
      }
    }
  }

 private:
  T* at(std::int64_t i, int w) const { return words + (i * count + w) * systems; }
};

/// Some rows of the bands of a block's systems, and of their right-hand sides.
template <class T, int diagonals>
struct BandTile {
  static constexpr int half = diagonals / 2, rows = LaneTuning::tile_rows;
  LaneRow<T> in[diagonals + 1][rows];

  /// Rows begin to begin + rows - 1 of n, as far as they go. Places outside of the matrix are zeros, whatever lies
  /// there.
  void load(const BandedView<const T>& a, const LanePlaces<T>& matrix, std::int32_t begin, std::int32_t n) {
    const T* const bands[5] = {a.ds, a.dl, a.d, a.du, a.dw};
    const std::int32_t end = std::min(begin + rows, n);
    for (int k = -half; k <= half; ++k) {
      const std::int32_t from = std::clamp(-k, begin, end), to = std::clamp(n - k, from, end);
      for (std::int32_t r = begin; r < end; ++r)
        if (r < from || r >= to)
          for (Lanes<T>& entry : in[k + half][r - begin]) entry = Lanes<T>();
      matrix.load(bands[k + 2], from, to - from, in[k + half] + (from - begin));
    }
  }
  void load_rhs(const T* b, const LanePlaces<T>& rhs, std::int32_t begin, std::int32_t n) {
    rhs.load(b, begin, std::min(begin + rows, n) - begin, in[diagonals]);
  }
  /// The first rows of the systems of vector v, as a system: the first tile.
  BandedSystem<Lanes<T>> top(int v, std::int32_t n, bool conjugated) const {
    BandedSystem<Lanes<T>> system{};
    for (int k = -half; k <= half; ++k) system.band[k + 2] = &in[k + half][0][v];
    system.b = &in[diagonals][0][v];
    system.stride = system.rhs_stride = LaneTuning::vectors, system.rows = n, system.conjugated = conjugated;
    return system;
  }
  /// Row r of n, after those of the first tile, of vector v: zeros behind the last.
  BandRow<Lanes<T>, diagonals> row(std::int32_t r, int v, std::int32_t n, bool conjugated) const {
    BandRow<Lanes<T>, diagonals> row;
    if (r >= n) return row;
    for (int k = 0; k < diagonals; ++k) row.entry[k] = conj_if(conjugated, in[k][r % rows][v]);
    row.rhs = in[diagonals][r % rows][v];
    return row;
  }
};

/// From the last row to the first: x from what stands in it, and words (first_word to first_word + above - 1) of rows.
template <class T, int above>
void substitute_back(const BlockWords<T>& rows, int first_word, const LanePlaces<T>& rhs, std::int32_t n, int vectors,
                     T* x) {
  constexpr int tile = LaneTuning::tile_rows;
  LaneRow<T> kept[above], out[tile];
  BackSteps<Lanes<T>, above> back[LaneTuning::vectors];
  for (std::int32_t begin = (n - 1) / tile * tile; begin >= 0; begin -= tile) {
    const std::int32_t end = std::min(begin + tile, n);
    rhs.load(x, begin, end - begin, out);
    for (std::int32_t i = end - 1; i >= begin; --i) {
      for (int k = 0; k < above; ++k) rows.bring(i, first_word + k, vectors, kept[k]);
      for (int v = 0; v < vectors; ++v) {
        Lanes<T> entries[above];
        for (int k = 0; k < above; ++k) entries[k] = kept[k][v];
        out[i - begin][v] = back[v].step(entries, out[i - begin][v]);
      }
    }
    rhs.store(out, begin, end - begin, x);
  }
}

}  // namespace krill::detail

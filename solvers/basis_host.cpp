#include <cstring>

#include "solvers/basis.hpp"
#include "sparse/core/pass_host.hpp"

namespace krill {

using namespace detail;
namespace {

constexpr int comps_of(bool complex) { return complex ? 2 : 1; }
constexpr int group = 4;  // vectors at a time: their sums, or what is subtracted, stay in registers. Not varied.
constexpr int lanes = 4;  // of a vector register of AVX2

typedef double Lanes __attribute__((vector_size(lanes * sizeof(double))));

template <class R>
inline void load(Lanes& to, const R* from) {
  if constexpr (std::is_same_v<R, double>) {
    std::memcpy(&to, from, sizeof to);
  } else {
    double parts[lanes];
    for (int i = 0; i < lanes; ++i) parts[i] = static_cast<double>(static_cast<float>(from[i]));
    std::memcpy(&to, parts, sizeof to);
  }
}

/// Adds to sums[2 k] and sums[2 k + 1] the real dots of v[k] with x and y, for k below `group`.
template <class R>
// Clones are chosen before the thread sanitizer has started.
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
[[gnu::flatten]] void
add_dots(const R* const* v, const double* x, const double* y, std::int64_t n, double* sums) {
  Lanes sum[group][2] = {};
  std::int64_t i = 0;
  for (; i + lanes <= n; i += lanes) {
    Lanes of_x, of_y, of_v;
    load(of_x, x + i), load(of_y, y + i);
    for (int k = 0; k < group; ++k) {
      load(of_v, v[k] + i);
      sum[k][0] += of_v * of_x, sum[k][1] += of_v * of_y;
    }
  }
  for (int k = 0; k < group; ++k)
    for (int p = 0; p < 2; ++p) {
      double total = (sum[k][p][0] + sum[k][p][1]) + (sum[k][p][2] + sum[k][p][3]);
      for (std::int64_t j = i; j < n; ++j)
        total +=
            static_cast<double>(static_cast<std::conditional_t<std::is_same_v<R, double>, double, float>>(v[k][j])) *
            (p == 0 ? x : y)[j];
      sums[2 * k + p] += total;
    }
}

/// Over reals: to -= factor[0] v[0] + ... + factor[group - 1] v[group - 1].
template <class T, class S>
#if defined(__x86_64__) && !defined(__clang__) && !defined(__SANITIZE_THREAD__)
[[gnu::target_clones("arch=x86-64-v3", "default")]]
#endif
[[gnu::flatten]] void
subtract(const S* const* v, const T* factor, T* __restrict to, std::int64_t n) {
  const T f[group] = {factor[0], factor[1], factor[2], factor[3]};
  const S *a = v[0], *b = v[1], *c = v[2], *d = v[3];
  for (std::int64_t i = 0; i < n; ++i)
    to[i] -= (f[0] * from_stored<T>(a[i]) + f[1] * from_stored<T>(b[i])) +
             (f[2] * from_stored<T>(c[i]) + f[3] * from_stored<T>(d[i]));
}

/// A vector of a tile as reals in double: of complex numbers, a dot with x has the real part of v^H x and one with
/// `turned`, -i x, the imaginary one.
template <class T>
struct WideTile {
  static constexpr std::int64_t reals = BasisTuning::tile * comps_of(is_complex<T>);
  double x[reals], turned[reals];

  void load(const T* from, std::int64_t n) {
    for (std::int64_t i = 0; i < n; ++i)
      if constexpr (is_complex<T>) {
        x[2 * i] = from[i].re, x[2 * i + 1] = from[i].im;
        turned[2 * i] = from[i].im, turned[2 * i + 1] = -from[i].re;
      } else {
        x[i] = from[i];
      }
  }
};

/// n sums and the pair's become those of all ranks, added in their order, by one gathering.
template <class T>
void add_over_team(const Host& host, double* sums, std::int64_t n, PairDots<T>& pair) {
  static_assert(sizeof pair % sizeof(double) == 0 && std::is_trivially_copyable_v<PairDots<T>>);
  const auto ranks = static_cast<std::size_t>(host.team->size()), count = static_cast<std::size_t>(n),
             width = count + sizeof pair / sizeof(double);
  Frame frame(host);
  double *mine = frame.take<double>(width), *all = frame.take<double>(ranks * width);
  std::copy_n(sums, count, mine);
  std::memcpy(mine + count, &pair, sizeof pair);
  host.team->gather(mine, all, width * sizeof(double));
  std::fill_n(mine, width, 0.0);
  for (std::size_t r = 0; r < ranks; ++r)
    for (std::size_t k = 0; k < width; ++k) mine[k] += all[r * width + k];
  std::copy_n(mine, count, sums);
  std::memcpy(static_cast<void*>(&pair), mine + count, sizeof pair);
}

template <class T>
wide_t<T> wide_of(const double* sums) {
  if constexpr (is_complex<T>)
    return {sums[0], sums[1]};
  else
    return sums[0];
}

/// Of rows [begin, end), added to sums: V^H u, then V^H w.
template <class T, class S>
void add_part(const BasisDots<T, S>& d, int count, std::int64_t begin, std::int64_t end, double* sums,
              PairDots<T>& pair) {
  using R = real_t<S>;
  constexpr int comps = comps_of(is_complex<T>);
  WideTile<T> u, w;
  for (std::int64_t first = begin; first < end; first += BasisTuning::tile) {
    const std::int64_t rows = std::min(end - first, BasisTuning::tile), n = rows * comps;
    if (d.u)
      u.load(d.u + first, rows);
    else
      std::fill_n(u.x, n, 0.0), std::fill_n(u.turned, n, 0.0);
    w.load(d.w + first, rows);
    pair += lane_sum<PairDots<T>>(0, rows, [&](std::int64_t i) {
      const T u_i = d.u ? d.u[first + i] : T(0), w_i = d.w[first + i];
      return PairDots<T>{squared(u_i), squared(w_i), conj(wide(u_i)) * wide(w_i)};
    });
    for (int k = 0; k < count; k += group) {
      const R* v[group];
      for (int j = 0; j < group; ++j)
        v[j] = reinterpret_cast<const R*>(d.basis.vector(std::min(k + j, count - 1)) + first);
      double found[2 * group] = {}, imaginary[2 * group] = {};
      double *with_u = sums + k * comps, *with_w = sums + (count + k) * comps;
      const auto add = [&](double* to, const double* from) {
        for (int j = 0; j < group && k + j < count; ++j)
          for (int c = 0; c < comps; ++c) to[j * comps + c] += from[2 * j + c];
      };
      if constexpr (is_complex<T>) {
        add_dots(v, u.x, u.turned, n, found), add_dots(v, w.x, w.turned, n, imaginary);
        add(with_u, found), add(with_w, imaginary);
      } else {
        add_dots(v, u.x, w.x, n, found);
        add(with_u, found), add(with_w, found + 1);
      }
    }
  }
}

/// A tile of one vector whose parts along the basis are subtracted; complex numbers as their two parts.
template <class T>
struct TileToUpdate {
  T value[BasisTuning::tile];

  void load(const T* from, std::int64_t n) { from ? std::copy_n(from, n, value) : std::fill_n(value, n, T(0)); }
  template <class S>
  void subtract_group(const S* const* v, const T* factor, std::int64_t n) {
    subtract<T, S>(v, factor, value, n);
  }
};

template <class T>
T narrowed(wide_t<T> a, float factor) {
  return T(scaled(a, double(factor)));
}

/// Rows [begin, end); returns ||out||^2.
template <class T, class S>
double update_tile(const BasisUpdate<T, S>& d, int count, std::int64_t begin, std::int64_t end) {
  constexpr float unscale = 1 / stored_scale<S>;
  const std::int64_t n = end - begin;
  const StepScalars<T> factors = d.factors ? *d.factors : StepScalars<T>{};
  TileToUpdate<T> u, w;
  w.load(d.w ? d.w + begin : nullptr, n);
  if (d.u) u.load(d.u + begin, n);
  for (int k = 0; k < count; k += group) {
    const S* v[group];
    T a[group] = {}, c[group] = {};
    for (int j = 0; j < group; ++j) {
      v[j] = d.basis.vector(std::min(k + j, count - 1)) + begin;
      if (k + j >= count) continue;
      c[j] = narrowed<T>(d.c[k + j], unscale);
      if (d.a) a[j] = narrowed<T>(d.a[k + j], unscale);
    }
    w.subtract_group(v, c, n);
    if (d.u && d.a) u.subtract_group(v, a, n);
  }
  if (d.u) {
    S* q = d.basis.vector(count) + begin;
    const auto factor = static_cast<real_t<T>>(factors.q_factor);
    const T along = T(factors.along_q);
    for (std::int64_t i = 0; i < n; ++i)
      q[i] = to_stored<S>(scaled(scaled(u.value[i], factor), real_t<T>(stored_scale<S>)));
    // Apart: where both stand in one loop, GCC 12 leaves the rounding to S out in vectors of complex numbers.
    for (std::int64_t i = 0; i < n; ++i) w.value[i] -= along * scaled(from_stored<T>(q[i]), real_t<T>(unscale));
    if (end == d.basis.rows) std::fill(q + n, d.basis.vector(count + 1), S{});
  }
  const auto scale = static_cast<real_t<T>>(factors.scale);
  for (std::int64_t i = 0; i < n; ++i) d.out[begin + i] = w.value[i] = scaled(w.value[i], scale);
  return lane_sum<double>(0, n, [&](std::int64_t i) { return squared(w.value[i]); });
}

}  // namespace

template <class T, class S>
void run_dots(const Host& host, const BasisDots<T, S>& d) {
  if (host.skip.now()) return;
  constexpr int comps = comps_of(is_complex<T>);
  const int count = *d.columns + d.extra;
  const std::int64_t n = d.basis.rows, part = std::max<std::int64_t>(1, basis_part(n)), parts = (n + part - 1) / part,
                     width = basis_sums<T>(count);
  Frame frame(host);
  double* sums = frame.take<double>(static_cast<std::size_t>(std::max<std::int64_t>(1, parts) * width));
  auto* pairs = frame.take<PairDots<T>>(static_cast<std::size_t>(parts));
  for_blocks(host, n, part, n * (count + 1), [&](std::int64_t begin, std::int64_t end) {
    double* mine = sums + begin / part * width;
    PairDots<T> pair;
    std::fill_n(mine, width, 0.0);
    add_part(d, count, begin, end, mine, pair);
    pairs[begin / part] = pair;
  });
  PairDots<T> pair;
  for (std::int64_t p = 0; p < parts; ++p) pair += pairs[p];
  for (std::int64_t p = 1; p < parts; ++p)
    for (std::int64_t k = 0; k < width; ++k) sums[k] += sums[p * width + k];
  if (host.team) {
    if (parts == 0) std::fill_n(sums, width, 0.0);
    add_over_team(host, sums, width, pair);
  }
  for (int k = 0; k < count; ++k) {
    constexpr double unscale = 1 / stored_scale<S>;
    const auto sum_of = [&](int vector) {
      return parts > 0 || host.team ? scaled(wide_of<T>(sums + vector * comps), unscale) : wide_t<T>(0);
    };
    if (d.with_u) d.with_u[k] = sum_of(k);
    d.with_w[k] = sum_of(count + k);
  }
  if (d.then.state) d.then.after_dots(SoleThread{}, pair);
}

template <class T, class S>
void run_update(const Host& host, const BasisUpdate<T, S>& d) {
  if (host.skip.now()) return;
  const int count = *d.columns + d.extra;
  const std::int64_t n = d.basis.rows, tiles = (n + BasisTuning::tile - 1) / BasisTuning::tile;
  Frame frame(host);
  double* sums = frame.take<double>(static_cast<std::size_t>(tiles));
  for_blocks(host, n, BasisTuning::tile, n * (count + 1), [&](std::int64_t begin, std::int64_t end) {
    sums[begin / BasisTuning::tile] = update_tile(d, count, begin, end);
  });
  double norm2 = 0;
  for (std::int64_t t = 0; t < tiles; ++t) norm2 += sums[t];
  if (d.then.state) d.then.after_update(SoleThread{}, sum_over_team(host, norm2));
}

template <class T>
void run_solve(const Host& host, const Arnoldi<T>& arnoldi) {
  if (!host.skip.now()) arnoldi.solve(SoleThread{});
}

KRILL_INSTANTIATE(detail::BasisKernels, Host);

}  // namespace krill

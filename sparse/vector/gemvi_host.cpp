#include "sparse/core/pass_host.hpp"
#include "sparse/vector/gemvi_parts.hpp"

namespace krill {

using namespace detail;
namespace {

// Reasoned, not varied.
constexpr std::int64_t tile = 512;         // rows whose sums stay in the first cache
constexpr std::int64_t min_part = 1'024;   // entries of x
constexpr std::int64_t enough_items = 64;  // tiles and parts together that keep any number of threads busy

/// Rows [first, end) over one part of x.
template <class T>
void add_part(const GemviParts<T>& parts, std::int64_t first, std::int64_t end, int part) {
  const DenseView<const T>& a = parts.p.a;
  const SparseVectorView<const T>& x = parts.p.x;
  if (a.order == Order::row_major) {
    for (std::int64_t i = first; i < end; ++i)
      parts.store(i, part, lane_sum<T>(parts.begin(part), parts.end(part), [&](std::int64_t k) {
                    return parts.term(a.at(i, x.index(k)), k);
                  }));
    return;
  }
  T sums[tile] = {};
  for (std::int64_t k = parts.begin(part); k < parts.end(part); ++k) {
    const T* column = &a.at(first, x.index(k));
    for (std::int64_t i = 0; i < end - first; ++i) sums[i] += parts.term(column[i], k);
  }
  for (std::int64_t i = first; i < end; ++i) parts.store(i, part, sums[i - first]);
}

}  // namespace

template <class T>
void run_gemvi(const Host& host, Op op, const GemviCall<T>& call) {
  if (host.skip.now()) return;
  GemviParts<T> parts(op, call);
  parts.p.alpha = {call.alpha()}, parts.p.beta = {call.beta()};
  const std::int64_t rows = parts.p.a.rows, nnz = parts.p.x.nnz, tiles = ceil_div(rows, tile);
  Frame frame(host);
  parts.split(frame, std::clamp<std::int64_t>(tiles > 0 ? enough_items / tiles : 1, 1, 1 + nnz / min_part));
  for_blocks(host, tiles * parts.count, 1, rows * (nnz + 1), [&](std::int64_t item, std::int64_t) {
    const GemviParts<T> mine = parts;
    const std::int64_t first = item / mine.count * tile;
    add_part(mine, first, std::min(rows, first + tile), static_cast<int>(item % mine.count));
  });
  if (parts.count == 1) return;
  for_each_index(host, rows, [&](std::int64_t i) {
    T sum{};
    for (int part = 0; part < parts.count; ++part) sum += parts.sums[i * parts.count + part];
    parts.put(i, sum);
  });
}

KRILL_INSTANTIATE(detail::GemviKernels, Host);

}  // namespace krill

#include <vector>

#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/row_products.hpp"
#include "sparse/spmm/stored_rows.hpp"

namespace krill::detail {
namespace {

/// Stored rows of a view with their entries side by side, `offsets[s - first]` to `offsets[s - first + 1]`.
template <class View>
struct GatheredRows {
  using Value = typename View::Value;
  View a;
  std::int64_t first;
  const std::size_t* offsets;
  const std::int32_t* columns;
  const Value* values;

  std::int32_t row_of(std::int32_t s) const { return a.row_of(s); }
  template <class F>
  void for_entries(std::int32_t s, F&& f) const {
    for (std::size_t k = offsets[s - first]; k < offsets[s - first + 1]; ++k) f(columns[k], values[k]);
  }
};

/// The stored rows [begin, end), gathered first: what is looked at for each group of columns is looked at without
/// conditions then, which keeps the sums in vector registers.
template <class View>
void multiply_gathered(const RowProducts<View>& p, std::int64_t begin, std::int64_t end) {
  std::vector<std::size_t> offsets{0};
  std::vector<std::int32_t> columns;
  std::vector<typename View::Value> values;
  for (std::int64_t s = begin; s < end; ++s) {
    p.a.for_entries(static_cast<std::int32_t>(s),
                    [&](std::int32_t col, const auto& value) { columns.push_back(col), values.push_back(value); });
    offsets.push_back(columns.size());
  }
  const RowProducts<GatheredRows<View>> gathered{p, {p.a, begin, offsets.data(), columns.data(), values.data()}};
  multiply_rows(gathered, begin, end);
}

template <class View>
void multiply_stored_rows(const Host& host, const RowProducts<View>& p, std::int64_t entries) {
  if (host.skip.now()) return;
  constexpr std::int32_t gathered_from = 4 * max_columns;  // groups of columns that pay for it; not varied
  const RowProducts<View> fixed = with_fixed_scalars(p);
  const std::int64_t rows = p.a.stored_rows(), work = (entries + rows) * p.b.cols;
  for_blocks(host, rows, tile_of(rows, work), work, [&](std::int64_t begin, std::int64_t end) {
    const RowProducts<View> mine = fixed;
    p.b.cols >= gathered_from ? multiply_gathered(mine, begin, end) : multiply_rows(mine, begin, end);
  });
}

}  // namespace

template <class T>
void run_products(const Host& host, const RowProducts<SellView<const T>>& p, std::int64_t entries) {
  multiply_stored_rows(host, p, entries);
}
template <class T>
void run_products(const Host& host, const RowProducts<DiaView<const T>>& p, std::int64_t entries) {
  multiply_stored_rows(host, p, entries);
}
template <class T>
void run_products(const Host& host, const RowProducts<CodedRows<const T>>& p, std::int64_t entries) {
  multiply_stored_rows(host, p, entries);
}

KRILL_INSTANTIATE(StoredRowKernels, Host);

}  // namespace krill::detail

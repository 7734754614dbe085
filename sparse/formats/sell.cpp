#include "sparse/formats/sell.hpp"

#include <fmt/format.h>

#include "sparse/core/instantiate.hpp"
#include "sparse/formats/first_fault.hpp"

namespace krill {

using namespace detail;
namespace {

/// What is wrong with the places of stored row s, empty where nothing is.
template <class T>
std::string fault_of_row(const char* what, const SellView<const T>& a, std::int64_t s) {
  const auto row = static_cast<std::int32_t>(s);
  std::int64_t at = a.begin(row);
  std::int32_t last = -1;
  bool ended = false;
  for (std::int64_t k = 0; k < a.width_of(row); ++k, at += a.slice_rows) {
    const std::int32_t col = a.col_indices[at];
    if (col == SellView<T>::padding_column) {
      ended = true;
      if (!(a.values[at] == T(0)))
        return fmt::format("{}: values[{}] in stored row {} is padding (column -1) and not 0", what, at, s);
      continue;
    }
    if (col < 0 || col >= a.cols)
      return fmt::format("{}: col_indices[{}] = {} in stored row {} lies outside 0 to {} and is not -1 (padding)", what,
                         at, col, s, a.cols - 1);
    if (ended) return fmt::format("{}: col_indices[{}] = {} in stored row {} follows padding", what, at, col, s);
    if (col <= last)
      return fmt::format("{}: col_indices[{}] = {} in stored row {} follows {}; columns ascend strictly in each row",
                         what, at, col, s, last);
    last = col;
  }
  return {};
}

/// Entries of stored row s.
template <class T>
std::int64_t length_of(const SellView<const T>& a, std::int64_t s) {
  std::int64_t length = 0;
  a.for_entries(static_cast<std::int32_t>(s), [&](std::int32_t, const T&) { ++length; });
  return length;
}

template <class T>
void validate_rows(const char* what, const SellView<const T>& a, std::int64_t nnz) {
  const Context ctx = Context::host();
  const Host& host = ctx.host_tag();
  const std::int64_t row = first_fault(host, a.rows, [&](std::int64_t s) { return !fault_of_row(what, a, s).empty(); });
  if (row < a.rows) throw InvalidArgument(fault_of_row(what, a, row));
  const auto found = sum_over_blocks<std::int64_t>(host, a.rows, a.rows, [&](std::int64_t begin, std::int64_t end) {
    std::int64_t sum = 0;
    for (std::int64_t s = begin; s < end; ++s) sum += length_of(a, s);
    return sum;
  });
  if (found != nnz) throw InvalidArgument(fmt::format("{}: nnz is {}, but {} entries are stored", what, nnz, found));
}

void validate_offsets(std::span<const std::int64_t> offsets, std::int32_t slice_rows, std::int64_t places) {
  if (offsets.front() != 0)
    throw InvalidArgument(fmt::format("sell: slice_offsets[0] is {}, 0 was expected", offsets.front()));
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s)
    if (offsets[s + 1] < offsets[s] || (offsets[s + 1] - offsets[s]) % slice_rows != 0)
      throw InvalidArgument(
          fmt::format("sell: slice_offsets[{}] is {} after {}; offsets ascend by multiples of slice_rows = {}", s + 1,
                      offsets[s + 1], offsets[s], slice_rows));
  if (offsets.back() != places)
    throw InvalidArgument(fmt::format("sell: slice_offsets[{}] is {}, {} was expected (the size of values)",
                                      offsets.size() - 1, offsets.back(), places));
}

void validate_permutation(std::span<const std::int32_t> permutation) {
  std::vector<bool> seen(permutation.size());
  for (std::size_t s = 0; s < permutation.size(); ++s) {
    const std::int32_t row = permutation[s];
    if (row < 0 || static_cast<std::size_t>(row) >= permutation.size() || seen[static_cast<std::size_t>(row)])
      throw InvalidArgument(fmt::format("sell: row_permutation[{}] = {} {}", s, row,
                                        row >= 0 && static_cast<std::size_t>(row) < permutation.size()
                                            ? "comes twice"
                                            : fmt::format("lies outside 0 to {}", permutation.size() - 1)));
    seen[static_cast<std::size_t>(row)] = true;
  }
}

}  // namespace

template <class T>
Sell<T>::Sell(std::int64_t rows, std::int64_t cols, std::int32_t slice_rows, std::int64_t nnz,
              Array<std::int64_t> slice_offsets, Array<std::int32_t> col_indices, Array<T> values,
              Array<std::int32_t> row_permutation)
    : MatrixShape("sell", rows, cols),
      slice_rows_(slice_rows),
      nnz_(nnz),
      slice_offsets_(std::move(slice_offsets)),
      col_indices_(std::move(col_indices)),
      values_(std::move(values)),
      row_permutation_(std::move(row_permutation)) {
  require_range("sell: slice_rows", slice_rows, 1, std::numeric_limits<std::int32_t>::max());
  require_size("sell: slice_offsets", slice_offsets_.size(), detail::ceil_div(rows, slice_rows) + 1);
  require_size("sell: col_indices", col_indices_.size(), values_.size());
  if (row_permutation_.size()) require_size("sell: row_permutation", row_permutation_.size(), rows);
}

template <class T>
Ell<T>::Ell(std::int64_t rows, std::int64_t cols, std::int64_t width, std::int64_t nnz, Array<std::int32_t> col_indices,
            Array<T> values)
    : MatrixShape("ell", rows, cols),
      width_(width),
      nnz_(nnz),
      col_indices_(std::move(col_indices)),
      values_(std::move(values)) {
  require_range("ell: width", width, 0, std::numeric_limits<std::int32_t>::max());
  require_size("ell: col_indices", col_indices_.size(), rows * width);
  require_size("ell: values", values_.size(), rows * width);
}

template <class T>
void validate(const Sell<T>& A) {
  validate_offsets(A.slice_offsets().host(), A.slice_rows(), A.values().size());
  validate_permutation(A.row_permutation().host());
  validate_rows("sell", A.view(Host{}), A.nnz());
}

template <class T>
void validate(const Ell<T>& A) {
  validate_rows("ell", A.view(Host{}), A.nnz());
}

template <class T>
struct SellInstances {
  static constexpr std::tuple list{instance<void(const Sell<T>&)>(validate), instance<void(const Ell<T>&)>(validate)};
};
KRILL_INSTANTIATE(Sell);
KRILL_INSTANTIATE(Ell);
KRILL_INSTANTIATE(SellInstances);

}  // namespace krill

// What every matrix type shares: its size.
#pragma once
#include <cstdint>
#include <limits>
#include <string_view>
#include <type_traits>

#include "sparse/core/array.hpp"
#include "sparse/formats/format.hpp"

namespace krill {

namespace detail {
/// U, const where T is: the index arrays of a view are as changeable as its values.
template <class T, class U>
using as_const_as = std::conditional_t<std::is_const_v<T>, const U, U>;

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Bytes of arrays, once.
template <class... T>
std::size_t bytes_of(const Array<T>&... arrays) {
  return ((static_cast<std::size_t>(arrays.size()) * sizeof(T)) + ... + std::size_t{0});
}
}  // namespace detail

/// Rows and columns of a matrix, and of op(A).
class MatrixShape {
 public:
  std::int32_t rows() const { return rows_; }
  std::int32_t cols() const { return cols_; }
  std::int32_t rows(Op op) const { return op == Op::none ? rows_ : cols_; }
  std::int32_t cols(Op op) const { return op == Op::none ? cols_ : rows_; }

 protected:
  /// Raises InvalidArgument where one is negative or does not fit 32 bits; `what` names the format.
  MatrixShape(std::string_view what, std::int64_t rows, std::int64_t cols);

 private:
  std::int32_t rows_, cols_;
};

/// Raises InvalidArgument "bsr: block_dim is 0, 1 to 64 were expected" unless low <= value <= high.
void require_range(std::string_view what, std::int64_t value, std::int64_t low, std::int64_t high);

// Row views. The views that are stored by rows (all but those of the column-compressed formats, which are row views of
// the transpose) have the same three functions, so that code that needs no more is written once for all of them:
//   stored_rows()          how many rows are stored, in an order of the format's own
//   row_of(s)              the row of the matrix that is stored as number s
//   for_entries(s, f)      f(column, value) for every entry of it, columns counted from zero, padding left out

/// The value type of views of a pattern: the pointer to values is null.
struct NoValue {};

/// a x, or 0 where a is 0: a zero that fills up a block or diagonal is no entry, so NaN in x must not come through it.
template <class T>
constexpr T times_unless_zero(T a, T x) {
  return a == T(0) ? T(0) : a * x;
}

}  // namespace krill

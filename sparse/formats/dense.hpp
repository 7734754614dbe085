// Dense matrices: several right-hand sides, and conversions to and from sparse formats.
#pragma once
#include "sparse/formats/shape.hpp"

namespace krill {

/// How the entries of a dense matrix follow each other in memory: down a column, or along a row.
enum class Order { column_major, row_major };

/// What kernels see: entry (i, j) lies at values[i + j leading_dimension] in column-major order, and at
/// values[i leading_dimension + j] in row-major order. Memory between a line's end and the next line is padding, which
/// kernels neither read nor write, so a view may show a part of a larger matrix.
template <class T>
struct DenseView {
  using Value = std::remove_const_t<T>;

  std::int32_t rows = 0, cols = 0;
  std::int64_t leading_dimension = 0;
  Order order = Order::column_major;
  T* values = nullptr;

  constexpr T& at(std::int64_t i, std::int64_t j) const {
    return values[order == Order::column_major ? i + j * leading_dimension : i * leading_dimension + j];
  }
  /// Entries from one end of a line (a column, or a row in row-major order) to the other, without padding.
  constexpr std::int32_t line_length() const { return order == Order::column_major ? rows : cols; }

  /// The transpose: the same memory, read in the other order.
  constexpr DenseView transposed() const {
    return {cols, rows, leading_dimension, order == Order::column_major ? Order::row_major : Order::column_major,
            values};
  }
  constexpr DenseView<const T> as_const() const { return {rows, cols, leading_dimension, order, values}; }
};

namespace detail {
/// `asked`, or the length of a line where that is 0. Raises InvalidArgument where lines would overlap or the whole
/// would pass 2^63 bytes.
std::int64_t dense_leading_dimension(const MatrixShape&, Order, std::int64_t asked);
}  // namespace detail

/// A dense matrix: leading_dimension cols entries in column-major order, rows leading_dimension in row-major order.
/// A leading dimension of 0 asks for the least one, which leaves no padding.
template <class T>
class Dense : public MatrixShape {
 public:
  using Value = T;

  /// The contents are unspecified. Raises InvalidArgument.
  Dense(std::int64_t rows, std::int64_t cols, Order order = Order::column_major, std::int64_t leading_dimension = 0)
      : MatrixShape("dense", rows, cols),
        order_(order),
        leading_dimension_(detail::dense_leading_dimension(*this, order, leading_dimension)),
        values_(leading_dimension_ * lines(), "dense values") {}
  /// Raises InvalidArgument, and ShapeMismatch where `values` is not of that size, padding included.
  Dense(std::int64_t rows, std::int64_t cols, Array<T> values, Order order = Order::column_major,
        std::int64_t leading_dimension = 0)
      : MatrixShape("dense", rows, cols),
        order_(order),
        leading_dimension_(detail::dense_leading_dimension(*this, order, leading_dimension)),
        values_(std::move(values)) {
    require_size("dense: values", values_.size(), leading_dimension_ * lines());
  }

  Order order() const { return order_; }
  std::int64_t leading_dimension() const { return leading_dimension_; }
  bool padded() const { return leading_dimension_ > (order_ == Order::column_major ? rows() : cols()); }
  std::size_t bytes() const { return detail::bytes_of(values_); }

  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  // What a kernel gets, as of an Array.
  /// Contents wanted.
  template <class Where>
  DenseView<const kernel_t<T>> view(const Where& where) const {
    return over(values_.read(where));
  }
  /// Every entry replaced. Padding stays what it is, so a padded matrix is fetched first.
  template <class Where>
  DenseView<kernel_t<T>> write(const Where& where) {
    return over(padded() ? values_.update(where) : values_.write(where));
  }
  /// Contents wanted and changed.
  template <class Where>
  DenseView<kernel_t<T>> update(const Where& where) {
    return over(values_.update(where));
  }
  /// For C = ... + beta C: as write() where beta is known on the host and 0, else as update().
  template <class Where, class S>
  DenseView<kernel_t<T>> output(const Where& where, const S& beta) {
    return beta.is_host_zero() ? write(where) : update(where);
  }

  /// The entries on the host; waits for the device where it wrote last.
  DenseView<const T> host() const { return over(values_.host().data()); }
  /// The same, to be changed.
  DenseView<T> edit() { return over(values_.edit().data()); }

  Dense clone() const { return {rows(), cols(), values_.clone(), order_, leading_dimension_}; }

 private:
  std::int64_t lines() const { return order_ == Order::column_major ? cols() : rows(); }
  template <class U>
  DenseView<U> over(U* values) const {
    return {rows(), cols(), leading_dimension_, order_, values};
  }

  Order order_;
  std::int64_t leading_dimension_;
  Array<T> values_;
};

}  // namespace krill

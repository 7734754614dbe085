// Dots of the columns of two dense matrices: of many right-hand sides, residuals or directions at a time.
#pragma once
#include "sparse/core/instantiate.hpp"
#include "sparse/formats/dense.hpp"

namespace krill {

/// results_j = x_j^H y_j for every column j, in double or double complex; an array of X.cols() entries. X may be Y,
/// whose result then is ||x_j||^2. Orders and leading dimensions may differ. Repeatable bitwise, for any number of host
/// threads. Asynchronous and capturable after a first run; allocates nothing but workspace.
///
/// Moves both matrices once; columns of row-major ones side by side. Raises ShapeMismatch.
template <class T>
void column_dots(Context&, const Dense<T>& X, const Dense<T>& Y, Array<wide_t<T>>& results);

// The kernels behind the door, for callers who own their memory, too: views of one shape.
template <class T>
void run_column_dots(const Host&, const DenseView<const T>& x, const DenseView<const T>& y, wide_t<T>* results);
template <class T>
void run_column_dots(const Cuda&, const DenseView<const T>& x, const DenseView<const T>& y, wide_t<T>* results);

namespace detail {

/// What is compiled for each backend.
template <class Value, class Where, class T = kernel_t<Value>>
struct ColumnDotsKernels {
  static constexpr auto list =
      instance<void(const Where&, const DenseView<const T>&, const DenseView<const T>&, wide_t<T>*)>(run_column_dots);
};

}  // namespace detail
}  // namespace krill

#include "sparse/vector/column_dots.hpp"

namespace krill {

template <class T>
void column_dots(Context& ctx, const Dense<T>& X, const Dense<T>& Y, Array<wide_t<T>>& results) {
  require_size("column_dots: rows of Y", Y.rows(), X.rows());
  require_size("column_dots: columns of Y", Y.cols(), X.cols());
  require_size("column_dots: results", results.size(), X.cols());
  ctx.dispatch([&](const auto& where) { run_column_dots(where, X.view(where), Y.view(where), results.write(where)); });
}

template <class T>
struct ColumnDotsInstances {
  static constexpr auto list =
      instance<void(Context&, const Dense<T>&, const Dense<T>&, Array<wide_t<T>>&)>(column_dots);
};
KRILL_INSTANTIATE(ColumnDotsInstances);

}  // namespace krill

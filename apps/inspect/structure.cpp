#include "apps/inspect/structure.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <complex>
#include <vector>

#include "sparse/convert/convert.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/scale/scaling.hpp"

namespace krill::apps {
namespace {

constexpr std::int64_t max_entries_to_reorder = 30'000'000;  // some seconds; --levels does it all the same
constexpr double much_longer = 10;                           // than the mean
constexpr std::int64_t min_dense = 100;                      // entries; shorter lines hurt nobody
constexpr double worth_calling_blocks = 2.0 / 3;

/// The lines of more entries than ten times the mean, `lengths[i]` being those of line i.
DenseLines dense_lines(const std::vector<std::int64_t>& lengths, std::int64_t nnz) {
  DenseLines found;
  if (lengths.empty()) return found;
  const double mean = static_cast<double>(nnz) / static_cast<double>(lengths.size());
  found.limit = std::max(min_dense, static_cast<std::int64_t>(much_longer * mean));
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] <= found.limit) continue;
    if (found.count++ == 0) found.first = static_cast<std::int32_t>(i);
  }
  return found;
}

template <class T, class Offset>
void look_at_lines(const Csr<T, Offset>& A, const PatternView<Offset>& pattern, Structure& s) {
  std::vector<std::int64_t> rows(static_cast<std::size_t>(A.rows())), cols(static_cast<std::size_t>(A.cols()));
  for (std::int32_t i = 0; i < A.rows(); ++i) {
    rows[static_cast<std::size_t>(i)] = std::ssize(pattern.row(i));
    ++s.rows_by_length[rows[static_cast<std::size_t>(i)]];
    for (const std::int32_t j : pattern.row(i)) ++cols[static_cast<std::size_t>(j)];
  }
  s.dense_rows = dense_lines(rows, A.nnz());
  s.dense_cols = dense_lines(cols, A.nnz());
}

template <class T, class Offset>
void look_for_blocks(Context& host, const Csr<T, Offset>& A, Structure& s) {
  if (A.nnz() == 0) return;
  const std::int32_t dim = best_block_dim(host, A);
  const auto places = static_cast<double>(stored_blocks(host, A, Blocking{dim, dim})) * dim * dim;
  s.block_fill = static_cast<double>(A.nnz()) / places;
  if (s.block_fill >= worth_calling_blocks) s.block_dim = dim;
}

/// The ratio of the greatest to the least norm of a row that is left by scaling; 0 where A cannot be scaled.
template <class T, class Offset>
double scaled_row_spread(Context& host, const Csr<T, Offset>& A) {
  try {
    const Scaling<T> scaling(host, A, ScalingMethod::ruiz);
    const AnyMatrix<T> scaled(Scaled<T, Offset>(host, A, scaling).release());
    const MatrixProperties m = analyze(host.host_tag(), scaled);
    return m.min_row_norm > 0 ? m.infinity_norm / m.min_row_norm : 0;
  } catch (const InvalidArgument&) {  // a row or column of zeros, or an entry that is not finite
    return 0;
  }
}

}  // namespace

template <class T>
Structure look_at_structure(Context& host, const AnyMatrix<T>& A, const MatrixProperties& m, bool levels) {
  return with_csr(host, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    Structure s;
    const PatternView<Offset> pattern{csr.rows(), csr.cols(), csr.row_offsets().host(), csr.col_indices().host()};
    look_at_lines(csr, pattern, s);
    if (m.rows != m.cols || m.rows == 0) {
      s.no_orders = "the matrix is not square";
      return s;
    }
    s.components = components(pattern);
    look_for_blocks(host, csr, s);
    s.scaled_row_spread = scaled_row_spread(host, csr);
    if (levels || m.nnz <= max_entries_to_reorder)
      s.orders = levels_by_order(host, csr);
    else
      s.no_orders = fmt::format("not looked for in {} entries; --levels does it all the same", m.nnz);
    return s;
  });
}

template Structure look_at_structure(Context&, const AnyMatrix<double>&, const MatrixProperties&, bool);
template Structure look_at_structure(Context&, const AnyMatrix<std::complex<double>>&, const MatrixProperties&, bool);

}  // namespace krill::apps

#include "sparse/direct/factors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <new>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/memory_use.hpp"
#include "sparse/direct/complete_factors.hpp"
#include "sparse/io/host_memory.hpp"

namespace krill {
namespace {

/// The diagonal is the pivot where it is at least so large beside the greatest entry of its column.
constexpr double diagonal_preference = 0.1;
constexpr int max_estimation_steps = 5;  // of the condition number, as LAPACK's xLACON takes

template <class T>
std::unique_ptr<CompleteFactors<T>> factorize(const DirectAnalysis& analysis, ColumnMatrix<T> B) {
  const double threshold = analysis.by_columns ? 1 : diagonal_preference;
  if constexpr (std::is_same_v<real_t<T>, double>)
    if (analysis.library == DirectLibrary::suitesparse) {
      // KLU orders blocks by itself, and exchanging as freely as where columns alone are ordered would undo that.
      if (analysis.method == DirectMethod::lu) return klu(B, diagonal_preference);
      if (auto made = cholmod_llt(B)) return made;  // else pivots have both signs, or one is 0
    }
  if (analysis.method == DirectMethod::ldlt) return eigen_ldlt(std::move(B));
  return eigen_lu(std::move(B), threshold);
}

/// The power of two that brings a modulus into [1, 2); 1 for 0.
double scale_for(double modulus) {
  if (!(modulus > 0) || !std::isfinite(modulus)) return 1;
  int exponent = 0;
  std::frexp(modulus, &exponent);
  return std::ldexp(1.0, std::clamp(1 - exponent, -1000, 1000));
}

}  // namespace

template <class T>
struct DirectFactors<T>::Body {
  std::vector<std::int32_t> rows, cols;  // of A, in the order of elimination
  std::vector<double> row_scale, col_scale;
  std::unique_ptr<CompleteFactors<T>> factors;
  std::size_t bytes = 0;
  T nothing = 0;  // what a solve hands out where there are no factors

  Body() = default;
  Body(const Body&) = delete;
  Body& operator=(const Body&) = delete;
  ~Body() { hold(0); }
  /// Books memory that libraries take, for which no array speaks.
  void hold(std::size_t now) {
    host_memory::subtract(std::exchange(bytes, now));
    host_memory::add(now);
  }

  /// D_r A D_c in the order of elimination; for LDLT its upper triangle.
  template <class Offset>
  ColumnMatrix<T> scaled(const Csr<T, Offset>& A, bool upper_alone) {
    const auto n = static_cast<std::size_t>(A.rows());
    const auto offsets = A.row_offsets().host();
    const auto indices = A.col_indices().host();
    const auto values = A.values().host();
    std::vector<std::int32_t> place(n);
    for (std::size_t k = 0; k < n; ++k) place[static_cast<std::size_t>(cols[k])] = static_cast<std::int32_t>(k);
    // use(place of the row, place of the column, entry of A)
    const auto for_entries = [&](const auto& use) {
      for (std::size_t k = 0; k < n; ++k) {
        const auto i = static_cast<std::size_t>(rows[k]);
        for (auto e = static_cast<std::size_t>(offsets[i]); e < static_cast<std::size_t>(offsets[i + 1]); ++e) {
          const std::int32_t at = place[static_cast<std::size_t>(indices[e])];
          if (!upper_alone || static_cast<std::int32_t>(k) <= at) use(k, at, e);
        }
      }
    };
    ColumnMatrix<T> B{.begins = std::vector<std::int32_t>(n + 1)};
    for_entries([&](std::size_t, std::int32_t at, std::size_t) { ++B.begins[static_cast<std::size_t>(at) + 1]; });
    for (std::size_t k = 0; k < n; ++k) B.begins[k + 1] += B.begins[k];
    B.rows.resize(static_cast<std::size_t>(B.begins[n]));
    B.values.resize(B.rows.size());
    std::vector<std::int32_t> next(B.begins.begin(), B.begins.end() - 1);
    for_entries([&](std::size_t k, std::int32_t at, std::size_t e) {
      const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(at)]++);
      const auto i = static_cast<std::size_t>(rows[k]), j = static_cast<std::size_t>(indices[e]);
      B.rows[to] = static_cast<std::int32_t>(k);
      B.values[to] = times(times(values[e], row_scale[i]), col_scale[j]);
    });
    return B;
  }
  /// In double precision, for a power of two may lie outside of float's range though the product does not.
  static T times(const T& value, double factor) {
    if constexpr (is_complex<T>)
      return T(static_cast<real_t<T>>(factor * static_cast<double>(value.real())),
               static_cast<real_t<T>>(factor * static_cast<double>(value.imag())));
    else
      return static_cast<T>(factor * static_cast<double>(value));
  }

  /// LDLT: by the diagonal on both sides. LU: rows by their greatest entry, then columns by theirs.
  template <class Offset>
  void find_scales(const Csr<T, Offset>& A, bool by_diagonal) {
    const auto n = static_cast<std::size_t>(A.rows());
    row_scale.assign(n, 0), col_scale.assign(n, 0);
    const auto for_entries = [&](const auto& use) {
      for (std::size_t i = 0; i < n; ++i)
        for (auto e = static_cast<std::size_t>(A.row_offsets().host()[i]);
             e < static_cast<std::size_t>(A.row_offsets().host()[i + 1]); ++e)
          use(i, static_cast<std::size_t>(A.col_indices().host()[e]),
              std::abs(std::complex<double>(A.values().host()[e])));
    };
    if (by_diagonal) {
      for_entries([&](std::size_t i, std::size_t j, double size) {
        if (i == j) row_scale[i] = std::sqrt(size);
      });
      for (double& scale : row_scale) scale = scale_for(scale);
      col_scale = row_scale;
      return;
    }
    for_entries([&](std::size_t i, std::size_t, double size) { row_scale[i] = std::max(row_scale[i], size); });
    for (double& scale : row_scale) scale = scale_for(scale);
    for_entries(
        [&](std::size_t i, std::size_t j, double size) { col_scale[j] = std::max(col_scale[j], row_scale[i] * size); });
    for (double& scale : col_scale) scale = scale_for(scale);
  }

  /// to = D P^T B^-1 P D' from, where the two orders and scales say which.
  template <class Solve>
  static void around(std::span<const T> from, std::span<T> to, const std::vector<std::int32_t>& in,
                     const std::vector<double>& in_scale, const std::vector<std::int32_t>& out,
                     const std::vector<double>& out_scale, const Solve& solve) {
    std::vector<T> v(from.size());
    for (std::size_t k = 0; k < in.size(); ++k) {
      const auto i = static_cast<std::size_t>(in[k]);
      v[k] = times(from[i], in_scale[i]);
    }
    solve(std::span<T>(v));
    for (std::size_t k = 0; k < out.size(); ++k) {
      const auto i = static_cast<std::size_t>(out[k]);
      to[i] = times(v[k], out_scale[i]);
    }
  }
};

template <class T>
DirectFactors<T>::DirectFactors(Context& host, const AnyMatrix<T>& A, const DirectAnalysis& analysis)
    : body_(std::make_unique<Body>()) {
  analysis.require_possible();
  const auto n = static_cast<std::size_t>(rows(A));
  require_memory(fmt::format("a direct factorization of {} rows", n),
                 analysis.kept_bytes<T>() + analysis.bytes_meanwhile<T>());
  const bool ldlt = analysis.method == DirectMethod::ldlt;
  Body& body = *body_;
  body.cols = body.rows = analysis.order;
  if (analysis.by_columns) std::iota(body.rows.begin(), body.rows.end(), 0);
  body.hold(analysis.kept_bytes<T>() + analysis.bytes_meanwhile<T>());
  ColumnMatrix<T> B = with_csr(host, A, [&](const auto& csr) {
    body.find_scales(csr, ldlt);
    return body.scaled(csr, ldlt);
  });
  if (!std::ranges::all_of(B.values, [](const T& entry) { return std::isfinite(std::abs(entry)); })) {
    body.nothing = std::numeric_limits<real_t<T>>::quiet_NaN();
    body.hold(0);
    return;
  }
  if (const auto empty = std::ranges::adjacent_find(B.begins); !ldlt && empty != B.begins.end()) {
    // Said at once, for Eigen never ends where there are far fewer entries than columns.
    zero_pivot_ = least_pivot_ = body.cols[static_cast<std::size_t>(empty - B.begins.begin())];
    body.hold(0);
    return;
  }
  try {
    body.factors = factorize(analysis, std::move(B));
  } catch (const std::bad_alloc&) {
    throw OutOfMemory("a direct factorization", analysis.kept_bytes<T>(), available_memory());
  }
  const CompleteFactorsFacts& facts = body.factors->facts();
  library_ = facts.library;
  is_definite_ = facts.is_definite;
  entries_ = facts.entries;
  DirectAnalysis found = analysis;
  found.entries = static_cast<double>(entries_);
  body.hold(found.kept_bytes<T>());
  if (facts.zero_column) {
    zero_pivot_ = least_pivot_ = body.cols[static_cast<std::size_t>(*facts.zero_column)];
    body.factors.reset();
  } else if (!facts.pivots.empty()) {
    const auto [least, greatest] = std::ranges::minmax_element(facts.pivots);
    pivot_ratio_ = *least / *greatest;
    least_pivot_ = body.cols[static_cast<std::size_t>(least - facts.pivots.begin())];
  }
}

template <class T>
DirectFactors<T>::~DirectFactors() = default;

template <class T>
std::size_t DirectFactors<T>::bytes() const {
  return body_->bytes;
}

template <class T>
void DirectFactors<T>::solve(std::span<const T> r, std::span<T> z) const {
  const Body& body = *body_;
  if (!body.factors) return std::ranges::fill(z, body.nothing), void();
  Body::around(r, z, body.rows, body.row_scale, body.cols, body.col_scale,
               [&](std::span<T> v) { body.factors->solve(v); });
}

template <class T>
void DirectFactors<T>::solve_adjoint(std::span<const T> r, std::span<T> z) const {
  const Body& body = *body_;
  if (!body.factors) return std::ranges::fill(z, body.nothing), void();
  Body::around(r, z, body.cols, body.col_scale, body.rows, body.row_scale,
               [&](std::span<T> v) { body.factors->solve_adjoint(v); });
}

template <class T>
double condition_estimate(Context& host, const AnyMatrix<T>& A, const DirectFactors<T>& factors) {
  if (factors.zero_pivot()) return std::numeric_limits<double>::infinity();
  const auto n = static_cast<std::size_t>(rows(A));
  std::vector<double> column_sums(n);
  with_csr(host, A, [&](const auto& csr) {
    for (std::size_t e = 0; e < static_cast<std::size_t>(csr.nnz()); ++e)
      column_sums[static_cast<std::size_t>(csr.col_indices().host()[e])] +=
          std::abs(std::complex<double>(csr.values().host()[e]));
  });
  std::vector<T> x(n, T(static_cast<real_t<T>>(1.0 / static_cast<double>(n)))), z(n);
  double inverse_norm = 0;
  for (int step = 0; step < max_estimation_steps; ++step) {
    factors.solve(x, z);
    double sum = 0;
    for (T& entry : z) {
      const double size = std::abs(std::complex<double>(entry));
      sum += size;
      entry = size > 0 ? entry / static_cast<real_t<T>>(size) : T(1);  // its sign
    }
    if (!std::isfinite(sum)) return std::numeric_limits<double>::infinity();
    if (step > 0 && sum <= inverse_norm) break;
    inverse_norm = sum;
    factors.solve_adjoint(z, z);
    const auto greatest = std::ranges::max_element(z, {}, [](const T& entry) { return std::abs(entry); });
    std::ranges::fill(x, T(0));
    x[static_cast<std::size_t>(greatest - z.begin())] = T(1);
  }
  // A vector that no cancellation spoils where the steps were misled (Higham 1988).
  for (std::size_t i = 0; i < n; ++i) {
    const double size = 1 + static_cast<double>(i) / static_cast<double>(std::max<std::size_t>(2, n) - 1);
    x[i] = T(static_cast<real_t<T>>(i % 2 == 0 ? size : -size));
  }
  factors.solve(x, z);
  double sum = 0;
  for (const T& entry : z) sum += std::abs(std::complex<double>(entry));
  inverse_norm = std::max(inverse_norm, 2 * sum / (3 * static_cast<double>(n)));
  return *std::ranges::max_element(column_sums) * inverse_norm;
}

template <class T>
struct DirectFactorsInstances {
  static constexpr auto list =
      instance<double(Context&, const AnyMatrix<T>&, const DirectFactors<T>&)>(condition_estimate);
};
KRILL_INSTANTIATE(DirectFactors);
KRILL_INSTANTIATE(DirectFactorsInstances);

}  // namespace krill

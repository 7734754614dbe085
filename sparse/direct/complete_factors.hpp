// What libraries do for DirectFactors: they factorize a matrix that is scaled and ordered already. Users take
// factors.hpp.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "sparse/core/types.hpp"

namespace krill {

/// A square matrix by columns, each by rising rows.
template <class T>
struct ColumnMatrix {
  std::vector<std::int32_t> begins{};  ///< column j: begins[j] to begins[j + 1]
  std::vector<std::int32_t> rows{};
  std::vector<T> values{};

  std::int32_t size() const { return static_cast<std::int32_t>(begins.size()) - 1; }
};

struct CompleteFactorsFacts {
  std::string_view library;
  std::vector<double> pivots;               ///< their moduli, by columns; what follows a 0 may be missing
  std::optional<std::int32_t> zero_column;  ///< in which no pivot was found; there is nothing to solve with then
  bool is_definite = false;                 ///< all pivots have one sign, without exchanges
  std::int64_t entries = 0;
};

/// Factors of B. Solves of one object may not run at the same time.
template <class T>
class CompleteFactors {
 public:
  virtual ~CompleteFactors() = default;
  virtual void solve(std::span<T> v) const = 0;          ///< v = B^-1 v
  virtual void solve_adjoint(std::span<T> v) const = 0;  ///< v = B^-H v
  const CompleteFactorsFacts& facts() const { return facts_; }

 protected:
  CompleteFactorsFacts facts_;
};

// All of them raise std::bad_alloc.

/// L D L^H without exchanges. upper: of a Hermitian matrix, with its diagonal.
template <class T>
std::unique_ptr<CompleteFactors<T>> eigen_ldlt(ColumnMatrix<T> upper);

/// L U with row exchanges; the diagonal is the pivot where it is at least `threshold` of its column's greatest entry.
template <class T>
std::unique_ptr<CompleteFactors<T>> eigen_lu(ColumnMatrix<T> B, double threshold);

/// L L^H of dense blocks. Nothing where the matrix is neither positive nor negative definite. upper: as above; its
/// indices are copied. T: double or std::complex<double>.
template <class T>
std::unique_ptr<CompleteFactors<T>> cholmod_llt(const ColumnMatrix<T>& upper);

/// L U of each diagonal block of a block triangular form, in an order of its own. T: double or std::complex<double>.
template <class T>
std::unique_ptr<CompleteFactors<T>> klu(const ColumnMatrix<T>& B, double threshold);

}  // namespace krill

// Hybrid: what fits a narrow ELLPACK, and the rest in coordinates.
#pragma once
#include "sparse/formats/coo.hpp"
#include "sparse/formats/sell.hpp"

namespace krill {

/// What kernels see: both parts.
template <class T>
struct HybView {
  using Value = std::remove_const_t<T>;

  SellView<T> ell;
  CooView<T> coo;

  constexpr std::int32_t stored_rows() const { return ell.rows; }
  constexpr std::int32_t row_of(std::int32_t s) const { return s; }
  template <class F>
  constexpr void for_entries(std::int32_t s, F&& f) const {
    ell.for_entries(s, f);
    coo.for_entries(s, f);
  }
};

/// The first `width` entries of every row in ELL, the others in COO. Rows of at most `width` entries have none in COO.
template <class T>
class Hyb : public MatrixShape {
 public:
  using Value = T;
  static constexpr Format format() { return Format::hyb; }

  /// Raises ShapeMismatch where the parts differ in size.
  Hyb(Ell<T> ell, Coo<T> coo) : MatrixShape("hyb", ell.rows(), ell.cols()), ell_(std::move(ell)), coo_(std::move(coo)) {
    require_size("hyb: rows of the coo part, which", coo_.rows(), rows());
    require_size("hyb: columns of the coo part, which", coo_.cols(), cols());
  }

  const Ell<T>& ell() const { return ell_; }
  const Coo<T>& coo() const { return coo_; }
  Ell<T>& ell() { return ell_; }
  Coo<T>& coo() { return coo_; }
  std::int64_t nnz() const { return ell_.nnz() + coo_.nnz(); }
  std::size_t bytes() const { return ell_.bytes() + coo_.bytes(); }

  template <class Where>
  HybView<const kernel_t<T>> view(const Where& where) const {
    return {ell_.view(where), coo_.view(where)};
  }

 private:
  Ell<T> ell_;
  Coo<T> coo_;
};

/// Raises InvalidArgument where validate of a part does, or where a row has entries in COO that ELL has
/// room for, or columns behind.
template <class T>
void validate(const Hyb<T>&);

}  // namespace krill

// How `format: auto` decides: whether an SpmvPlan multiplies with another form than CSR.
#pragma once
#include <functional>
#include <optional>
#include <variant>

#include "krill/sparse/spmv/call.hpp"
#include "krill/sparse/spmv/packed.hpp"
#include "krill/sparse/spmv/plan.hpp"

namespace krill {

/// A copy of a matrix in another form than CSR.
template <class T>
struct OtherForm {
  std::variant<Packed<T>, AnyMatrix<T>> matrix;
  CsrTiles block_tiles = {};  ///< where it is in BSR

  std::size_t bytes() const;
  void multiply(Context&, const SpmvCall<T>&) const;
  /// New values of the same pattern.
  template <class Offset>
  void update(Context&, const Csr<T, Offset>& A);
};

/// y = alpha A x + beta y in any way.
template <class T>
using AnyProduct = std::function<void(const SpmvCall<T>&)>;

/// The form that choose_form would make and time, and its bytes; csr where it would not.
struct FormEstimate {
  std::string method = "csr";
  std::size_t bytes = 0;
};
/// Looks at A on the context's side, for products on CUDA or on the host. Waits.
template <class T, class Offset>
FormEstimate estimate_form(Context&, const Csr<T, Offset>& A, bool for_cuda);

/// A in the form that a byte model ranks first, unless the timing says that it is clearly slower than
/// `multiply_in_csr`; nothing where A stays in CSR. The report gets all but the time of the setup.
template <class T, class Offset>
std::optional<OtherForm<T>> choose_form(Context&, const Csr<T, Offset>& A,
                                        const std::type_identity_t<AnyProduct<T>>& multiply_in_csr, SpmvReport&);

}  // namespace krill

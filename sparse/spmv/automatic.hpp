// How `format: auto` decides: whether an SpmvPlan multiplies with another form than CSR.
#pragma once
#include <functional>
#include <optional>
#include <variant>

#include "sparse/spmv/call.hpp"
#include "sparse/spmv/packed.hpp"
#include "sparse/spmv/plan.hpp"

namespace krill::detail {

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

/// A product as it will be wanted, for forms to be timed with.
template <class T>
struct FormTrial {
  std::size_t operands = 0;  ///< bytes of what it moves beside the matrix, where they count
  /// Makes what is multiplied, and returns what runs a product: in that form, or in CSR where it is null. Empty: forms
  /// are not timed.
  std::function<std::function<void(const OtherForm<T>*)>()> prepare;
};

/// The form that choose_form would make and time, and its bytes; csr if it would make none.
struct FormEstimate {
  std::string method = "csr";
  std::size_t bytes = 0;
};
/// Looks at A on the context's side, for products on CUDA or on the host. Waits.
template <class T, class Offset>
FormEstimate estimate_form(Context&, const Csr<T, Offset>& A, bool for_cuda);

/// What such a form takes, made and timed.
template <class T>
HeldMemory form_memory(MemoryLedger& ledger, std::int32_t size, const FormEstimate& form) {
  HeldMemory kept = ledger.hold(form.bytes);
  const HeldMemory x = ledger.hold<T>(size), y = ledger.hold<T>(size);
  return kept;
}

/// A in the form that a byte model ranks first. Nothing if that is CSR, or if the form is timed and clearly slower than
/// CSR. Fills in the report but for the time of the setup.
template <class T, class Offset>
std::optional<OtherForm<T>> choose_form(Context&, const Csr<T, Offset>& A, const FormTrial<T>&, SpmvReport&);

}  // namespace krill::detail

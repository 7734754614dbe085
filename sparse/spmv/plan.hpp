// A product that is wanted often: what it needs is found and made once.
#pragma once
#include <memory>
#include <string>

#include "sparse/formats/csr_sizes.hpp"
#include "sparse/spmv/recurrence_step.hpp"
#include "sparse/spmv/spmv.hpp"

namespace krill {
namespace detail {
template <class T>
class PlannedCsr;
}

/// The arrays with which an SpmvPlan multiplies.
enum class SpmvMethod {
  in_place,   ///< with A's own arrays, and row offsets, tiles or a transpose of its own where those are needed
  automatic,  ///< with what is fastest, a copy in another form if need be
  smallest,   ///< with the form that moves the fewest bytes, which no clock is asked about: the same one in every run
};

/// What an automatic plan found.
struct SpmvReport {
  std::string method = "csr";            ///< csr, packed, dia or bsr; the format's name where it was told
  std::string why;                       ///< a sentence, with the numbers behind it
  std::size_t csr_bytes = 0, bytes = 0;  ///< of the matrix that a product moves, in CSR and as chosen
  double csr_ms = 0, ms = 0;             ///< a product, in CSR and as chosen; 0: not timed
  double setup_ms = 0;                   ///< until the choice stood
  double break_even = 0;                 ///< products after which the choice has paid for its setup; 0: at once
};

/// y = alpha op(A) x + beta y, for many x. A must outlive the plan and keep its pattern.
///
/// in_place: COO gets row offsets, CSC, GEBSC and transposes a matrix in CSR; CSR on CUDA is divided into tiles of
/// about equal nnz, so that a row of millions of entries is shared by many threads (a few small kernels, no wait; 1 to
/// 3 % of A's memory). Other formats need nothing.
///
/// automatic, op none: a byte model compares CSR with SELL of coded columns and values (Packed), diagonals and blocks.
/// What moves fewer bytes is made and timed against CSR, and kept unless it is clearly slower, so that the choice, and
/// with it the last bits of dot products, hardly ever depends on the clock. Costs some twenty products, a few waits,
/// and the memory of the copy. smallest makes that form and times nothing.
///
/// Products are asynchronous, capturable after a first run, allocate nothing but workspace, and repeat bitwise. One
/// product at a time: a plan serves one stream.
template <class T>
class SpmvPlan {
 public:
  SpmvPlan(Context&, const AnyMatrix<T>& A, Op op = Op::none, SpmvMethod = SpmvMethod::in_place);
  SpmvPlan(Context&, const AnyMatrix<T>&&, Op = Op::none, SpmvMethod = SpmvMethod::in_place) = delete;  // A has to stay
  /// y = A x where A is `scale` times the matrix of `like`, rounded, and like.names_rows(): in its form, which needs no
  /// look at A.
  SpmvPlan(Context&, const AnyMatrix<T>& A, const SpmvPlan<wide_t<T>>& like, double scale);
  SpmvPlan(SpmvPlan&&) noexcept;
  SpmvPlan& operator=(SpmvPlan&&) noexcept;
  ~SpmvPlan();
  /// What the plan takes. `report` gets the method; an automatic plan tries that form, but it may lose.
  static HeldMemory memory(MemoryLedger&, Context& host, const AnyMatrix<T>& A, SpmvMethod = SpmvMethod::in_place,
                           SpmvReport* report = nullptr);
  /// In place, of a matrix in CSR.
  static HeldMemory memory(MemoryLedger&, const CsrSizes& A, Op op = Op::none);

  std::int32_t rows() const;  ///< of op(A)
  std::int32_t cols() const;
  const SpmvReport& report() const;
  /// Whether the plan multiplies with a byte a row that names the row's columns and values.
  bool names_rows() const;
  /// What the plan keeps beside A.
  std::size_t bytes() const;
  /// op(A) in CSR, in A's arrays or in the plan's; null where the plan multiplies in another form.
  const detail::PlannedCsr<T>* csr() const;

  /// A has new values. O(nnz); nothing where the plan multiplies with A's own arrays. Transposes of CSR and CSC keep
  /// their arrays; where other forms were made, graphs that captured products have to be captured anew.
  void update(Context&);

  /// y = alpha op(A) x + beta y and the dots of y. Raises as spmv does.
  void apply(Context&, const Scalar<T>& alpha, const Array<T>& x, const Scalar<T>& beta, Array<T>& y,
             const Dots<T>& = {}) const;
  /// r = b - op(A) x.
  void residual(Context&, const Array<T>& x, const Array<T>& b, Array<T>& r, const Dots<T>& = {}) const;
  /// The same, and the step; r: x in the last one, of which dots are then. Where takes_steps() holds. Raises
  /// InvalidArgument where it does not, ShapeMismatch.
  void take_step(Context&, const Array<T>& x, const Array<T>& b, Array<T>& r, const RecurrenceStep<T>&,
                 const Dots<T>& = {}) const;
  /// Whether products find each row's sum at once: in all formats but HYB and BSRX.
  bool takes_steps() const;

 private:
  template <class>
  friend class SpmvPlan;
  struct Body;
  std::unique_ptr<Body> body_;
};

}  // namespace krill

// An independent judge of a solution: it shares no arithmetic with the solvers.
#pragma once
#include <complex>
#include <span>
#include <string_view>
#include <vector>

#include "apps/report/judgement.hpp"
#include "sparse/io/triplets.hpp"

namespace krill::apps {

/// A system and the solution to be judged, in double precision whatever it was solved in.
template <class T>
struct Claim {
  const Triplets<T>& matrix;  ///< square, as a file stores it
  std::span<const T> b, x;
  double residual_norm = 0;  ///< what ||b - A x|| was claimed to be at most
  double epsilon = 0;        ///< machine epsilon of the precision that the system was solved in
  double baseline = 1;       ///< the norm that figures are given relative to
  double error_limit = 0;    ///< greatest ||x - x_ref|| / ||x_ref|| that passes; 0: the residuals alone decide
  double work_limit = 1e10;  ///< floating-point operations that a factorization may take; beyond it, Krylov
  /// The factorization of Eigen that x was made with, "ldlt" or "lu": another one judges it. Empty: there is none.
  std::string_view made_by = {};
};

/// Solves the system by Eigen's SimplicialLDLT (Hermitian) or SparseLU, or SparseQR where x was made with these, where
/// fill and work allow, else by its ConjugateGradient or BiCGSTAB, and compares. PASS: in Eigen's arithmetic x meets
/// the tolerance, Eigen's own solution meets it, their difference meets its tolerance, and the error meets the limit
/// where there is one. FAIL: x does not. No verdict: Eigen found nothing to compare with. No condition number enters
/// the tolerances: they are the claim, and what rounding of A, b and the products can add to it (Higham 2002,
/// section 3.5). Never throws.
template <class T>
Judgement judge(const Claim<T>&);

/// The same of several right-hand sides with one matrix, and with one precision and one limit of work and error: what
/// is factorized serves all.
template <class T>
std::vector<Judgement> judge(std::span<const Claim<T>>);

}  // namespace krill::apps

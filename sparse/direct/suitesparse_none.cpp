// For builds without SuiteSparse, whose analyses never ask for it.
#include "sparse/core/error.hpp"
#include "sparse/direct/complete_factors.hpp"

namespace krill {

template <class T>
std::unique_ptr<CompleteFactors<T>> cholmod_llt(const ColumnMatrix<T>&) {
  throw InvalidArgument("direct factorization: this build has no CHOLMOD");
}
template <class T>
std::unique_ptr<CompleteFactors<T>> klu(const ColumnMatrix<T>&, double) {
  throw InvalidArgument("direct factorization: this build has no KLU");
}

template std::unique_ptr<CompleteFactors<double>> cholmod_llt(const ColumnMatrix<double>&);
template std::unique_ptr<CompleteFactors<std::complex<double>>> cholmod_llt(const ColumnMatrix<std::complex<double>>&);
template std::unique_ptr<CompleteFactors<double>> klu(const ColumnMatrix<double>&, double);
template std::unique_ptr<CompleteFactors<std::complex<double>>> klu(const ColumnMatrix<std::complex<double>>&, double);

}  // namespace krill

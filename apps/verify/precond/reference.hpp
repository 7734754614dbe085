// What `verify` knows of a preconditioner: the header of its name here has judging(const Options&) and
// reference(const Options&, const Question<T>&), and preconditioner_reference.cpp includes it.
#pragma once
#include <fmt/format.h>

#include "apps/verify/precond/factor.hpp"
#include "sparse/formats/dense.hpp"

namespace krill::apps::verify {

/// What is checked beside its application, and how its variants are called.
struct Judging {
  std::string variant = {};                 ///< stands behind the name where an option is not left open: " factored"
  std::optional<FactorRecipe> factor = {};  ///< of an incomplete factorization
  std::vector<Triangle> triangles = {};     ///< of A, that it solves with
  TriangularMethod method = TriangularMethod::automatic;  ///< of those
  std::string not_judged = {};                            ///< why its application is not compared; empty: it is
};

/// Of whichever it is.
Judging judging_of(const PreconditionerOptions&);

/// A residual, and what a reference may know beside the options: what the preconditioner found out about A (blocks, an
/// interval of eigenvalues, a shift) stands in its report.
template <class T>
struct Question {
  Context& ctx;
  const AnyMatrix<T>& matrix;
  const PreconditionerReport& report;
  const BoundedVector<T>& r;
  Rows<T> A;                                   ///< the matrix, entry by entry
  const Dense<double>* coordinates = nullptr;  ///< of nodes; null: not known
};

/// z = M r by the definition of the preconditioner, one entry after the other.
template <class T>
BoundedVector<T> preconditioned(Context&, const PreconditionerOptions&, const AnyMatrix<T>& A,
                                const PreconditionerReport&, const BoundedVector<T>& r,
                                const Dense<double>* coordinates = nullptr);

template <class Number>
Number fact(const PreconditionerReport& report, std::string_view name) {
  for (const Fact& f : report.facts)
    if (f.name == name) return std::get<Number>(f.value);
  throw Error(fmt::format("the report of the preconditioner has no {}", name));
}

template <class T>
Bounded<T> entry(const Rows<T>& A, std::int32_t i, std::int32_t j) {
  return Bounded<T>(A.at(i, j));
}

/// A double that kernels round to the precision.
template <class T>
Bounded<T> factor(double value) {
  const auto exact_value = static_cast<long double>(value);
  return {Exact<T>(exact_value), gamma<T>(1) * std::fabs(exact_value)};
}

}  // namespace krill::apps::verify

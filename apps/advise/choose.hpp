// Which method suits a matrix: the rules behind `auto` in a case and behind the case that `krill inspect` suggests.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "krill/apps/case/case.hpp"
#include "krill/sparse/io/analyze.hpp"

namespace krill::apps {

/// What may be left to the rules: each part that is auto is open.
struct Method {
  SolverOptions solver = AutoSolver{};
  PreconditionerOptions preconditioner = AutoPreconditioner{};
  OrderingOptions ordering = AutoOrdering{};
  ScalingOptions scaling = AutoScaling{};
};

/// One decision: the key of the case, and why it became what it is.
struct ChoiceReason {
  std::string key, why;
};

/// A method without anything that is auto.
struct Choice {
  Method method;
  std::vector<ChoiceReason> reasons;  ///< of what was open
};

/// Fills in what is open and leaves the rest as it is. O(1): from what the entries show, without a factorisation, so
/// the rules can be wrong where a matrix is not what it looks like. docs/inspecting.md lists them with the measurements
/// that they rest on.
Choice choose(const MatrixProperties&, bool on_cuda, const Method& open = {});

/// The same for a case: its open parts filled in.
std::vector<ChoiceReason> choose_for(Case&, const MatrixProperties&, bool on_cuda);

/// What to take in the place of a chosen preconditioner that the matrix has refused; nothing after `none`.
std::optional<PreconditionerOptions> weaker(const PreconditionerOptions&, const MatrixProperties&);

/// The asymmetry that files with few digits have.
inline constexpr double rounding_of_files = 1e-8;

/// Whether nothing that the entries show speaks against a Hermitian positive definite matrix, but for that asymmetry.
bool may_be_positive_definite(const MatrixProperties&, double asymmetry = rounding_of_files);

}  // namespace krill::apps

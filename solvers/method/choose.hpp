// Which method suits a matrix: the rules behind `auto`.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "solvers/method/options.hpp"
#include "sparse/io/analyze.hpp"

namespace krill {

/// One decision: the key of the option, and why it became what it is.
struct ChoiceReason {
  std::string key, why;
};

/// A method in which nothing is auto any more.
struct Choice {
  SolveOptions method;
  std::vector<ChoiceReason> reasons;  ///< for each part that was auto
};

/// Fills in what is open and leaves the rest as it is. O(1): from what the entries show, without a factorization, so
/// the rules can be wrong where a matrix is not what it looks like. docs/inspecting.md lists them with the measurements
/// that they rest on.
Choice choose(const MatrixProperties&, bool on_cuda, const SolveOptions& open = {});

/// The same in place: fills in what is open.
std::vector<ChoiceReason> choose_for(SolveOptions&, const MatrixProperties&, bool on_cuda);

/// The method of a batch of so many systems of three or five diagonals: solver banded, and nothing around it. Raises
/// InvalidArgument where the options name anything else; `matrix` is what messages call it.
std::vector<ChoiceReason> choose_for_batch(SolveOptions&, std::int32_t systems, const std::string& matrix);

/// Whether multigrid by aggregates is likely to be the quickest, by what the entries show, and why or why not. Of
/// matrices that are not Hermitian that is by bicgstab, and `auto` does not take it.
struct MultigridFit {
  bool is_diffusion = false, suits = false;
  std::string why;
  bool is_flow = false;  ///< which dominates the diffusion that there may be
};
MultigridFit multigrid_fit(const MatrixProperties&, bool on_cuda);

/// The preconditioner of a saddle point, m.constraint_rows > 0.
SchurOptions schur_for(const MatrixProperties& m);

/// What to take in the place of the preconditioner of the method, which the matrix has refused; nothing after `none`.
std::optional<PreconditionerOptions> weaker(const SolveOptions&, const MatrixProperties&);

/// The relative asymmetry that rounding to few digits leaves in files of symmetric matrices.
inline constexpr double rounding_of_files = 1e-8;

/// Whether nothing that the entries show speaks against a Hermitian positive definite matrix, but for that asymmetry.
bool may_be_positive_definite(const MatrixProperties&, double asymmetry = rounding_of_files);
/// The same of -A.
bool may_be_negative_definite(const MatrixProperties&, double asymmetry = rounding_of_files);

}  // namespace krill

// Which solvers and preconditioners are worth a try where nobody says which.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "apps/case/case.hpp"
#include "sparse/io/analyze.hpp"

namespace krill::apps::evaluate {

enum class Portfolio { automatic, none, quick, standard, thorough };
inline constexpr std::array<std::string_view, 5> portfolio_names{"auto", "none", "quick", "standard", "thorough"};

/// definite: conjugate gradients may work, for the matrix is Hermitian (to rounding), its diagonal is positive and
/// nothing proves that it is indefinite. negative_definite: the same of -A. weak_diagonal: rows want to be matched to
/// columns, by the rules of `auto`. no_diagonal: it has zeros, and rows cannot be matched.
enum class SystemKind { definite, negative_definite, general, weak_diagonal, no_diagonal };
SystemKind system_kind(const MatrixProperties&, Assume);

/// Parts of cases in YAML's flow style that name solver, preconditioner, ordering, scaling and matching, the most
/// promising first. Each level begins with the one below. Empty for `none`. What works along the lines of a grid is
/// among them where the case says which `grid` it is.
std::vector<std::string> portfolio(Portfolio, SystemKind, bool grid = false);

/// The same of the rules of `auto`: what they choose, then what they go on to where the matrix refuses that, and the
/// steps of the ladder where it fails.
std::vector<std::string> chosen_by_rules(const MatrixProperties&, bool on_cuda);

}  // namespace krill::apps::evaluate

#include "apps/evaluate/portfolio.hpp"

#include <cmath>
#include <limits>
#include <span>

#include "solvers/method/choose.hpp"

namespace krill::apps::evaluate {
namespace {

struct Entry {
  Portfolio min;  ///< the smallest portfolio that has it
  std::string_view text;
};

constexpr Portfolio quick = Portfolio::quick, standard = Portfolio::standard, thorough = Portfolio::thorough;

constexpr Entry for_definite[] = {
    {quick, "{solver: {type: pcg}, preconditioner: {type: jacobi}}"},
    {quick, "{solver: {type: pcg}, preconditioner: {type: ic0}}"},
    {quick, "{solver: {type: pcg}, preconditioner: {type: ic0}, ordering: {type: color}}"},
    {quick, "{solver: {type: pcg}, preconditioner: {type: chebyshev, degree: 4}}"},
    {quick, "{solver: {type: pcg}, preconditioner: {type: block_jacobi}}"},
    {standard, "{solver: {type: pcg}, preconditioner: {type: ssor}}"},
    {standard, "{solver: {type: pcg}, preconditioner: {type: ssor}, ordering: {type: color}}"},
    {standard, "{solver: {type: pcg}, preconditioner: {type: ic0, precision: float32}}"},
    {standard, "{solver: {type: pcg}, preconditioner: {type: ic0}, ordering: {type: rcm}}"},
    {standard, "{solver: {type: pcg}, preconditioner: {type: chebyshev, degree: 8}}"},
    {standard, "{solver: {type: pcg}, preconditioner: {type: chebyshev, degree: 4, precision: float32}}"},
    {standard, "{solver: {type: pcg}, preconditioner: {type: isai}}"},
    {standard, "{solver: {type: pcg}, preconditioner: {type: paric0, triangular_solve: isai}}"},
    {standard, "{solver: {type: pcg}, preconditioner: {type: none}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: bic0}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: chebyshev, degree: 16}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: ssor, omega: 1.5}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: ic0, triangular_solve: jacobi}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: ic0, triangular_solve: isai}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: paric0}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: block_jacobi, precision: float32}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: ic0, precision: float32}, ordering: {type: color}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: ic0}, ordering: {type: amd}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: ic0}, scaling: {type: diagonal}}"},
    {thorough, "{solver: {type: pcg}, preconditioner: {type: chebyshev}, scaling: {type: ruiz}}"},
    {thorough, "{solver: {type: gmres}, preconditioner: {type: ic0}}"},
};

constexpr Entry for_general[] = {
    {quick, "{solver: {type: bicgstab}, preconditioner: {type: ilu0}}"},
    {quick, "{solver: {type: bicgstab}, preconditioner: {type: jacobi}}"},
    {quick, "{solver: {type: gmres}, preconditioner: {type: ilu0}}"},
    {quick, "{solver: {type: gmres}, preconditioner: {type: jacobi}}"},
    {quick, "{solver: {type: bicgstab}, preconditioner: {type: ilu0}, ordering: {type: color}}"},
    {standard, "{solver: {type: bicgstab}, preconditioner: {type: ilu0}, ordering: {type: rcm}}"},
    {standard, "{solver: {type: bicgstab}, preconditioner: {type: ilu0, precision: float32}}"},
    {standard, "{solver: {type: bicgstab}, preconditioner: {type: block_jacobi}}"},
    {standard, "{solver: {type: bicgstab}, preconditioner: {type: gauss_seidel, direction: forward}}"},
    {standard, "{solver: {type: bicgstab}, preconditioner: {type: isai}}"},
    {standard, "{solver: {type: bicgstab}, preconditioner: {type: parilu0, triangular_solve: isai}}"},
    {standard, "{solver: {type: gmres}, preconditioner: {type: ilu0}, scaling: {type: ruiz}, ordering: {type: rcm}}"},
    {standard, "{solver: {type: gmres, restart: 200}, preconditioner: {type: ilu0}}"},
    {standard, "{solver: {type: bicgstab}, preconditioner: {type: none}}"},
    {standard, "{solver: {type: gmres}, preconditioner: {type: none}}"},
    {thorough, "{solver: {type: bicgstab}, preconditioner: {type: jacobi}, scaling: {type: ruiz}}"},
    {thorough, "{solver: {type: bicgstab}, preconditioner: {type: ilu0}, scaling: {type: ruiz}}"},
    {thorough, "{solver: {type: bicgstab}, preconditioner: {type: ilu0}, ordering: {type: amd}}"},
    {thorough, "{solver: {type: bicgstab}, preconditioner: {type: bilu0}}"},
    {thorough, "{solver: {type: bicgstab}, preconditioner: {type: parilu0}}"},
    {thorough, "{solver: {type: bicgstab}, preconditioner: {type: ilu0, triangular_solve: jacobi}}"},
    {thorough, "{solver: {type: bicgstab}, preconditioner: {type: ilu0, triangular_solve: isai}}"},
    {thorough,
     "{solver: {type: bicgstab}, preconditioner: {type: gauss_seidel, direction: forward}, "
     "ordering: {type: color}}"},
    {thorough, "{solver: {type: gmres}, preconditioner: {type: block_jacobi}}"},
    {thorough, "{solver: {type: gmres}, preconditioner: {type: ilu0}, ordering: {type: color}}"},
    {thorough, "{solver: {type: gmres, restart: 200}, preconditioner: {type: jacobi}}"},
    {thorough, "{solver: {type: gmres, restart: 200}, preconditioner: {type: none}, scaling: {type: ruiz}}"},
};

}  // namespace

SystemKind system_kind(const MatrixProperties& m, Assume assume) {
  if (assume == Assume::spd) return SystemKind::definite;
  const double rounding = std::sqrt(std::numeric_limits<double>::epsilon());  // what a pcg solve lets pass, too
  return may_be_positive_definite(m, rounding) ? SystemKind::definite : SystemKind::general;
}

std::vector<std::string_view> portfolio(Portfolio level, SystemKind kind) {
  std::vector<std::string_view> texts;
  if (level < Portfolio::quick) return texts;
  const std::span<const Entry> entries =
      kind == SystemKind::definite ? std::span<const Entry>(for_definite) : std::span<const Entry>(for_general);
  for (const Portfolio now : {quick, standard, thorough})
    for (const Entry& entry : entries)
      if (entry.min == now && now <= level) texts.push_back(entry.text);
  return texts;
}

}  // namespace krill::apps::evaluate

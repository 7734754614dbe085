// The time of a solver's iteration, from what a machine can do and what a rank has: pure functions of sizes.
#pragma once
#include <optional>

#include "apps/plan/machine_file.hpp"
#include "solvers/options.hpp"
#include "solvers/precond/options.hpp"

namespace krill::apps {

/// What an iteration does, in the mean over a cycle where there are restarts. Bytes are of a row.
struct StepWork {
  double value_bytes = 8;       ///< of a scalar
  double products = 0;          ///< with A; each reads a vector and writes one, which vector_bytes does not have
  double inverse_products = 0;  ///< with factors in CSR that approximate the inverse
  double inverse_share = 0;     ///< of the entries of A, and half of a diagonal more, that such a factor has
  double vector_bytes = 0;      ///< that passes read and write
  double kept_bytes = 0;        ///< of the vectors that are read again in the next iteration
  double kernels = 0;           ///< beside products
  double sums = 0;              ///< over the vectors of all ranks, those that are taken together as one
  double barriers = 0;          ///< where one kernel holds the loop; 0: no kernel does
  double passes_on_ranks = 0;   ///< kernels that several ranks have more
  double bytes_on_ranks = 0;    ///< which these read and write
};

/// By the byte counts of solvers/work.hpp. is_factored: isai has two factors. Nothing where there is no model of the
/// solver, or of the preconditioner: none, jacobi, chebyshev and isai have one.
template <class T>
std::optional<StepWork> step_work(const SolverOptions&, const PreconditionerOptions&, bool is_factored);

/// What a rank has of the system.
struct RankPart {
  double rows = 0, entries = 0;
  double matrix_bytes = 0;  ///< of A as its products move it
  double border_rows = 0, border_entries = 0;
  double exchanged = 0;      ///< entries of vectors that arrive or leave, whichever is more
  double between_hosts = 0;  ///< those of them that come from other hosts or go there
};

/// Microseconds of an iteration.
struct StepTime {
  double products = 0;  ///< of own rows in own columns, or with all of A
  double vectors = 0;   ///< passes over vectors
  double halo = 0;      ///< what the exchange of ghosts takes longer than the products that it goes beside
  double border = 0;    ///< rows with ghosts
  double sums = 0;      ///< what sums over ranks take more
  double fixed = 0;     ///< starts and ends of kernels
  bool in_one_kernel = false;
  double total() const { return products + vectors + halo + border + sums + fixed; }
};

/// max(interior product, halo) + border + passes + sums + starts of kernels, of a rank of `ranks` that fill host after
/// host. What the last cache keeps is read at its speed: all of it where it fits, nothing where there is twice as much
/// as fits, linear between. A product takes as long as its bytes, or as its rows and entries where that is longer. On a
/// machine of backend host the ranks of a host share its memory.
/// can_stay_in_kernel: the case lets one kernel hold the loop, which one rank does where the matrix fits.
StepTime step_time(const Machine&, const StepWork&, const RankPart&, int ranks, bool can_stay_in_kernel = true);

/// Of `ranks` ranks that fill host after host.
int hosts_of(const Machine&, int ranks);
/// Microseconds that a sum of so many ranks takes longer than one of one rank: measured sizes of a host, in between and
/// beyond by the logarithm; between hosts a constant and so much for each doubling.
double sum_us(const Machine&, int ranks);

}  // namespace krill::apps

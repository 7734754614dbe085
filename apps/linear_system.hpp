// The linear system that a case describes: read or generated, looked at, and refused where it cannot be solved.
#pragma once
#include <optional>
#include <string>

#include "krill/apps/report/record.hpp"
#include "krill/apps/transformation.hpp"

namespace krill::apps {

/// A x = b with the initial guess in x. Where it is transformed, A is the matrix of the new system, b and x are the
/// original ones.
template <class T>
struct LinearSystem {
  AnyMatrix<T> A;
  MatrixProperties properties;
  MatrixOrigin origin;
  Array<T> b = Array<T>(), x = Array<T>();
  std::optional<Array<T>> known = {};  ///< the solution, where b was made from one
  std::vector<std::string> notes = {};
  std::optional<Transformation<T>> transformation = {};
  TransformationReport transformed = {};
  std::optional<AnyMatrix<T>> original = {};  ///< where the system was scaled
};

/// The precision of the solve: as the case says, else float64, or complex128 where the matrix is complex. Reads the
/// head of a matrix file at most.
Precision resolve_precision(const Case&);

/// Reads or generates everything, scales and reorders it, in the format that the case asks for. Adds to timings.
/// Raises InvalidArgument, before vectors are read, where the matrix is not square, has no entries, or has one that is
/// not finite, and where the solver is pcg and the matrix is plainly not Hermitian or not positive definite and the
/// case does not say `assume: spd`; then where a vector has another length or an entry that is not finite. The text
/// names the entry.
template <class T>
LinearSystem<T> load_system(Context&, const Case&, Timings&);

/// A vector of `size` entries that are uniform in [-1, 1), both parts where complex: the same on every machine. The
/// purposes of one seed are independent.
enum class RandomPurpose { rhs = 101, known_solution, initial_guess };
template <class T>
std::vector<T> random_vector(std::int64_t size, int seed, RandomPurpose);

/// "data/bar.mtx", or "generated poisson3d".
std::string source_name(const MatrixSource&);

/// Raises InvalidArgument where the vector, which messages call `what`, has another length or an entry that is not
/// finite.
template <class T>
void require_vector(const std::string& what, const Columns<T>&, std::int64_t size);

}  // namespace krill::apps

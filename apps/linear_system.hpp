// The linear system that a case describes: read or generated, looked at, and refused where it cannot be solved.
#pragma once
#include <memory>
#include <optional>
#include <string>

#include "krill/apps/report/record.hpp"
#include "krill/apps/transformation.hpp"

namespace krill::apps {

/// The matrix of a case as it was read or generated, and the right-hand side that its file carries.
template <class T>
struct SourceMatrix {
  AnyMatrix<T> A;  ///< in CSR
  MatrixOrigin origin;
  std::optional<Columns<T>> rhs = {};
  std::string rhs_name = {};
  MatrixProperties properties = {};

  SourceMatrix clone() const;
};

/// A x = b with the initial guess in x. Where it is transformed, A is the matrix of the new system, b and x are the
/// original ones.
template <class T>
struct LinearSystem {
  AnyMatrix<T> A;
  Case settings;                           ///< what was `auto` of the method is chosen
  std::vector<ChoiceReason> choices = {};  ///< why
  MatrixProperties properties = {};
  MatrixOrigin origin = {};
  Array<T> b = Array<T>(), x = Array<T>();
  std::optional<Array<T>> known = {};  ///< the solution, where b was made from one
  std::vector<std::string> notes = {};
  std::unique_ptr<Transformation<T>> transformation = {};
  TransformationReport transformed = {};
  std::optional<AnyMatrix<T>> original = {};  ///< where the system was scaled
};

/// On the backend, the device and the threads that the case asks for. Raises NoDevice.
Context make_context(const Case&);

/// The precision of the solve: as the case says, else float64, or complex128 where the matrix is complex. Reads the
/// head of a matrix file at most.
Precision resolve_precision(const Case&);

/// Reads or generates the matrix and looks at its entries. Adds to timings. Raises InvalidArgument that names the entry
/// where it is not square, has no entries, or has one that is not finite.
template <class T>
SourceMatrix<T> load_matrix(Context&, const MatrixSource&, Timings&);

/// Reads or makes the vectors, chooses what the case leaves open of the method, scales and reorders the system, in the
/// format that the case asks for. Adds to timings.
/// Raises InvalidArgument, before vectors are read, where the solver is pcg and the matrix is plainly not Hermitian or
/// not positive definite and the case does not say `assume: spd`; then where a vector has another length or an entry
/// that is not finite. The text names the entry.
template <class T>
LinearSystem<T> make_system(Context&, const Case&, SourceMatrix<T>, Timings&);

/// Both, one after the other.
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

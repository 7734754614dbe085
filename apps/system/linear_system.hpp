// The linear system that a case describes: read or generated, looked at, and refused where it cannot be solved.
#pragma once
#include <optional>
#include <string>

#include "apps/report/record.hpp"
#include "solvers/system/stages.hpp"

namespace krill::apps {

/// The matrix of a case as it was read or generated, and the right-hand side that its file carries.
template <class T>
struct SourceMatrix {
  AnyMatrix<T> A;  ///< in CSR
  MatrixOrigin origin;
  std::optional<Columns<wide_t<T>>> rhs = {};
  std::string rhs_name = {};
  std::shared_ptr<const AnyMatrix<wide_t<T>>> given = {};  ///< what A was rounded from; null where it is that itself
  MatrixProperties properties = {};
  std::int32_t systems = 0;  ///< of a batch, the diagonal blocks of A; 0: one system
  std::shared_ptr<const Dense<double>> coordinates =
      {};                                      ///< of nodes, nodes x dimensions; null where they are not known
  std::optional<RowPartition> partition = {};  ///< of a team whose ranks have their own rows of A only

  SourceMatrix clone() const;
};

/// A x = b as it is solved, with the original b and the initial guess in x. Several right-hand sides, and their x, lie
/// one after the other.
template <class T>
struct LinearSystem {
  PreparedSystem<T> prepared;
  Array<T> b, x;
  std::optional<Array<T>> known;  ///< the solution, where b was made from one
};

/// OpenMP gives the calling thread as many threads as the case asks for, if it does, from now on: to readers, and to
/// the host side of a CUDA context.
void take_threads(const Case&);
/// On the backend, the device and the threads that the case asks for; the calling thread takes them. Raises NoDevice.
Context make_context(const Case&);

/// The precision of the solve: as the case says, else float64, or complex128 where the matrix is complex. Reads the
/// head of a matrix file at most.
Precision resolve_precision(const Case&);

/// Reads or generates the matrix and looks at its entries; a batch becomes one block diagonal matrix. A file is read in
/// double precision, and rounded. Adds to timings. Raises InvalidArgument that names the entry where it is not square,
/// has no entries, or has one that is not finite (in a batch that is its system's business), where its greatest one
/// lies outside of the range of T, and where coordinates are not finite, or not of nodes that share the rows evenly.
template <class T>
SourceMatrix<T> load_matrix(Context&, const MatrixSource&, Timings&);

/// A matrix in the precision of the solve, which keeps it as it was given where values were rounded. Raises
/// InvalidArgument where its greatest entry lies outside of the range of T.
template <class T>
SourceMatrix<T> rounded(AnyMatrix<wide_t<T>> A, MatrixOrigin);

/// The coordinates of a matrix of so many rows from a file; null where the case names none. Raises InvalidArgument
/// where they are not finite, or not of nodes that share the rows evenly.
std::shared_ptr<const Dense<double>> read_coordinates(const MatrixFile&, std::int64_t matrix_rows);

/// Reads or makes the vectors, chooses what the record's case leaves open of the method, scales and reorders the
/// system, in the format that the case asks for, and with a team in the partition, whose file is read. Where A or b
/// from a file was rounded to T, the system keeps them as they were given, as its judge. Where ranks have their own
/// rows, and what was chosen looks at the whole matrix, each loads that. The record tells of all this; its times grow.
/// Raises InvalidArgument, before vectors are read, where the solver is pcg and the matrix is plainly not Hermitian or
/// not positive definite and the case does not say `assume: spd`; then where a vector has another length or an entry
/// that is not finite. The text names the entry. Of several right-hand sides, one that is not finite is noted, and the
/// others have nothing to do with it.
template <class T>
LinearSystem<T> make_system(Context&, SolveRecord&, SourceMatrix<T>);

/// Chooses what the settings leave open of the method, and refuses what the matrix does not allow, as make_system.
template <class T>
std::vector<ChoiceReason> choose_method(SolveOptions& settings, const SourceMatrix<T>&, bool on_cuda);

/// Both, one after the other.
template <class T>
LinearSystem<T> load_system(Context&, SolveRecord&);

/// A vector of `size` entries that are uniform in [-1, 1), both parts where complex: the same on every machine. The
/// purposes of one seed are independent.
enum class RandomPurpose { rhs = 101, known_solution, initial_guess };
template <class T>
std::vector<T> random_vector(std::int64_t size, int seed, RandomPurpose);

/// The right-hand sides of a file, or of several: the columns of one after those of the other. Raises InvalidArgument
/// that names the file where it has no columns, or another number of rows.
template <class T>
Columns<T> read_rhs(const std::string& path, std::int64_t rows);

/// How many right-hand sides a case has, whose matrix is no batch; carried: as many come with the matrix. Reads the
/// heads of files. Raises as reading them does.
std::int64_t count_rhs(const Case&, std::int32_t carried);

/// "data/bar.mtx", or "generated poisson3d".
std::string source_name(const MatrixSource&);

/// Raises InvalidArgument where the vector, which messages call `what`, has another length or an entry that is not
/// finite.
template <class T>
void require_vector(const std::string& what, const Columns<T>&, std::int64_t size);

}  // namespace krill::apps

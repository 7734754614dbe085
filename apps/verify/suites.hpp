// What is verified: a suite for each family of kernels. Whoever adds a kernel adds a function, or a line to the one of
// its family, and a line to the table at the end.
#pragma once
#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/samples/formats.hpp"
#include "apps/verify/ledger.hpp"
#include "apps/verify/references.hpp"
#include "solvers/options.hpp"
#include "solvers/precond/options.hpp"
#include "sparse/banded/banded_plan.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/formats/dense.hpp"
#include "sparse/scale/scaling.hpp"
#include "sparse/triangular/approximate.hpp"
#include "sparse/triangular/method.hpp"

namespace krill::apps::verify {

template <class T>
struct NamedVector {
  std::string name;
  std::vector<T> values;
};

/// Two vectors of fixed random numbers: entries uniform in [-1, 1), and those times powers of two from 2^-20 to 2^20,
/// so that small entries stand beside large ones. `stream` makes others of them.
template <class T>
std::vector<NamedVector<T>> random_vectors(std::int64_t size, int stream);

/// A matrix, and vectors to try its kernels on.
template <class T>
struct Subject {
  std::string name;  ///< "poisson2d, float64"
  Csr<T> A;
  Rows<T> rows;
  std::vector<NamedVector<T>> x, y;  ///< as many each; A.cols() and A.rows() entries
  std::vector<T> rhs, guess;         ///< of whole solves: the first y and zeros, where nobody changes them
  std::shared_ptr<const Dense<double>> coordinates = {};  ///< of nodes, for preconditioners; null: not known

  /// `more`: a vector to try beside the random ones; empty: none.
  Subject(std::string subject, Csr<T> matrix, const NamedVector<T>& more = {});
  bool is_square() const { return A.rows() == A.cols(); }
};

enum class OrderingMethod { rcm, amd, nested_dissection, color };
inline constexpr std::array<std::string_view, 4> ordering_method_names{"rcm", "amd", "nested dissection", "color"};

/// A solve with the bands of a subject's matrix.
struct BandedSample {
  std::optional<BandedMethod> method;  ///< none: thomas where rows are dominant, else lu, as preconditioners do
  int diagonals = 3;
  BandLayout layout{};  ///< 0 rows: one system of all that the matrix has
};
/// Systems of drawn numbers.
struct BandedBatch {
  std::int32_t rows, systems;
};

/// Which kernels and which ways of them.
struct Selection {
  bool whole_library = false;  ///< kernels that only an application calls, too: sparse vectors, sorts, dense matrices
  std::vector<NamedFormat> formats;
  NamedFormat solved_in{"csr", Format::csr};  ///< what preconditioners and solvers get A in
  std::vector<Op> ops;
  std::vector<ScalingMethod> scalings;
  std::vector<OrderingMethod> orderings;
  bool matches = false;  ///< rows to columns
  std::vector<Triangle> triangles;
  std::vector<TriangularMethod> triangular;
  std::vector<ApproximateOptions> approximate;
  std::vector<BandedSample> banded;
  std::vector<BandedBatch> banded_batches;  ///< which `banded` is tried on, too, in every layout
  std::vector<PreconditionerOptions> preconditioners;
  std::vector<std::pair<SolverOptions, PreconditionerOptions>> solves;
};

template <class T>
using SuiteFunction = void(Ledger&, Context&, const Subject<T>&, const Selection&);

template <class T>
void check_vectors(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_sparse_vectors(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_conversions(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_products(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_mixed_products(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_scalings(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_orderings(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_triangles(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_banded(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_factorizations(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_coarsening(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_multigrid(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_preconditioners(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_bases(Ledger&, Context&, const Subject<T>&, const Selection&);
template <class T>
void check_solvers(Ledger&, Context&, const Subject<T>&, const Selection&);

template <class T>
struct CheckSuite {
  std::string_view group;
  SuiteFunction<T>* run;
};

template <class T>
inline constexpr CheckSuite<T> suites[] = {
    {"vectors", check_vectors<T>},
    {"sparse vectors", check_sparse_vectors<T>},
    {"conversions", check_conversions<T>},
    {"products", check_products<T>},
    {"mixed products", check_mixed_products<T>},
    {"scalings", check_scalings<T>},
    {"orderings", check_orderings<T>},
    {"triangular solves", check_triangles<T>},
    {"banded solves", check_banded<T>},
    {"factorizations", check_factorizations<T>},
    {"coarsening", check_coarsening<T>},
    {"multigrid", check_multigrid<T>},
    {"preconditioners", check_preconditioners<T>},
    {"bases", check_bases<T>},
    {"solvers", check_solvers<T>},
};

/// Runs all of them.
template <class T>
void run_suites(Ledger& ledger, Context& ctx, const Subject<T>& subject, const Selection& selection) {
  for (const CheckSuite<T>& suite : suites<T>) {
    ledger.about(std::string(suite.group), subject.name);
    ledger.check_all([&] { suite.run(ledger, ctx, subject, selection); });
  }
}

}  // namespace krill::apps::verify

// The matrices that are measured: suites, model problems, files.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "apps/case/case.hpp"

namespace krill::apps::bench {

/// row_entries distinct columns in each row, uniform over all: products read x all over the place. Unsymmetric.
struct RandomColumns {
  int rows, row_entries;
};

/// Rows whose lengths follow a power law (exponent 7/3, at most a twentieth of all columns), in columns that do, too
/// (exponent 8/3), the popular ones spread over the matrix. About 12.6 entries a row where there are a million of them.
/// Unsymmetric.
struct PowerLaw {
  int rows;
};

/// A matrix, by name and recipe.
struct BenchMatrix {
  std::string name;
  std::variant<GeneratorOptions, RandomColumns, PowerLaw, MatrixFile> source;
};

inline constexpr std::array<std::string_view, 2> suite_names{"targets", "small"};
/// The same seven families, large enough for a device ("targets") or so that a host takes seconds ("small").
std::vector<BenchMatrix> suite(std::string_view name);

/// What `--matrix FILE` and `--matrix NAME key=value...` name; NAME is a generator or a matrix of a suite. Raises
/// InvalidArgument with a proposal, and what peek_matrix raises for a file that is none.
BenchMatrix named_matrix(const std::string& name, const std::vector<std::string>& settings);

/// The same problem on a grid with that many times the points along its last direction, so that ranks with equal shares
/// of its neighboring rows have the whole grid's shape each. Nothing where the matrix is no grid's.
std::optional<BenchMatrix> enlarged(const BenchMatrix&, int times);

/// Of a matrix whose rows ranks make one by one, without the others; null of others.
const GeneratorOptions* own_rows_of(const BenchMatrix&);

/// Whether the entries are complex; reads the head of a file.
bool needs_complex(const BenchMatrix&);

/// How often the matrix of a file stands on the diagonal, so that it fills the machine.
struct RepeatBlocks {
  std::int64_t times = 0;    ///< 0: until the CSR form has `min_bytes`
  double min_bytes = 512e6;  ///< for times = 0
};

/// A matrix in CSR form, under the name that its rows get: "p3d256", "bcsstk08 x 120".
template <class T>
struct MadeMatrix {
  std::string name;
  AnyMatrix<T> A;
};
/// Raises as generate() and read_matrix() do.
template <class T>
MadeMatrix<T> make_matrix(const BenchMatrix&, const RepeatBlocks&);

/// diag(A, ..., A), A in CSR form; 64-bit offsets from 2^31 entries on. Raises InvalidArgument where the rows or
/// columns exceed 2^31 - 1, and OutOfMemory before anything is allocated.
template <class T>
AnyMatrix<T> repeat_blocks(const AnyMatrix<T>& A, std::int64_t times);

/// f(A) with the matrix that A holds, which is one of the two CSR forms.
template <class T, class F>
decltype(auto) with_csr(const AnyMatrix<T>& A, F&& f) {
  if (const auto* narrow = std::get_if<Csr<T, std::int32_t>>(&A)) return f(*narrow);
  return f(std::get<Csr<T, std::int64_t>>(A));
}

}  // namespace krill::apps::bench

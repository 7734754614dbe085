#include "sparse/convert/convert.hpp"

#include <fmt/format.h>

#include <complex>
#include <filesystem>

#include "apps/commands/commands.hpp"
#include "apps/support/print.hpp"
#include "sparse/convert/prune.hpp"
#include "sparse/io/analyze.hpp"
#include "sparse/io/matrix_text.hpp"
#include "sparse/io/read.hpp"
#include "sparse/io/write_matrix_market.hpp"

namespace krill::apps {
namespace {

/// The symmetry that one triangle can be written with. Raises InvalidArgument with the entry that shows that there is
/// none.
Symmetry one_triangle(const std::string& input, const MatrixProperties& m) {
  if (m.symmetric) return Symmetry::symmetric;
  if (m.hermitian) return Symmetry::hermitian;
  if (m.skew) return Symmetry::skew_symmetric;
  constexpr std::string_view remedy = "leave out --symmetric";
  if (!m.not_symmetric)
    throw InvalidArgument(
        fmt::format("{}: {} x {} is not square, so not symmetric; {}", input, m.rows, m.cols, remedy));
  throw InvalidArgument(fmt::format("{}: {}, so the matrix is not symmetric; {}\n  rows and columns count from 0",
                                    input, entry_text(*m.not_symmetric), remedy));
}

/// A without the entries that the command drops.
template <class T>
AnyMatrix<T> without_small(const ConvertCommand& command, AnyMatrix<T> A) {
  if (!command.drop && !command.drop_percent) return A;
  Context ctx = Context::host();
  return with_csr(ctx, A, [&](const auto& csr) -> AnyMatrix<T> {
    return command.drop ? prune(ctx, csr, *command.drop) : prune_percentage(ctx, csr, *command.drop_percent);
  });
}

template <class T>
int convert(const ConvertCommand& command) {
  MatrixInput<T> input = read_matrix<T>(command.input);
  if (!command.rhs.empty() && !input.rhs)
    throw InvalidArgument(fmt::format("{}: no right-hand side came with this matrix; leave out --rhs", command.input));

  CanonicalReport report;
  std::int64_t written = std::ssize(input.matrix.value);
  std::string how(name(input.matrix.symmetry));
  const bool drops = command.drop || command.drop_percent;
  if (command.symmetric || command.general || drops) {
    const Symmetry stored = input.matrix.symmetry;
    const AnyMatrix<T> A = without_small(command, assemble(std::move(input.matrix), report));
    const Symmetry symmetry = command.general     ? Symmetry::general
                              : command.symmetric ? one_triangle(command.input, analyze(Host{}, A))
                                                  : stored;
    write_matrix_market(command.output, A, symmetry);
    written = nnz(A);
    how = name(symmetry);
  } else {
    write_matrix_market(command.output, input.matrix);
  }
  if (input.rhs && !command.rhs.empty())
    write_vector(command.rhs, std::span<const T>(input.rhs->values), input.rhs->cols);

  std::string text =
      fmt::format("{}: {} x {}, {} entries, {}", command.output, input.kind.rows, input.kind.cols, written, how);
  if (drops) text += fmt::format(", {} dropped", report.nnz - written);
  if (report.duplicates > 0) text += fmt::format(", {} duplicates summed", report.duplicates);
  if (input.rhs)
    text += command.rhs.empty() ? fmt::format("; {} was left (--rhs FILE writes it)", input.rhs_name)
                                : fmt::format("; {}: its right-hand side", command.rhs);
  print(text + "\n");
  return 0;
}

/// Whether both names are of one file, which may not be there yet; devices take both in turn.
bool same_file(const std::string& a, const std::string& b) {
  namespace fs = std::filesystem;
  std::error_code unknown;
  if (fs::exists(a, unknown) && !fs::is_regular_file(a, unknown)) return false;
  return fs::weakly_canonical(fs::absolute(a), unknown) == fs::weakly_canonical(fs::absolute(b), unknown);
}

}  // namespace

int run_convert(const ConvertCommand& command) {
  if (!command.rhs.empty() && same_file(command.output, command.rhs))
    throw InvalidArgument(
        fmt::format("--rhs {}: the matrix goes into this file; give the right-hand side one of its own", command.rhs));
  return peek_matrix(command.input).field == Field::complex ? convert<std::complex<double>>(command)
                                                            : convert<double>(command);
}

}  // namespace krill::apps

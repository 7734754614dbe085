#include <fmt/format.h>

#include <complex>
#include <filesystem>

#include "apps/case/fill.hpp"
#include "apps/case/generator.hpp"
#include "apps/commands/commands.hpp"
#include "apps/support/print.hpp"
#include "apps/support/terminal.hpp"
#include "sparse/io/analyze.hpp"
#include "sparse/io/tar_file.hpp"
#include "sparse/io/write_matrix_market.hpp"

namespace krill::apps {
namespace {

/// The command that makes the same matrix, with all defaults filled in.
std::string recipe(const GeneratorOptions& options) {
  std::string text = "krill generate";
  std::visit(
      [&]<class Options>(Options copy) {
        text += fmt::format(" {}", Options::type);
        const auto json = ToJson::dump(copy);
        for (const auto& [key, value] : json.items())
          text += fmt::format(" {}={}", key, value.is_string() ? value.template get<std::string>() : value.dump());
      },
      options);
  return text;
}

template <class T>
int write(const GeneratorOptions& options, const std::string& output) {
  const AnyMatrix<T> A = generate<T>(options);
  if (names_tar_archive(output)) {
    const std::int32_t systems = systems_of(options);
    if (systems == 0)
      throw InvalidArgument(fmt::format(
          "{}: an archive is for a batch of systems (banded_batch); a single matrix goes to a file NAME.mtx", output));
    write_batch(output, A, systems, recipe(options));
    print(fmt::format("{}: {} systems of {} rows, {} entries, {}\n", output, systems, rows(A) / systems, nnz(A),
                      human_bytes(std::filesystem::file_size(output))));
    return 0;
  }
  const MatrixProperties m = analyze(Host{}, A);
  const Symmetry symmetry = m.symmetric ? Symmetry::symmetric : m.hermitian ? Symmetry::hermitian : Symmetry::general;
  write_matrix_market(output, A, symmetry, recipe(options));
  std::error_code not_a_file;
  const auto bytes = std::filesystem::file_size(output, not_a_file);
  if (!not_a_file)
    print(wrapped(fmt::format("{}: {} x {}, {} entries, {}, {}", output, m.rows, m.cols, m.nnz, name(symmetry),
                              human_bytes(bytes)),
                  2) +
          "\n");
  return 0;
}

void write_coordinates(const GeneratorOptions& options, const std::string& name, const std::string& output) {
  const auto coordinates = node_coordinates(options);
  if (!coordinates)
    throw InvalidArgument(
        fmt::format("--coordinates {}: {} has none; elasticity3d has, with several unknowns at a place", output, name));
  write_vector<double>(output, coordinates->values().host(), coordinates->cols(), recipe(options));
  print(fmt::format("{}: {} nodes\n", output, coordinates->rows()));
}

}  // namespace

int run_generate(const GenerateCommand& command) {
  const GeneratorOptions options = parse_generator(command.name, command.settings);
  if (!command.coordinates.empty()) write_coordinates(options, command.name, command.coordinates);
  return needs_complex(options) ? write<std::complex<double>>(options, command.output)
                                : write<double>(options, command.output);
}

}  // namespace krill::apps

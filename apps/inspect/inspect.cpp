#include "apps/inspect/inspect.hpp"

#include <fmt/format.h>

#include <complex>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "apps/case/parts.hpp"
#include "apps/inspect/inspection.hpp"
#include "apps/support/print.hpp"
#include "sparse/io/atomic_file.hpp"

namespace krill::apps {
namespace {

template <class T>
Inspection look_at(const InspectCommand& command) {
  MatrixInput<T> input = read_matrix<T>(command.matrix);
  Inspection found;
  found.path = command.matrix, found.checksum = input.checksum;
  found.rhs_name = input.rhs_name, found.kind = input.kind;
  const AnyMatrix<T> A = assemble(std::move(input.matrix), found.canonical);
  Context host = Context::host();
  found.properties = analyze(host.host_tag(), A);
  found.structure = look_at_structure(host, A, found.properties, command.levels);
  found.findings = diagnose(found.properties, found.structure);
  found.for_cuda = command.backend == "cuda" || (command.backend == "auto" && device::count() > 0);
  if (found.can_be_solved()) found.choice = choose(found.properties, found.for_cuda);
  if (!command.out.empty()) found.raster = rasterize(A);
  return found;
}

/// inspection.json, spy.svg, rows.svg and, where the matrix can be solved with, suggested.yaml.
void write_files(const Inspection& found, const std::string& out) {
  const std::filesystem::path folder(out);
  make_output_folder(folder);
  const std::string name = std::filesystem::path(found.path).filename().string();
  atomic_write(folder / "inspection.json",
               inspection_json(found).dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n");
  atomic_write(folder / "spy.svg", spy_plot(found.raster, name));
  atomic_write(folder / "rows.svg", row_plot(found.structure.rows_by_length, name));
  if (found.can_be_solved())
    atomic_write(folder / "suggested.yaml",
                 suggested_case(found, std::filesystem::proximate(found.path, folder).string()));
}

}  // namespace

int run_inspect(const InspectCommand& command) {
  require_text_name(command.matrix);
  const bool complex = peek_matrix(command.matrix).field == Field::complex;
  const Inspection found = complex ? look_at<std::complex<double>>(command) : look_at<double>(command);
  if (!command.out.empty()) write_files(found, command.out);
  print(command.json ? inspection_json(found).dump(2) + "\n" : inspection_text(found, Paint(stdout)));
  return 0;
}

}  // namespace krill::apps

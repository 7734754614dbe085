// schema, explain, formats, solvers, preconditioners: what stands in the code, for people and editors.
#include <fmt/format.h>

#include "apps/case/json_schema.hpp"
#include "apps/case/reference.hpp"
#include "apps/commands/commands.hpp"
#include "apps/evaluate/sweep.hpp"
#include "apps/evaluate/sweep_schema.hpp"
#include "apps/support/print.hpp"

namespace krill::apps {
namespace {

int list(std::string_view key) {
  print(fmt::format("{}: {{type: ...}}\n\n{}\n`krill explain TYPE` tells more.\n", key, list_types(case_key(key))));
  return 0;
}

}  // namespace

int run_schema(const SchemaCommand& command) {
  if (command.sweep)
    print(command.markdown ? key_table(evaluate::sweep_keys(), "") : evaluate::sweep_schema().dump(2) + "\n");
  else
    print(command.markdown ? case_reference() : case_schema().dump(2) + "\n");
  return 0;
}

int run_explain(const ExplainCommand& command) {
  print(explain(command.key, evaluate::sweep_keys()));
  return 0;
}

int run_formats() {
  print(
      "format: ...  in a case, of the products of the solve\n\n"
      "  auto         what moves the fewest bytes: csr, or a coded copy that is made and timed\n"
      "  csr          compressed sparse row: 12 bytes an entry (float64) and 4 a row\n"
      "  csc          compressed sparse column\n"
      "  coo          coordinates, sorted by row: 16 bytes an entry (float64)\n"
      "  coo_aos      the same, row and column of an entry side by side\n"
      "  bsr          square blocks: layout.block_rows\n"
      "  bsrx         the same, with an end of its own for each block row\n"
      "  gebsr        rectangular blocks: layout.block_rows, block_cols\n"
      "  gebsc        the same by columns\n"
      "  ell          every row as long as the longest\n"
      "  sell         the same in slices: layout.slice_rows, sort_window\n"
      "  hll          the same under its other name\n"
      "  hyb          ell for the usual rows, coo for what is beyond: layout.ell_width\n"
      "  dia          diagonals\n"
      "  hdia         the same for each layout.hack_rows rows\n"
      "  blocked_ell  as many blocks in every block row: layout.block_rows\n\n"
      "docs/formats.md draws them all.\n\n"
      "Files that are read, plain or packed (.gz, .bz2, .xz, .zst, SuiteSparse .tar.gz)\n\n"
      "  Matrix Market       coordinate and array; real, integer, complex, pattern;\n"
      "                      general, symmetric, skew-symmetric, hermitian\n"
      "  Harwell-Boeing, Rutherford-Boeing    assembled matrices\n\n"
      "Files that are written: Matrix Market, plain.\n");
  return 0;
}

int run_solvers() { return list("solver"); }
int run_preconditioners() { return list("preconditioner"); }

}  // namespace krill::apps

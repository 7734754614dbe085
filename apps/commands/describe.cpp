// schema, explain, formats, solvers, preconditioners: what stands in the code, for people and editors.
#include <fmt/format.h>

#include "apps/case/json_schema.hpp"
#include "apps/case/reference.hpp"
#include "apps/commands/commands.hpp"
#include "apps/evaluate/sweep.hpp"
#include "apps/evaluate/sweep_schema.hpp"
#include "apps/support/print.hpp"
#include "apps/support/terminal.hpp"
#include "sparse/formats/format.hpp"

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
  std::string formats;
  for (const FormatFacts& f : format_facts)
    formats += fmt::format("  {:<11}  {}\n", f.name, wrapped(std::string(f.doc), 15));
  print("format: ...  in a case, of the products of the solve\n\n" + formats +
        "\n"
        "docs/formats.md draws them all.\n\n"
        "Files that are read, plain or packed (.gz, .bz2, .xz, .zst, SuiteSparse .tar.gz)\n\n"
        "  Matrix Market       coordinate and array; real, integer, complex, pattern;\n"
        "                      general, symmetric, skew-symmetric, hermitian\n"
        "  Harwell-Boeing, Rutherford-Boeing    assembled matrices\n"
        "  hypre IJ            A.00000, A.00001, ..., of HYPRE_IJMatrixPrint and\n"
        "                      HYPRE_IJVectorPrint: by the name of the first part, or A\n\n"
        "Files that are written: Matrix Market, plain.\n");
  return 0;
}

int run_solvers() { return list("solver"); }
int run_preconditioners() { return list("preconditioner"); }

}  // namespace krill::apps

// The commands of the program but for solve (solve.hpp), as the command line hands them over. Each returns the exit
// code and raises Error where it cannot do what it should.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "krill/apps/case/case.hpp"

namespace krill::apps {

/// `krill generate NAME key=value ... -o FILE`.
struct GenerateCommand {
  std::string name;
  std::vector<std::string> settings;
  std::string output;
};
int run_generate(const GenerateCommand&);

/// The options of the generator of that name. Raises CaseError as a case does.
GeneratorOptions parse_generator(const std::string& name, const std::vector<std::string>& settings);

/// `krill convert IN OUT`.
struct ConvertCommand {
  std::string input, output;
  std::string rhs;         ///< where to write the right-hand side that came along; empty: nowhere
  bool symmetric = false;  ///< canonical, one triangle
  bool general = false;    ///< canonical, all entries
};
int run_convert(const ConvertCommand&);

/// `krill inspect MATRIX`.
struct InspectCommand {
  std::string matrix;
  std::string out;               ///< folder for inspection.json, spy.svg, rows.svg and suggested.yaml; empty: none
  std::string backend = "auto";  ///< auto | host | cuda: what the suggested case is for
  bool levels = false;           ///< look for levels whatever the size
  bool json = false;
};
int run_inspect(const InspectCommand&);

/// `krill verify CASE.yaml`, `krill verify --all`.
struct VerifyCommand {
  std::string case_path;               ///< empty with `all`
  std::vector<std::string> overrides;  ///< "path=value", in the order given
  std::string variant;                 ///< which of the case's variants; empty: the case without them
  bool environment = false;            ///< fill in ${NAME}
  std::string backend;                 ///< auto | host | cuda; empty: as the case says
  std::string out;                     ///< folder of the output files; default: out/verify-<case name>
  bool all = false;                    ///< the gallery in place of a case
  bool quiet = false;                  ///< print nothing but failures
  bool json = false;                   ///< print verification.json, and nothing else, to stdout
};
/// Writes verification.json and, for a case, residuals.svg. The exit code: 0 no check has failed; 1 one has.
int run_verify(const VerifyCommand&);

/// `krill bench`.
struct BenchCommand {
  std::vector<std::string> kernels;   ///< none: all but the solvers; "solvers": all of these
  std::vector<std::string> matrices;  ///< the words after --matrix: names, each followed by its settings
  std::string suite;                  ///< targets, small, or a file with a list of matrices
  std::string formats;                ///< "csr,coo"; empty: all
  std::string precisions;             ///< "float32,float64"; empty: as the matrix
  std::string backend = "auto";       ///< auto | host | cuda
  std::string compare = "none";       ///< none | cusparse | eigen
  std::string repeat_blocks = "auto";
  std::string out;  ///< where the JSON goes; empty: nowhere
  int threads = 0;  ///< of the host; 0: as many as OpenMP gives
  int device = 0;
  bool warm = false;                   ///< data may stay in the cache
  std::vector<std::string> diff;       ///< two results to compare, and nothing is measured
  double tolerance = 0.05;             ///< relative change of a time that does not count
  std::string fail_on = "regression";  ///< regression | none: what of a comparison is exit code 1
  std::string markdown;                ///< a result to print, and nothing is measured
  std::string roofline;                ///< where the picture goes; empty: nowhere
};
int run_bench(const BenchCommand&);

/// `krill schema`.
struct SchemaCommand {
  bool markdown = false;
  bool sweep = false;  ///< of sweeps, in place of cases
};
int run_schema(const SchemaCommand&);

/// `krill explain KEY`.
struct ExplainCommand {
  std::string key;
};
int run_explain(const ExplainCommand&);

int run_formats();
int run_solvers();
int run_preconditioners();

/// `krill version`.
struct VersionCommand {
  bool json = false;
};
int run_version(const VersionCommand&);

/// Writes to the standard output. Raises Error where that is closed or full.
void print(std::string_view text);

}  // namespace krill::apps

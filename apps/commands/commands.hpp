// The commands that have no room of their own but for solve (solve.hpp), as the command line hands them over. Each
// returns the exit code and raises Error where it cannot do what it should.
#pragma once
#include <optional>
#include <string>
#include <vector>

namespace krill::apps {

/// `krill generate NAME key=value ... -o FILE`.
struct GenerateCommand {
  std::string name;
  std::vector<std::string> settings;
  std::string output;
  std::string coordinates;  ///< where to write those of the nodes; empty: nowhere
};
int run_generate(const GenerateCommand&);

/// `krill convert IN OUT`.
struct ConvertCommand {
  std::string input, output;
  std::string rhs;                           ///< where to write the right-hand side that came along; empty: nowhere
  bool symmetric = false;                    ///< canonical, one triangle
  bool general = false;                      ///< canonical, all entries
  std::optional<double> drop, drop_percent;  ///< canonical, without its small entries; one of both at most
};
int run_convert(const ConvertCommand&);

/// `krill verify CASE`, `krill verify --all`.
struct VerifyCommand {
  std::string case_path;               ///< empty with `all`
  std::vector<std::string> overrides;  ///< "path=value", in the order given
  std::string variant;                 ///< which of the case's variants; empty: the case without them
  bool environment = false;            ///< fill in ${NAME}
  std::string backend;                 ///< auto | host | cuda; empty: as the case says
  int threads = 0;                     ///< host threads; 0: as the case says
  std::string out;                     ///< folder of the output files; default: out/verify-<case name>
  bool all = false;                    ///< the gallery in place of a case
  bool quiet = false;                  ///< print nothing but failures
  bool json = false;                   ///< print verification.json, and nothing else, to stdout
};
/// Writes verification.json and, for a case, residuals.svg. The exit code: 0 no check has failed; 1 one has.
int run_verify(const VerifyCommand&);

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

}  // namespace krill::apps

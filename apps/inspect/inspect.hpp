// `krill inspect`, as the command line hands it over.
#pragma once
#include <string>

namespace krill::apps {

/// `krill inspect MATRIX`.
struct InspectCommand {
  std::string matrix;
  std::string out;               ///< folder for inspection.json, spy.svg, rows.svg and suggested.yaml; empty: none
  std::string backend = "auto";  ///< auto | host | cuda: what the suggested case is for
  bool levels = false;           ///< look for levels whatever the size
  bool json = false;
};
/// Returns the exit code; raises Error where it cannot do what it should.
int run_inspect(const InspectCommand&);

}  // namespace krill::apps

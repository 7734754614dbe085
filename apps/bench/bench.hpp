// `krill bench`, as the command line hands it over.
#pragma once
#include <string>
#include <vector>

namespace krill::apps {

/// `krill bench`.
struct BenchCommand {
  std::vector<std::string> kernels;   ///< none: all but banded and the solvers; "solvers": all of these
  std::vector<std::string> matrices;  ///< the words after --matrix: names, each followed by its settings
  std::string suite;                  ///< targets, small, or a file with a list of matrices
  std::string formats;                ///< "csr,coo"; empty: all
  std::string preconditioners;        ///< of solvers: "none,jacobi"; empty: all
  std::string precisions;             ///< "float32,float64"; empty: as the matrix
  std::string shapes;                 ///< of banded: "3x1,sweep"; empty: those of the backend
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
  std::string roofline, heat_map;      ///< where the pictures go; empty: nowhere
};
/// Returns the exit code; raises Error where it cannot do what it should.
int run_bench(const BenchCommand&);

}  // namespace krill::apps

// What the words of `krill bench` ask for.
#pragma once
#include <string>
#include <vector>

#include "apps/bench/bench.hpp"
#include "apps/bench/bench_matrix.hpp"
#include "apps/bench/job.hpp"

namespace krill::apps::bench {

struct Request {
  std::vector<std::string> kernels;
  std::vector<BenchMatrix> matrices;
  std::vector<std::string> formats;          ///< empty: all
  std::vector<std::string> preconditioners;  ///< empty: all
  std::vector<Precision> precisions;         ///< Precision::automatic: double, complex where the matrix is
  RepeatBlocks repeat;
  std::vector<BandedShape> shapes;  ///< none where banded is not measured
};

/// Everything checked before anything is measured. `on_cuda` decides about defaults. Raises InvalidArgument that names
/// the word and what is allowed there.
Request parse_request(const BenchCommand&, bool on_cuda);

/// The kernels there are; those that are measured where none is named; the solvers, a group that "solvers" names; and
/// those that take no matrix.
std::vector<std::string> kernel_names();
std::vector<std::string> default_kernel_names();
std::vector<std::string> solver_names();
std::vector<std::string> standalone_kernel_names();

}  // namespace krill::apps::bench

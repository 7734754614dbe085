// What `krill bench` measured, and its JSON form. The schema is stable: docs/results/*.json and --diff live from it.
#pragma once
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace krill::apps::bench {

/// One measurement. Empty strings and optionals stand as null in the file.
struct Row {
  std::string kernel;                     ///< "spmv"
  std::string matrix;                     ///< "p3d256"; "case" in the file
  std::optional<std::int64_t> rows, nnz;  ///< of the matrix, whatever a format stores of it
  std::string precision;                  ///< "float64"
  std::string variant;                    ///< "csr"
  std::string cache;                      ///< "cold": the data come from memory; "warm": they may stay in the cache
  std::optional<double> ms;               ///< of one call: the median over the rounds
  std::optional<double> spread;           ///< (slowest round - fastest) / median
  std::optional<double> bytes, flops;     ///< that have to move, and to be computed, by work.hpp of its room
  std::optional<double> gbps;             ///< bytes / ms
  std::optional<double> ceiling_share;    ///< gbps / the largest ceiling
  std::string rival, rival_variant;       ///< "cuSPARSE 12.6.3"; its quickest algorithm
  std::optional<double> rival_ms, ratio;  ///< ratio = rival_ms / ms
  std::optional<std::int64_t> colors, rival_colors;  ///< of colorings
  std::optional<double> setup_ms;                    ///< conversion or analysis, once a matrix
  std::optional<double> break_even;                  ///< products until csr in place has cost more; null: never
  // Of solvers, where ms is one solve from x = 0.
  std::optional<std::int64_t> iterations, rival_iterations;
  std::optional<double> iteration_ms;  ///< ms / iterations
  std::optional<double> total_ms;      ///< setup_ms + ms: what one right-hand side costs
  std::optional<double> rival_setup_ms;
  /// Of sums and products of sparse matrices: memory beyond operands and result, at its most.
  std::optional<std::int64_t> workspace_bytes, rival_workspace_bytes;
  // Of scaling, where ms is one iteration on all ranks.
  std::optional<std::int64_t> ranks;
  std::optional<double> one_rank_ms;       ///< the same on one rank; of the matrix with a share of the rows, if weak
  std::optional<double> speed_up;          ///< rows a second beside those of one rank
  std::optional<double> efficiency;        ///< speed_up / ranks
  std::optional<std::int64_t> halo_bytes;  ///< the most that a rank gets from others for a product
  std::string rival_error;                 ///< why an algorithm of the rival has no time
  std::string error;                       ///< why there is no time
};

/// f(name in the file, member) for every field, in the order of the file.
template <class AnyRow, class F>
void for_each_field(AnyRow& row, F&& f) {
  f("kernel", row.kernel);
  f("case", row.matrix);
  f("rows", row.rows);
  f("nnz", row.nnz);
  f("precision", row.precision);
  f("variant", row.variant);
  f("cache", row.cache);
  f("ms", row.ms);
  f("spread", row.spread);
  f("bytes", row.bytes);
  f("flops", row.flops);
  f("gbps", row.gbps);
  f("ceiling_share", row.ceiling_share);
  f("rival", row.rival);
  f("rival_variant", row.rival_variant);
  f("rival_ms", row.rival_ms);
  f("ratio", row.ratio);
  f("colors", row.colors);
  f("rival_colors", row.rival_colors);
  f("setup_ms", row.setup_ms);
  f("break_even", row.break_even);
  f("iterations", row.iterations);
  f("iteration_ms", row.iteration_ms);
  f("total_ms", row.total_ms);
  f("rival_iterations", row.rival_iterations);
  f("rival_setup_ms", row.rival_setup_ms);
  f("workspace_bytes", row.workspace_bytes);
  f("rival_workspace_bytes", row.rival_workspace_bytes);
  f("ranks", row.ranks);
  f("one_rank_ms", row.one_rank_ms);
  f("speed_up", row.speed_up);
  f("efficiency", row.efficiency);
  f("halo_bytes", row.halo_bytes);
  f("rival_error", row.rival_error);
  f("error", row.error);
}

/// What the memory gives, in GB/s.
struct Ceilings {
  std::optional<double> copy;   ///< y = x
  std::optional<double> triad;  ///< two reads, one write
  std::optional<double> read;   ///< a sum
};
double largest(const Ceilings&);  ///< 0 where none was measured

/// One run of the benchmark.
struct Result {
  std::string commit, date, device, driver;
  Ceilings ceilings;
  std::vector<Row> rows;
};

nlohmann::ordered_json to_json(const Result&);

/// The runs of a file, at least one: as an object, or as a list. A field that is not there counts as null, and one that
/// is not known is ignored, so that files of other versions compare. Raises Error that names the file and what is wrong
/// in it.
std::vector<Result> read_results(const std::filesystem::path&);

/// The geometric mean of `ratio` over the rows of a kernel that have one.
struct GeometricMean {
  std::string kernel;
  double ratio = 1;
  int rows = 0;
};
std::vector<GeometricMean> geometric_means(const std::vector<Row>&);

}  // namespace krill::apps::bench

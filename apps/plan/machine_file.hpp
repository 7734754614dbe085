// A machine as predictions of time see it: a YAML file of figures, each with the place that it comes from.
//
//   name: two of my workstations
//   backend: host
//   memory:
//     gb_s: {value: 90, source: "measured: krill bench vector"}
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/range.hpp"

namespace krill::apps {

/// A number, and where it comes from: "measured: ..." or "assumed: ...".
struct Figure {
  double value = 0;
  std::string source;
  bool is_assumed() const { return source.starts_with("assumed"); }
};
inline constexpr std::string_view figure_source = "measured: where that stands, or assumed: why";
template <class Fields>
void describe(Fields& fields, Figure& o) {
  fields.value("value", o.value, at_least_zero, "the number, in the unit of its key");
  fields.value("source", o.source, any_value, figure_source);
}
/// One that something is divided by.
struct Rate : Figure {};
template <class Fields>
void describe(Fields& fields, Rate& o) {
  fields.value("value", o.value, above_zero, "the number, in the unit of its key");
  fields.value("source", o.source, any_value, figure_source);
}

struct MachineMemory {
  Rate gb_s, cache_gb_s;
  Figure cache_mb;
};
template <class Fields>
void describe(Fields& fields, MachineMemory& o) {
  fields.section("gb_s", o.gb_s, "GB/s that passes over vectors read and write in memory");
  fields.section("cache_mb", o.cache_mb, "MB of vectors and matrix that the last cache keeps from step to step");
  fields.section("cache_gb_s", o.cache_gb_s, "GB/s of what it has kept");
}

struct MachineProducts {
  Figure row_ps, entry_ps;
};
template <class Fields>
void describe(Fields& fields, MachineProducts& o) {
  fields.section("row_ps", o.row_ps, "picoseconds a row of a product takes, however few bytes its matrix has");
  fields.section("entry_ps", o.entry_ps, "picoseconds an entry takes then");
}

struct MachineKernels {
  Figure start_us, fork_us, barrier_us, resident_mb;
};
template <class Fields>
void describe(Fields& fields, MachineKernels& o) {
  fields.section("start_us", o.start_us, "microseconds of a kernel that its bytes do not take: its start and its end");
  fields.section("fork_us", o.fork_us, "microseconds that a branch for messages beside a product costs it");
  fields.section("barrier_us", o.barrier_us, "microseconds from barrier to barrier where one kernel holds the loop");
  fields.section("resident_mb", o.resident_mb,
                 "MB of a matrix in CSR that such a kernel has room for; 0: there is no such kernel");
}

/// Inside of a host.
struct MachineLink {
  Figure latency_us, sum_2_us, sum_4_us, sum_8_us;
  Rate gb_s;
};
template <class Fields>
void describe(Fields& fields, MachineLink& o) {
  fields.section("latency_us", o.latency_us, "microseconds of an exchange of ghosts without its bytes");
  fields.section("gb_s", o.gb_s, "GB/s from a rank to others of its host, one way");
  fields.section("sum_2_us", o.sum_2_us, "microseconds more of a sum that is one of 2 ranks");
  fields.section("sum_4_us", o.sum_4_us, "of 4 ranks");
  fields.section("sum_8_us", o.sum_8_us, "of 8 ranks");
}

/// Between hosts.
struct MachineNetwork {
  Figure latency_us, sum_us, sum_doubling_us, step_us;
  Rate gb_s;
};
template <class Fields>
void describe(Fields& fields, MachineNetwork& o) {
  fields.section("latency_us", o.latency_us, "microseconds of an exchange of ghosts without its bytes");
  fields.section("gb_s", o.gb_s, "GB/s from a rank to other hosts, one way");
  fields.section("sum_us", o.sum_us, "microseconds more of a sum where there are several hosts");
  fields.section("sum_doubling_us", o.sum_doubling_us, "and for each time that their number doubles");
  fields.section("step_us", o.step_us, "microseconds more of a step, as the hosts step loops of several of them");
}

struct MachineExtent {
  int ranks_a_host = 1, measured_ranks = 1, measured_hosts = 1;
};
template <class Fields>
void describe(Fields& fields, MachineExtent& o) {
  fields.value("ranks_a_host", o.ranks_a_host, at_least_one, "ranks that a host has room for: its devices or cores");
  fields.value("measured_ranks", o.measured_ranks, at_least_one,
               "ranks for which predictions were compared with measured times; more are extrapolated");
  fields.value("measured_hosts", o.measured_hosts, at_least_one, "hosts for which they were; more are extrapolated");
}

enum class MachineBackend { host, cuda };
inline constexpr std::array<std::string_view, 2> machine_backend_names{"host", "cuda"};

struct Machine {
  std::string file;  ///< where it was read
  std::string name, device;
  MachineBackend backend = MachineBackend::cuda;
  MachineExtent extent;
  MachineMemory memory;
  MachineProducts products;
  MachineKernels kernels;
  MachineLink link;
  MachineNetwork network;
};
template <class Fields>
void describe(Fields& fields, Machine& o) {
  fields.value("name", o.name, any_value, "what reports call it");
  fields.value("device", o.device, any_value, "what the names of its devices hold; host, where there are none");
  fields.choice("backend", o.backend, machine_backend_names,
                "cuda: a rank has a device of its own; host: the ranks of a host share its memory and its cores");
  fields.section("extent", o.extent, "how many ranks there may be, and for how many it was compared");
  fields.section("memory", o.memory, "of a rank's device; of a host all of it");
  fields.section("products", o.products, "matrix times vector where its bytes are not what takes the time");
  fields.section("kernels", o.kernels, "what is paid for each, whatever the size");
  fields.section("link", o.link, "between ranks of one host");
  fields.section("network", o.network, "between hosts");
}

/// Raises CaseError with all that is wrong, by line and column: no key may be missing, and every figure has to say
/// where it comes from.
Machine read_machine(const std::string& path);

/// The file of the machine that comes with the program: h200.yaml for CUDA, host.yaml for the host. Empty
/// where it does not lie beside the program.
std::string shipped_machine(bool for_cuda);

}  // namespace krill::apps

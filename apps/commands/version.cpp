#include <archive.h>
#include <fmt/format.h>
#include <omp.h>

#include <Eigen/Core>
#include <cstring>
#include <nlohmann/json.hpp>

#include "apps/commands/commands.hpp"
#include "apps/support/print.hpp"
#include "apps/support/terminal.hpp"
#include "sparse/core/config.hpp"
#include "sparse/core/device.hpp"
#include "sparse/core/error.hpp"
#include "sparse/core/optional_libraries.hpp"

namespace krill::apps {
namespace {

using Json = nlohmann::ordered_json;

Json devices() {
  Json list = Json::array();
  for (int i = 0; i < device::count(); ++i) {
    const DeviceInfo info = device::info(i);
    list.push_back({{"name", info.name},
                    {"compute_capability", info.compute_capability},
                    {"memory_bytes", info.memory_bytes},
                    {"driver", info.driver},
                    {"runtime", info.runtime}});
  }
  return list;
}

std::string_view present(bool in_this_build) { return in_this_build ? "in this build" : "not in this build"; }

Json collect() {
  Json cuda{{"compiled", with_cuda},
            {"compiler", cuda_compiler},
            {"architectures", cuda_architectures},
            {"devices", devices()},
            {"why_no_device", device::count() > 0 ? Json() : Json(device::absence())}};
  Json libraries{{"Eigen", fmt::format("{}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION, EIGEN_MINOR_VERSION)},
                 {"fmt", fmt::format("{}.{}.{}", FMT_VERSION / 10000, FMT_VERSION / 100 % 100, FMT_VERSION % 100)},
                 {"libarchive", std::string_view(archive_version_string()).substr(std::strlen("libarchive "))},
                 {"nlohmann_json", fmt::format("{}.{}.{}", NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                               NLOHMANN_JSON_VERSION_PATCH)},
                 {"OpenMP", _OPENMP},
                 {"METIS", present(with_metis)},
                 {"SuiteSparse", present(with_suitesparse)}};
  return {{"version", version},
          {"commit", git_commit()},
          {"build", build_type},
          {"compiler", cxx_compiler},
          {"threads", omp_get_max_threads()},
          {"cuda", std::move(cuda)},
          {"libraries", std::move(libraries)}};
}

std::string cuda_text(const Json& cuda) {
  if (!cuda["compiled"].get<bool>()) return "not in this build";
  return fmt::format("{}, architectures {}", cuda["compiler"].get<std::string>(),
                     cuda["architectures"].get<std::string>());
}

std::string table(const Json& all) {
  const auto word = [&](const char* key) { return all[key].get<std::string>(); };
  std::string text = fmt::format("krill {} ({})\n", word("version"), word("commit"));
  const auto row = [&](std::string_view key, const std::string& value) {
    text += fmt::format("  {:<14} {}\n", key, value);
  };
  row("compiler", fmt::format("{}, {}", word("compiler"), word("build")));
  row("threads", all["threads"].dump());
  row("CUDA", cuda_text(all["cuda"]));
  for (const auto& one : all["cuda"]["devices"])
    row("device", fmt::format("{}, compute capability {}, {}, driver {}", one["name"].get<std::string>(),
                              one["compute_capability"].get<std::string>(),
                              human_bytes(one["memory_bytes"].get<std::size_t>()), one["driver"].get<std::string>()));
  if (const auto& why = all["cuda"]["why_no_device"]; why.is_string())
    row("device", wrapped(why.get<std::string>(), 17));
  for (const auto& [name, value] : all["libraries"].items())
    row(name, value.is_string() ? value.get<std::string>() : value.dump());
  return text;
}

}  // namespace

int run_version(const VersionCommand& command) {
  const Json all = collect();
  print(command.json ? all.dump(2) + "\n" : table(all));
  return 0;
}

}  // namespace krill::apps

#include "apps/evaluate/inputs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

#include "apps/case/file_list.hpp"
#include "apps/evaluate/names.hpp"
#include "apps/support/machine.hpp"
#include "sparse/core/config.hpp"
#include "sparse/core/device.hpp"
#include "sparse/io/checksum.hpp"

namespace krill::apps::evaluate {
namespace {

std::vector<std::string> files_of(const Case& settings) {
  std::vector<std::string> files;
  if (const std::string* matrix = file_of(settings.matrix)) files.push_back(*matrix);
  if (const auto* rhs = std::get_if<FileRhs>(&settings.rhs); rhs && !rhs->path.empty())
    for (std::string& file : files_named(rhs->path)) files.push_back(std::move(file));
  if (const auto* guess = std::get_if<FileGuess>(&settings.initial_guess)) files.push_back(guess->path);
  return files;
}

std::string machine(const Case& settings) {
  const bool cuda = settings.backend != Backend::host && device::count() > settings.device;
  return cuda ? device::info(settings.device).name : processor();
}

std::string checksum_of(const std::string& path) {
  const auto fail = [&](int error_number) {
    throw Error(fmt::format("{}: cannot be read: {}", path, std::generic_category().message(error_number)));
  };
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) fail(errno);
  struct stat status {};
  fstat(descriptor, &status);
  const auto size = static_cast<std::size_t>(status.st_size);
  void* bytes = size > 0 ? mmap(nullptr, size, PROT_READ, MAP_PRIVATE, descriptor, 0) : nullptr;
  const int reason = errno;
  close(descriptor);
  if (bytes == MAP_FAILED) fail(reason);
  std::string sum = checksum({static_cast<const char*>(bytes), size});
  if (bytes) munmap(bytes, size);
  return sum;
}

}  // namespace

void Inputs::require(const Sweep& sweep) {
  for (std::size_t point = 0; point < sweep.points(); ++point)
    for (const std::string& file : files_of(sweep.sample(point))) file_checksum(file);
}

std::string Inputs::key(const Case& settings) {
  nlohmann::ordered_json all{{"system", system_part(settings)},
                             {"method", method_part(settings)},
                             {"machine", machine(settings)},
                             {"version", version},
                             {"commit", git_commit()}};
  for (const std::string& file : files_of(settings)) all["files"].push_back(file_checksum(file));
  return checksum(all.dump());
}

const std::string& Inputs::file_checksum(const std::string& path) {
  const auto [at, is_new] = files_.try_emplace(path);
  if (is_new) at->second = checksum_of(path);
  return at->second;
}

}  // namespace krill::apps::evaluate

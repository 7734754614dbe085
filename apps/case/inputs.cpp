#include "apps/case/inputs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/case/effective.hpp"
#include "apps/case/file_list.hpp"
#include "apps/support/machine.hpp"
#include "sparse/core/config.hpp"
#include "sparse/core/device.hpp"
#include "sparse/io/checksum.hpp"
#include "sparse/io/hypre_ij.hpp"
#include "sparse/io/input_file.hpp"

namespace krill::apps {
namespace {

/// The file of a matrix or vector, or all of its parts.
void append_file(const std::string& name, std::vector<std::string>& files) {
  const auto parts = find_ij_files(name);
  for (std::int32_t k = 0; parts && k < parts->count; ++k) files.push_back(parts->part(k));
  if (!parts) files.push_back(MemberName(name).file);
}

/// With the initial guess.
std::vector<std::string> files_of(const Case& settings) {
  std::vector<std::string> files = input_files(settings);
  if (const auto* guess = std::get_if<FileGuess>(&settings.initial_guess)) append_file(guess->path, files);
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

std::vector<std::string> input_files(const Case& settings) {
  std::vector<std::string> files;
  const auto add = [&](const std::string& name) {
    for (const std::string& file : files_named(name)) append_file(file, files);
  };
  if (const std::string* matrix = file_of(settings.matrix)) add(*matrix);
  if (const auto* rhs = std::get_if<FileRhs>(&settings.rhs); rhs && !rhs->path.empty()) add(rhs->path);
  return files;
}

void Inputs::require(const Case& settings) {
  for (const std::string& file : files_of(settings)) file_checksum(file);
}

std::string Inputs::key(const Case& settings, const nlohmann::ordered_json& more) {
  nlohmann::ordered_json all{{"case", effective_json(settings)},
                             {"more", more},
                             {"machine", machine(settings)},
                             {"version", version},
                             {"commit", git_commit()}};
  for (const char* left_out : {"name", "sequence", "parallel", "verify", "output"}) all["case"].erase(left_out);
  for (const std::string& file : files_of(settings)) all["files"].push_back(file_checksum(file));
  return checksum(all.dump());
}

const std::string& Inputs::file_checksum(const std::string& path) {
  const auto [at, is_new] = files_.try_emplace(path);
  if (is_new) at->second = checksum_of(path);
  return at->second;
}

}  // namespace krill::apps

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "apps/commands/command_line.hpp"
#include "apps/support/child_process.hpp"
#include "apps/support/exit_code.hpp"

namespace {

/// OpenMP's threads have to wait passively between parallel regions: 1,024 unknowns with two actively waiting threads
/// on two busy cores take 830 ms against 0.33 ms. libgomp reads that from the environment when it is loaded, before
/// main() begins, so the program starts itself once more. The variable that is set then is also what ends this. Where
/// anything fails, the program goes on as it is.
void restart_with_passive_threads(char** argv) {
  if (std::getenv("OMP_WAIT_POLICY") || setenv("OMP_WAIT_POLICY", "passive", 0) != 0) return;
  std::error_code unknown;
  const auto program = std::filesystem::read_symlink("/proc/self/exe", unknown);
  const bool run_by_loader = program.filename().string().starts_with("ld");  // ld.so krill ...: argv is not for ld.so
  if (!unknown && !run_by_loader) execv(program.c_str(), argv);
}

bool has_returned = false;

/// A library that cannot go on ends the program by exit(1), libgomp where no thread can be started: what the
/// surroundings refuse has a code of its own.
void end_for_library() {
  if (has_returned) return;
  std::fflush(nullptr);
  constexpr std::string_view words =
      "krill: a library could not go on and ended the program, for the reason above; where threads are short, ask for "
      "fewer (--threads)\n";
  if (write(STDERR_FILENO, words.data(), words.size()) < 0) _exit(krill::apps::bad_environment);
  _exit(krill::apps::bad_environment);
}

}  // namespace

int main(int argc, char** argv) {
  krill::apps::end_with_parent();
  restart_with_passive_threads(argv);
  std::atexit(end_for_library);
  const int code = krill::apps::run_command_line(argc, argv);
  has_returned = true;
  return code;
}

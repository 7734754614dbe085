// Runs the krill program as a user does.
#pragma once
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <thread>

#include "tests/apps/solve_support.hpp"

namespace krill::apps::test {

/// The head of a matrix file.
inline const std::string banner = "%%MatrixMarket matrix coordinate real general\n";

struct Outcome {
  int code = -1;  ///< -1: ended by a signal
  std::string out, err;
};

/// A folder of its own for every test, in which the program runs.
class Program : public testing::Test {
 protected:
  void SetUp() override {
    const char* program = std::getenv("KRILL_PROGRAM");
    if (!program) GTEST_SKIP() << "KRILL_PROGRAM names no krill program";
    program_ = std::filesystem::absolute(program).string();
  }

  /// Arguments as a shell reads them; `before` stands before the program's name.
  Outcome krill(const std::string& arguments, const std::string& before = "") {
    const std::string out = outputs_ / "stdout", err = outputs_ / "stderr";
    const std::string line = "cd '" + (folder_ / "") + "' && " + before + " '" + program_ + "' " + arguments + " >'" +
                             out + "' 2>'" + err + "' </dev/null";
    const int status = std::system(line.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, contents(out), contents(err)};
  }
  /// Starts the program in the folder with its output in files, as krill() does, and does not wait.
  pid_t start(const std::string& arguments, const std::string& environment = "") {
    const std::string line = "cd '" + (folder_ / "") + "' && " + environment + " exec '" + program_ + "' " + arguments +
                             " >'" + (outputs_ / "stdout") + "' 2>'" + (outputs_ / "stderr") + "' </dev/null";
    const pid_t child = fork();
    if (child != 0) return child;
    execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
    _exit(127);
  }
  int end_of(pid_t child) {
    int status = 0;
    for (int i = 0; waitpid(child, &status, WNOHANG) == 0; ++i) {
      if (i == 6000) {
        ADD_FAILURE() << "hangs";
        kill(child, SIGKILL);
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  std::size_t count_lines(const std::string& file) const {
    const std::string text = exists(file) ? contents(folder_ / file) : "";
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  }
  /// Until a journal, say, has so many lines.
  void await_lines(const std::string& file, std::size_t lines) const {
    for (int i = 0; i < 3000 && count_lines(file) < lines; ++i)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_GE(count_lines(file), lines);
  }
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  bool folder_is_empty() const { return names_in(folder_ / "").empty(); }

  Scratch folder_, outputs_;
  std::string program_;
};

}  // namespace krill::apps::test

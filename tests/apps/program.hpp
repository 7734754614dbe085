// Runs the krill program as a user does.
#pragma once
#include <sys/wait.h>

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
  bool exists(const std::string& name) const { return std::filesystem::exists(folder_ / name); }
  bool folder_is_empty() const { return names_in(folder_ / "").empty(); }

  Scratch folder_, outputs_;
  std::string program_;
};

}  // namespace krill::apps::test

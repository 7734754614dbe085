// Where a solve speaks: to stdout, to stderr where stdout is for the report, or nowhere.
#pragma once
#include <fmt/format.h>

#include <cstdio>
#include <string>

#include "apps/commands/solve.hpp"
#include "apps/report/record.hpp"
#include "apps/support/progress_line.hpp"
#include "apps/support/terminal.hpp"

namespace krill::apps {

struct Voice {
  std::FILE* out = stdout;
  bool silent = false;

  Voice(const SolveCommand& command, bool leads)
      : out(command.json ? stderr : stdout), silent(command.quiet || !leads) {}
  void say(const std::string& text) const {
    if (silent) return;
    std::fputs(text.c_str(), out);  // a terminal that is gone must not end a solve
    std::fflush(out);
  }
  /// A sentence below the first line.
  void tell(const std::string& text) const { say("  " + wrapped(text, 4) + "\n"); }
  /// What the matrix is like, and what `auto` has become.
  void describe(const SolveRecord& record) const {
    const MatrixProperties& m = record.matrix;
    say(fmt::format("  {} x {}, {} entries, {}; read in {:.0f} ms\n", m.rows, m.cols, m.nnz,
                    m.hermitian   ? (m.complex ? "Hermitian" : "symmetric")
                    : m.symmetric ? "complex symmetric"
                                  : "nonsymmetric",
                    record.timings.read + record.timings.assemble));
    if (const std::string& what = record.singularity.what; !what.empty()) tell(what);
    for (const auto& [key, why] : record.choices) tell(fmt::format("{}: auto is {}", key, why));
  }
  /// By which method and where it is solved.
  void say_method(const SolveRecord& record, const std::string& where) const {
    say(fmt::format("  {} on {}\n", method_name(record.settings), where));
  }
  ProgressLine::Style progress_style() const {
    return silent ? ProgressLine::Style::silent : ProgressLine::style_of(out);
  }
};

/// "the host, 2 threads", or the name of the device.
inline std::string place_text(const SolveRecord& record) {
  return record.device ? record.device->name
                       : fmt::format("the host, {} thread{}", record.threads, record.threads == 1 ? "" : "s");
}

}  // namespace krill::apps

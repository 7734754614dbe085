// What is said of a solve: to programs, to people, and on disk.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/report/record.hpp"
#include "apps/support/terminal.hpp"

namespace krill::apps {

/// The contents of report.json. Numbers that are not finite become null.
nlohmann::ordered_json report_json(const SolveRecord&);
std::string report_text(const SolveRecord&);

/// Parts of it: what the program is made of, and what a preconditioner tells of itself.
nlohmann::ordered_json versions_json();
nlohmann::ordered_json preconditioner_json(const PreconditionerReport&);
nlohmann::ordered_json attempts_json(const std::vector<Attempt>&);

/// A block for people: status first, then how well and how long; where the solve failed, why, and what to try. With
/// `verbose` also how it was done.
std::string summary(const SolveRecord&, bool verbose = false, const Paint& = {});

/// "the first method (bicgstab with ilu0): stagnated at 3.1e-04 after 1200 iterations, 30 ms"
std::string attempt_text(const Attempt&);

/// Why a solve ended as it did and what to do about it, in sentences; empty where it converged.
struct Advice {
  std::string why, remedy;
};
Advice advice(const SolveRecord&);

/// "iteration,relative_residual,seconds", a line an iteration, residuals with all digits.
std::string residuals_csv(const SolveReport&);
/// The same with a first field "column", of each of several right-hand sides.
std::string residuals_csv(const std::vector<SolveReport>& columns);

/// "system,status,true_relative,zero_pivot_row", a line a system of a batch, residuals with all digits. Systems and
/// rows count from 0; where there was no zero pivot, nothing stands.
std::string systems_csv(const SolveReport&);

/// "column,status,iterations,true_relative,target_relative,seconds", a line for each of several right-hand sides.
std::string columns_csv(const SolveReport&);

/// The folder of a solve's output files.
class OutputFolder {
 public:
  /// Makes the folder where it is missing, and tries whether files can be written there. Raises Error that names folder
  /// and reason.
  explicit OutputFolder(std::string path);
  const std::string& path() const { return path_; }

  /// Takes away the report of an earlier run in `path`, which a run that is refused would leave as its own.
  static void forget_report(const std::string& path);
  /// Takes away what an earlier run left, before this one starts: whatever happens to it, no report is another run's. A
  /// file that this run reads stays until it is written anew, and so do solutions that it keeps. Raises InvalidArgument
  /// where that would replace the matrix or the right-hand side.
  void begin(const Case&, const std::vector<std::string>& kept = {}) const;
  /// Writes one file as a whole and notes its name in the record.
  void write(SolveRecord&, const std::string& name, std::string_view contents) const;
  /// residuals.csv, of a batch systems.csv, of several right-hand sides columns.csv, and convergence.svg as far as the
  /// case asks for them; of a sequence steps.csv and steps.svg. A plot that cannot be drawn becomes a note.
  void write_history(SolveRecord&) const;
  /// Takes away what an earlier run left and this one does not write: it would belong to another report.
  void remove_leftovers(const SolveRecord&) const;
  /// report.json, which lists the other files, so it comes last. May be written again.
  void write_report(SolveRecord&) const;

 private:
  std::vector<std::string> outputs() const;
  void remove(const std::string& name) const;
  void draw_as(SolveRecord&, const std::string& name, const std::string& script) const;

  std::string path_;
};

}  // namespace krill::apps

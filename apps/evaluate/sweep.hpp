// The sweep: which systems are solved in which ways, as a user says it.
//
//   points    what `case` says, once for every combination of the values in `grid`
//   runs      every point with every variant, those of the portfolio included; without variants, the points themselves
//
// Everything is a case in the end, checked as cases are, and messages name the line of the sweep that they are about.
#pragma once
#include <string>
#include <vector>

#include "apps/case/case_file.hpp"
#include "apps/case/parts.hpp"
#include "apps/case/yaml_tree.hpp"
#include "apps/evaluate/portfolio.hpp"

namespace krill::apps::evaluate {

struct SweepOptions {
  std::string name;
  Portfolio portfolio = Portfolio::automatic;
  double budget = 0;
  double time_limit = 60;
  int repeats = 3;
};
template <class Fields>
void describe(Fields& fields, SweepOptions& o) {
  fields.value("name", o.name, any_value, "names the output folder, out/<name>; default: the file name of the sweep");
  fields.tree("include", include_value, include_doc);
  fields.tree("case", "a section, or the name of a file with a case",
              "what all runs share: the keys of a case, any of which may be missing");
  fields.tree("grid", "a section with lists",
              "for keys of a case, lists of values; every combination is run. Inside of a value, a list stands for its "
              "items: {type: chebyshev, degree: [2, 4]}. A word stands for {type: word}, with matrix for {file: word}");
  fields.tree("variants", "a section of names and sections, or a list of sections",
              "parts of cases, each of which is put over the shared case");
  fields.choice("portfolio", o.portfolio, portfolio_names,
                "variants that suit the matrix; auto: standard where neither variants nor the grid choose a solver, "
                "preconditioner, ordering, scaling or matching, else none");
  fields.value("budget", o.budget, at_least_zero,
               "seconds for the whole sweep; what has not begun by then is not run; 0: no limit");
  fields.value("time_limit", o.time_limit, above_zero, "seconds for one set-up and solve");
  fields.value("repeats", o.repeats, Range{1.0, 1000.0},
               "measured runs of a variant, after one that warms up; fewer where a run takes long");
}

/// One way to solve one system.
struct Variant {
  std::string name;  ///< as the user gave it, or empty
  Case settings;
};

/// What the command line says. Empty, or below 0: nothing.
struct SweepInput {
  std::string path;                    ///< a sweep, a case, or a matrix file
  std::vector<std::string> overrides;  ///< "path=value" in the file, of a matrix: in the case
  std::string backend, portfolio;
  int threads = 0;
  double budget = -1;
  bool environment = false;  ///< fill in ${NAME}
};

class Sweep {
 public:
  /// Reads and checks all; what a portfolio would add is checked for every kind of system. Raises CaseError with all
  /// that is wrong.
  explicit Sweep(const SweepInput&);

  const SweepOptions& options() const { return options_; }
  std::size_t points() const { return points_.size(); }
  /// A complete case of that point: its matrix, backend and precision are those of the point.
  const Case& sample(std::size_t point) const { return samples_[point]; }
  /// The runs of a point, `portfolio` being the parts of cases that suit its system.
  std::vector<Variant> variants(std::size_t point, const std::vector<std::string>& portfolio) const;

 private:
  void read(const SweepInput&, std::vector<Diagnostic>&);
  void read_trees(const YamlNode& root, std::vector<Diagnostic>&);
  void choose_portfolio();
  void check_points(std::vector<Diagnostic>&);
  std::vector<Variant> runs(std::size_t point, const std::vector<std::string>& portfolio,
                            std::vector<Diagnostic>&) const;

  SweepOptions options_;
  bool is_case_ = false;  ///< the file is a case, which is a variant, too
  YamlNode shared_, grid_;
  std::vector<YamlNode> points_;
  std::vector<NamedPart> variants_;
  std::vector<Case> samples_;
};

const std::vector<Key>& sweep_keys();
/// The keys of a case that a grid may go through.
std::vector<Key> grid_keys();

}  // namespace krill::apps::evaluate

// All that `krill inspect` finds out about a matrix file, and how it is said.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/inspect/findings.hpp"
#include "apps/inspect/pictures.hpp"
#include "apps/support/terminal.hpp"
#include "solvers/method/choose.hpp"
#include "sparse/io/read.hpp"

namespace krill::apps {

/// A matrix file, read and looked at.
struct Inspection {
  std::string path, checksum, rhs_name;
  MatrixKind kind;
  CanonicalReport canonical;
  MatrixProperties properties;
  Structure structure;
  std::vector<Finding> findings;
  bool for_cuda = false;  ///< which backend the suggestion is for
  Choice choice;          ///< for a square matrix with finite entries
  Raster raster;

  /// Whether a case can be suggested.
  bool can_be_solved() const;
};

/// For people.
std::string inspection_text(const Inspection&, const Paint& = {});
/// inspection.json. Rows and columns count from 0.
nlohmann::ordered_json inspection_json(const Inspection&);

/// A complete case, with the reason for each choice as a comment. `matrix` is the file as seen from where the case will
/// lie.
std::string suggested_case(const Inspection&, const std::string& matrix);

}  // namespace krill::apps

// Short names for the ways and the systems of a sweep, made of what differs between its cases.
#pragma once
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <vector>

#include "apps/case/case.hpp"

namespace krill::apps::evaluate {

/// The parts of a case that say which system is solved, and how well: matrix, rhs, initial guess and the tolerances.
nlohmann::ordered_json system_part(const Case&);
/// All the rest that a result depends on.
nlohmann::ordered_json method_part(const Case&);

class Names {
 public:
  /// `unnamed` are those of the cases whose methods need a name: what differs among them alone is told.
  Names(const std::vector<Case>& cases, const std::vector<Case>& unnamed);
  /// "pcg + chebyshev(degree=4), color order": solver and preconditioner, of their options those that differ.
  std::string method(const Case&) const;
  /// "thermal", "poisson3d(nx=64), rhs random"
  std::string system(const Case&) const;

 private:
  void note(const nlohmann::ordered_json& part);
  bool tells(const std::string& path, const nlohmann::ordered_json& value) const;
  std::string options(const nlohmann::ordered_json& json, const std::string& path) const;
  std::string others(const nlohmann::ordered_json& json, const std::set<std::string>& without) const;

  std::map<std::string, std::set<std::string>> values_;  ///< that a path has; paths hold the types on their way
};

}  // namespace krill::apps::evaluate

// Cases for the tests of apps/case.
#pragma once
#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "apps/case/case.hpp"
#include "apps/case/keys.hpp"

namespace krill::apps::test {

/// A case that is complete and right.
inline const std::string good_case =
    "name: flow\n"
    "matrix: {generate: poisson2d, nx: 20}\n"
    "rhs: {type: random, seed: 3}\n"
    "solver:\n"
    "  type: gmres\n"
    "  restart: 30\n"
    "  stop: {relative: 1.0e-6}\n";

/// The least that a case says.
inline const std::string minimal_case = "matrix: {generate: poisson1d}\nsolver: {type: pcg}\n";

/// What is wrong with a case, a line each; empty where nothing is.
inline std::string errors_of(const std::string& text, const std::vector<std::string>& overrides = {}) {
  try {
    parse_case(text, "case.yaml", overrides);
    return {};
  } catch (const CaseError& error) {
    return error.what();
  }
}

/// The smallest case in which the section `variant` is of the given type.
inline std::string case_with(const std::string& variant, const std::string& type) {
  const auto section = [&](const std::string& name, const std::string& tag, const std::string& usual) -> std::string {
    const std::string chosen = name == variant ? type : usual;
    if (chosen.empty()) return {};
    if (name == "matrix" && (chosen == "file" || chosen == "batch")) return "matrix: {" + chosen + ": a.mtx}\n";
    const std::string needs = chosen == "file"        ? ", path: x.mtx"
                              : chosen == "parameter" ? ", parameter: nx, from: 1, to: 10"
                                                      : "";
    return name + ": {" + tag + ": " + chosen + needs + "}\n";
  };
  return section("matrix", "generate", "poisson1d") + section("rhs", "type", "") +
         section("initial_guess", "type", "") + section("sequence", "type", "") + section("matching", "type", "") +
         section("scaling", "type", "") + section("ordering", "type", "") +
         section(
             "solver", "type",
             variant == "preconditioner" && (type == "solver" || type == "ilut" || type == "parilut" || type == "schur")
                 ? "fgmres"
                 : "pcg") +
         section("preconditioner", "type", "");
}

/// Every type of every variant, each in a case of its own: "a case with all of its keys" is the effective one.
inline std::vector<std::string> all_cases() {
  std::vector<std::string> cases;
  for (const Key& key : case_keys())
    for (const Alternative& one : key.alternatives)
      cases.push_back(case_with(key.name, one.key.empty() ? one.type : one.key));
  return cases;
}

/// The cases in configs, beside which a sweep and the suite's baseline lie there. Tests run in the project's root.
inline std::vector<std::string> shipped_cases() {
  std::vector<std::string> paths;
  std::error_code elsewhere;
  for (const auto& entry : std::filesystem::directory_iterator("configs", elsewhere))
    if (const auto name = entry.path().stem(); name != "sweep" && name != "baseline")
      paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  return paths;
}
inline const std::string shipped_sweep = "configs/sweep.yaml";

}  // namespace krill::apps::test

#include <fmt/format.h>

#include <filesystem>

#include "apps/case/method_text.hpp"
#include "apps/case/parts.hpp"
#include "apps/inspect/inspection.hpp"

namespace krill::apps {
namespace {

/// The sentence as a comment of lines that start with "# ".
std::string comment(const std::string& text) {
  std::string lines = "# " + wrapped(text, 2);
  for (std::size_t at = lines.find("\n  "); at != std::string::npos; at = lines.find("\n  ", at + 1))
    lines[at + 1] = '#';
  return lines + "\n";
}

}  // namespace

bool Inspection::can_be_solved() const {
  return properties.rows == properties.cols && properties.nnz > 0 && properties.non_finite == 0;
}

std::string suggested_case(const Inspection& i, const std::string& matrix) {
  const Choice& choice = i.choice;
  std::string text = comment(
      fmt::format("What the rules of `krill inspect` suggest for {} on {}. Run it as it stands: krill "
                  "solve suggested.yaml",
                  std::filesystem::path(i.path).filename().string(), i.for_cuda ? "a CUDA device" : "the host"));
  text += fmt::format("name: {}\n", yaml_scalar(name_of_matrix(i.path)));
  text += fmt::format("matrix: {{file: {}}}\n", yaml_scalar(without_variables(matrix)));
  text += i.rhs_name.empty() ? "" : "rhs: {type: file}  # the one that came with the matrix\n";
  text += fmt::format("backend: {}\n", i.for_cuda ? "cuda" : "host");
  const auto section = [&](const std::string& key, const std::string& options) {
    for (const ChoiceReason& reason : choice.reasons)
      if (reason.key == key) text += "\n" + comment(reason.why);
    text += fmt::format("{}: {}\n", key, options);
  };
  section("matching", options_text(choice.method.matching));
  section("scaling", options_text(choice.method.scaling));
  section("ordering", options_text(choice.method.ordering));
  std::string solver = options_text(choice.method.solver);
  if (const double relative = stop(choice.method.solver).relative; relative != StopOptions{}.relative)
    solver.insert(solver.size() - 1, fmt::format(", stop: {{relative: {}}}", yaml_scalar(relative)));
  section("solver", solver);
  // Left to auto, so that a set-up that fails goes on as it does everywhere; the rest being fixed, auto is what it was.
  section("preconditioner", "{type: auto}");
  text += "\n" + comment("Where that fails, other methods are tried.") + "on_failure: ladder\n";
  return text;
}

}  // namespace krill::apps

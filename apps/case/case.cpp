#include "apps/case/case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <tuple>

#include "apps/case/case_file.hpp"
#include "apps/case/check.hpp"
#include "apps/case/fill.hpp"
#include "apps/case/parts.hpp"
#include "apps/case/suggest.hpp"

namespace krill::apps {

const std::string* file_of(const MatrixSource& matrix) {
  if (const auto* file = std::get_if<MatrixFile>(&matrix)) return &file->file;
  if (const auto* batch = std::get_if<MatrixBatch>(&matrix)) return &batch->batch;
  return nullptr;
}

std::string_view partition_name(const PartitionSource& partition) {
  return std::visit(
      []<class Options>(const Options&) {
        if constexpr (requires { Options::type; })
          return Options::type;
        else
          return Options::key;
      },
      partition);
}

const StepOptions* step_options(const SequenceOptions& sequence) {
  if (const auto* files = std::get_if<FileSequence>(&sequence)) return files;
  return std::get_if<ParameterSequence>(&sequence);
}

std::optional<std::array<int, 3>> grid_of(const MatrixSource& matrix) {
  const auto* generator = std::get_if<GeneratorOptions>(&matrix);
  if (!generator) return {};
  return std::visit(
      []<class Options>(const Options& o) -> std::optional<std::array<int, 3>> {
        if constexpr (requires { o.nx; } && !std::is_same_v<Options, Elasticity3dOptions>) {
          std::array grid{o.nx, 0, 0};
          if constexpr (requires { o.ny; }) grid[1] = o.ny > 0 ? o.ny : o.nx;
          if constexpr (requires { o.nz; }) grid[2] = o.nz > 0 ? o.nz : o.nx;
          return grid;
        } else {
          return {};
        }
      },
      *generator);
}

namespace {

std::string all_lines(const std::vector<Diagnostic>& found) {
  std::string text;
  for (const auto& [source, line, column, message] : found) {
    if (!text.empty()) text += '\n';
    text += source;
    if (line > 0) text += fmt::format(":{}", line);
    if (line > 0 && column > 0) text += fmt::format(":{}", column);
    text += ": " + message;
  }
  return text;
}

using DiagnosticKey = std::tuple<std::string, int, int, std::string>;
DiagnosticKey key_of(const Diagnostic& d) { return {d.source, d.line, d.column, d.message}; }

/// Takes the variants out of the tree of a file.
std::vector<NamedPart> take_variants(YamlNode& root, std::vector<Diagnostic>& found) {
  const auto at = std::ranges::find_if(root.entries, [](const auto& entry) { return entry.key.text == "variants"; });
  if (at == root.entries.end()) return {};
  const std::vector<NamedPart> variants = read_variants(at->value, found);
  root.entries.erase(at);
  return variants;
}

/// The names of variants, each once.
std::vector<std::string> names_of(const std::vector<NamedPart>& variants) {
  std::vector<std::string> names;
  for (const NamedPart& one : variants)
    if (!one.name.empty() && std::ranges::find(names, one.name) == names.end()) names.push_back(one.name);
  return names;
}

/// Puts the variant of that name over the case, which is called after both unless the variant says something else.
void choose(YamlNode& root, const std::vector<NamedPart>& variants, const std::string& name, std::string& case_name,
            std::vector<Diagnostic>& found) {
  const auto refuse = [&](std::string message) { found.push_back({"--variant " + name, 0, 0, std::move(message)}); };
  const auto is_meant = [&](const NamedPart& one) { return one.name == name; };
  const auto chosen = std::ranges::find_if(variants, is_meant);
  const auto names = names_of(variants);
  if (names.empty()) return refuse("the case has no variants with names");
  if (chosen == variants.end())
    return refuse(fmt::format("the case has no such variant{} it has {}",
                              nearest(name, names).empty() ? ";" : did_you_mean(name, names),
                              enumerate(names, " and ")));
  if (const auto meant = std::ranges::count_if(variants, is_meant); meant > 1)
    return refuse(fmt::format("this variant stands for {} cases; krill evaluate runs them all", meant));
  if (YamlNode* own_name = root.find("name"))
    own_name->text += "-" + name;
  else
    case_name += "-" + name;
  root = merged(root, chosen->tree, case_keys());
}

/// Books what is wrong with variants, and not with the case that they are put over.
void check_variants(const YamlNode& root, const std::vector<NamedPart>& variants, std::vector<Diagnostic>& found) {
  std::vector<Diagnostic> of_case;
  if (!variants.empty()) check_case(root, "case", of_case);
  for (const NamedPart& one : variants) {
    std::vector<Diagnostic> of_both;
    check_case(merged(root, one.tree, case_keys()), "case", of_both);
    for (Diagnostic& diagnostic : of_both)
      if (std::ranges::find(of_case, key_of(diagnostic), key_of) == of_case.end())
        found.push_back(std::move(diagnostic));
  }
}

/// The case that a matrix file stands for.
YamlNode case_of_matrix(const std::string& path) {
  require_text_name(path);
  const SourcePlace place{path, 0, 0};
  YamlNode root = section("matrix", section("file", word(path, place)));
  for (const char* name : {"solver", "preconditioner", "ordering", "scaling", "matching"})
    root.entries.push_back({word(name, place), section("type", word("auto", place))});
  return root;
}

LoadedCase checked_parts(YamlNode& root, std::string& name, const std::string& source,
                         const std::vector<std::string>& overrides, const Reading& reading,
                         std::vector<Diagnostic> found) {
  const bool readable = found.empty() || root.kind == YamlNode::Kind::map;
  if (!readable) refuse_if_any(found);
  const auto variants = take_variants(root, found);
  check_variants(root, variants, found);
  if (!reading.variant.empty()) choose(root, variants, reading.variant, name, found);
  for (const auto& option : overrides) apply_case_setting(root, option, "--set " + option, found);
  if (!reading.backend.empty())
    apply_setting(root, "backend=" + reading.backend, "--backend " + reading.backend, found);
  if (reading.threads > 0)
    apply_setting(root, fmt::format("threads={}", reading.threads), fmt::format("--threads {}", reading.threads),
                  found);
  require_map(root, source, "case", "matrix and solver", found);
  auto checked = check_case(root, name, found);
  const auto names = names_of(variants);
  if (reading.variant.empty() && !names.empty() && !(root.find("matrix") && root.find("solver")))
    found.push_back({source, root.place.line, root.place.column,
                     fmt::format("only a variant makes this case complete; --variant takes {}", enumerate(names))});
  refuse_if_any(found);
  return {std::move(*checked), names};
}

/// Preconditioner line without a grid takes that of the generator.
void take_grid(Case& c) {
  auto* lines = std::get_if<LineOptions>(&innermost(c.preconditioner));
  if (!lines || lines->nx > 0) return;
  if (const auto grid = grid_of(c.matrix)) std::tie(lines->nx, lines->ny, lines->nz) = std::tuple_cat(*grid);
}

LoadedCase checked_case(YamlNode root, std::string name, const std::string& source,
                        const std::vector<std::string>& overrides, const Reading& reading,
                        std::vector<Diagnostic> found) {
  try {
    return checked_parts(root, name, source, overrides, reading, std::move(found));
  } catch (CaseError& error) {
    const YamlNode* own_name = root.find("name");
    error.name = own_name && !own_name->text.empty() ? own_name->text : name;
    throw;
  }
}

LoadedCase read_case(const std::string& text, const std::string& source, const std::vector<std::string>& overrides,
                     const Reading& reading) {
  std::vector<Diagnostic> found;
  YamlNode root = read_tree(text, source, reading.environment, found);
  return checked_case(std::move(root), default_name(source), source, overrides, reading, std::move(found));
}

}  // namespace

std::string default_name(const std::string& source) {
  const std::string stem = std::filesystem::path(source).stem().string();
  return stem.empty() || stem.starts_with('.') || stem == "standard input" ? "case" : stem;
}

CaseError::CaseError(std::vector<Diagnostic> found) : Error(all_lines(found)), diagnostics(std::move(found)) {}

LoadedCase load_case_file(const std::string& path, const std::vector<std::string>& overrides, const Reading& reading) {
  if (names_matrix(path)) return checked_case(case_of_matrix(path), name_of_matrix(path), path, overrides, reading, {});
  return read_case(read_yaml_text(path), path == "-" ? "standard input" : path, overrides, reading);
}

Case load_case(const std::string& path, const std::vector<std::string>& overrides) {
  return load_case_file(path, overrides, {}).settings;
}

Case parse_case(const std::string& text, const std::string& source, const std::vector<std::string>& overrides) {
  return read_case(text, source, overrides, {}).settings;
}

void refuse_if_any(std::vector<Diagnostic> found) {
  if (found.empty()) return;
  std::set<DiagnosticKey> known;  // what cases share is wrong in each of them
  std::erase_if(found, [&](const Diagnostic& d) { return !known.insert(key_of(d)).second; });
  const auto place = [](const Diagnostic& d) {  // options, which have no line, first and as they were typed
    return std::tuple(d.line > 0 ? d.source : "", d.line, d.column);
  };
  std::ranges::stable_sort(found, {}, place);
  throw CaseError(std::move(found));
}

void require_map(const YamlNode& root, const std::string& source, std::string_view what, std::string_view needs,
                 std::vector<Diagnostic>& found) {
  if (root.kind == YamlNode::Kind::map) return;
  if (root.kind == YamlNode::Kind::null)
    found.push_back({source, 1, 1, fmt::format("the {} is empty; it needs at least {}", what, needs)});
  else
    found.push_back({source, root.place.line, root.place.column,
                     fmt::format("expected keys such as 'solver:' at the top of a {}", what)});
  refuse_if_any(std::move(found));
}

std::optional<Case> check_case(const YamlNode& root, const std::string& name, std::vector<Diagnostic>& found) {
  const std::size_t earlier = found.size();
  const auto checked = check_section(root, case_file_keys(), found);
  for (const auto& [key, value] : root.entries)
    if (key.text == "include" || key.text == "variants")
      found.push_back({key.place.source, key.place.line, key.place.column,
                       fmt::format("'{}' can stand at the top of a file only", key.text)});
  if (found.size() > earlier) return {};
  Case c;
  c.name = name;
  FromJson::fill(c, checked);
  check_together(root, c, found);
  if (found.size() > earlier) return {};
  take_grid(c);
  return c;
}

}  // namespace krill::apps

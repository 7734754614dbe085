#include <fmt/format.h>

#include <complex>
#include <filesystem>

#include "krill/apps/case/check.hpp"
#include "krill/apps/case/fill.hpp"
#include "krill/apps/case/suggest.hpp"
#include "krill/apps/commands.hpp"
#include "krill/sparse/io/analyze.hpp"
#include "krill/sparse/io/write_matrix_market.hpp"

namespace krill::apps {
namespace {

/// The command that makes the same matrix, with all defaults filled in.
std::string recipe(const GeneratorOptions& options) {
  std::string text = "krill generate";
  std::visit(
      [&]<class Options>(Options copy) {
        text += fmt::format(" {}", Options::type);
        const auto json = ToJson::dump(copy);
        for (const auto& [key, value] : json.items())
          text += fmt::format(" {}={}", key, value.is_string() ? value.template get<std::string>() : value.dump());
      },
      options);
  return text;
}

template <class T>
int write(const GeneratorOptions& options, const std::string& output) {
  const AnyMatrix<T> A = generate<T>(options);
  const MatrixProperties m = analyze(Host{}, A);
  const Symmetry symmetry = m.symmetric ? Symmetry::symmetric : m.hermitian ? Symmetry::hermitian : Symmetry::general;
  write_matrix_market(output, A, symmetry, recipe(options));
  std::error_code not_a_file;
  const auto bytes = std::filesystem::file_size(output, not_a_file);
  if (!not_a_file)
    print(fmt::format("{}: {} x {}, {} entries, {}, {}\n", output, m.rows, m.cols, m.nnz, name(symmetry),
                      human_bytes(bytes)));
  return 0;
}

}  // namespace

GeneratorOptions parse_generator(const std::string& name, const std::vector<std::string>& settings) {
  const Key& matrix = case_key("matrix");
  const Alternative* chosen = matrix.alternative(name);
  if (!chosen) {
    const auto types = types_of(matrix);
    throw InvalidArgument(
        fmt::format("there is no generator '{}'{}\n  expected {}", name, did_you_mean(name, types), one_of(types)));
  }
  std::vector<Diagnostic> found;
  YamlNode root;
  root.kind = YamlNode::Kind::map;
  for (const auto& setting : settings) apply_setting(root, setting, setting, found);
  auto json = check_section(root, chosen->keys, found);
  if (!found.empty()) throw CaseError(std::move(found));

  GeneratorOptions options;
  json[matrix.tag] = name;
  FromJson::fill(options, matrix.tag, json);
  return options;
}

int run_generate(const GenerateCommand& command) {
  const GeneratorOptions options = parse_generator(command.name, command.settings);
  return needs_complex(options) ? write<std::complex<double>>(options, command.output)
                                : write<double>(options, command.output);
}

}  // namespace krill::apps

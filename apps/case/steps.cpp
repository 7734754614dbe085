#include "apps/case/steps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "apps/case/file_list.hpp"
#include "apps/case/fill.hpp"
#include "apps/case/suggest.hpp"
#include "sparse/io/input_file.hpp"
#include "sparse/io/tar_file.hpp"

namespace krill::apps {
namespace {

std::size_t count_of(const ParameterSequence& o) {
  return o.values.empty() ? static_cast<std::size_t>(o.steps) : o.values.size();
}

double value_in_step(const ParameterSequence& o, std::size_t step) {
  if (!o.values.empty()) return o.values[step];
  const auto last = static_cast<double>(o.steps - 1), at = static_cast<double>(step);
  const double from = o.from.value(), to = o.to.value();
  if (at == last) return to;
  return o.spacing == Spacing::linear ? from + (to - from) * (at / last) : from * std::pow(to / from, at / last);
}

/// The generator with another value of one of its numbers.
void set_number(GeneratorOptions& generator, const std::string& key, double value) {
  visit_alternative(generator, [&]<class Options>(Options& options) {
    auto json = ToJson::dump(options);
    json.at(key).is_number_integer() ? json[key] = std::lround(value) : json[key] = value;
    FromJson::fill(options, json);
  });
}

bool is_number(const Key& key) { return key.kind == Key::Kind::integer || key.kind == Key::Kind::number; }

std::vector<std::string> files_of_matrix(const std::string& name) {
  std::vector<std::string> files = files_named(name);
  if (files.size() == 1 && names_tar_archive(files.front())) return matrices_in_archive(files.front());
  return files;
}

std::string short_name(const std::string& path) {
  const MemberName name(path);
  return std::filesystem::path(name.member.empty() ? path : name.member).filename().string();
}

}  // namespace

CaseSteps::CaseSteps(const Case& settings) : settings_(settings) {
  if (const auto* moves = std::get_if<ParameterSequence>(&settings.sequence)) parameter_ = *moves;
  if (const auto* file = std::get_if<MatrixFile>(&settings.matrix)) matrices_ = files_of_matrix(file->file);
  if (const auto* rhs = std::get_if<FileRhs>(&settings.rhs); rhs && !rhs->path.empty()) rhs_ = files_named(rhs->path);
  const std::size_t of_matrix = parameter_ ? count_of(*parameter_) : matrices_.size();
  count_ = std::max(of_matrix, rhs_.size());
  if (count_ < 2)
    throw InvalidArgument(
        "sequence: neither matrix.file nor rhs.path names several files; expected numbers, as in A_{01..20}.mtx, or a "
        "tar archive with several matrices, or a parameter that moves");
  if (of_matrix > 1 && rhs_.size() > 1 && of_matrix != rhs_.size())
    throw InvalidArgument(
        fmt::format("sequence: {} matrices and {} files of right-hand sides; expected as many, or one that is the same "
                    "in all steps",
                    of_matrix, rhs_.size()));
}

Case CaseSteps::at(std::size_t step) const {
  Case one = settings_;
  if (matrices_.size() > 1) std::get<MatrixFile>(one.matrix).file = matrices_[step];
  if (parameter_)
    set_number(std::get<GeneratorOptions>(one.matrix), parameter_->parameter, value_in_step(*parameter_, step));
  if (rhs_.size() > 1) std::get<FileRhs>(one.rhs).path = rhs_[step];
  return one;
}

std::string CaseSteps::name(std::size_t step) const {
  if (parameter_) return fmt::format("{} = {:.6g}", parameter_->parameter, value_in_step(*parameter_, step));
  return short_name(matrices_.size() > 1 ? matrices_[step] : rhs_[step]);
}

std::optional<ParameterFault> fault(const ParameterSequence& o, const MatrixSource& matrix) {
  const auto* generator = std::get_if<GeneratorOptions>(&matrix);
  if (!generator)
    return ParameterFault{"type", "sequence.type is parameter, but the matrix is not generated; expected files"};
  std::string type;
  visit_alternative(*generator, [&](const auto& options) { type = options.type; });
  std::vector<std::string> numbers;
  const std::vector<Key>& keys = case_key("matrix").alternative(type)->keys();
  for (const Key& key : keys)
    if (is_number(key)) numbers.push_back(key.name);
  const Key* key = find_key(keys, o.parameter);
  if (!key || !is_number(*key))
    return ParameterFault{"parameter", fmt::format("sequence.parameter is {}, expected a number of {}: {}{}",
                                                   o.parameter.empty() ? "missing" : o.parameter, type,
                                                   enumerate(numbers), did_you_mean(o.parameter, numbers))};
  if (o.values.empty() && !(o.from && o.to))
    return ParameterFault{
        "", fmt::format("sequence does not say the values of {}; expected from and to, or a list: values: [1, 2, 5]",
                        o.parameter)};
  if (o.values.empty() && o.spacing == Spacing::geometric && !(*o.from * *o.to > 0))
    return ParameterFault{"spacing", "sequence.spacing is geometric, expected from and to of one sign, neither 0"};
  for (std::size_t k = 0; k < count_of(o); ++k) {
    const double value = value_in_step(o, k);
    const auto& [least, most, without_min, without_max] = key->range;
    const bool is_inside =
        (without_min ? value > least : value >= least) && (without_max ? value < most : value <= most);
    if (is_inside && (key->kind == Key::Kind::number || value == std::round(value))) continue;
    return ParameterFault{!o.values.empty() ? "values"
                          : k == 0          ? "from"
                                            : "to",
                          fmt::format("step {} of sequence would have {} = {:.6g}, expected {}", k + 1, o.parameter,
                                      value, expectation(*key))};
  }
  return {};
}

}  // namespace krill::apps

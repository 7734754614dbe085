#include "apps/bench/request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "apps/case/suggest.hpp"

namespace krill::apps::bench {
namespace {

bool is_in(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

/// The word, which has to be one of those.
void require_known(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
  if (!is_in(known, word))
    throw InvalidArgument(
        fmt::format("{} '{}'{}\n  expected {}", what, word, did_you_mean(word, known), one_of(known)));
}

/// "csr,coo" as {"csr", "coo"}.
std::vector<std::string> split(const std::string& option, const std::string& list) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    if (end == begin) throw InvalidArgument(fmt::format("{} {}: a name is missing between commas", option, list));
    words.push_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

/// key=value, as opposed to the name of a file or of a matrix.
bool is_setting(const std::string& word) {
  const std::size_t equals = word.find('=');
  return equals != std::string::npos && equals > 0 &&
         std::all_of(word.begin(), word.begin() + static_cast<std::ptrdiff_t>(equals),
                     [](unsigned char c) { return std::isalnum(c) || c == '_'; });
}

constexpr std::string_view all_solvers = "solvers";

/// What may stand for a kernel on the command line.
std::vector<std::string> kernel_words() {
  auto words = kernel_names();
  words.emplace_back(all_solvers);
  return words;
}

void add_kernel(const std::string& word, Request& request) {
  for (const auto& kernel : word == all_solvers ? solver_names() : std::vector<std::string>{word})
    if (!is_in(request.kernels, kernel)) request.kernels.push_back(kernel);
}

/// The words after --matrix: each that is no setting begins another matrix, and one that names a kernel is that, for it
/// may follow the settings.
void parse_matrices(const std::vector<std::string>& words, Request& request) {
  const auto kernels = kernel_words();
  for (std::size_t i = 0; i < words.size();) {
    const std::string& name = words[i++];
    if (is_in(kernels, name)) {
      add_kernel(name, request);
      continue;
    }
    std::vector<std::string> settings;
    while (i < words.size() && is_setting(words[i])) settings.push_back(words[i++]);
    request.matrices.push_back(named_matrix(name, settings));
  }
}

/// A file with a matrix in each line, named as after --matrix; # begins a comment, and the names of files start at the
/// folder of the list.
std::vector<BenchMatrix> listed_matrices(const std::string& path) {
  std::ifstream in(path);
  if (!in) throw InvalidArgument(fmt::format("--suite: {} cannot be read", path));
  std::vector<BenchMatrix> matrices;
  std::string line;
  for (int number = 1; std::getline(in, line); ++number) {
    std::istringstream words(line.substr(0, line.find('#')));
    std::string name;
    if (!(words >> name)) continue;
    const auto beside = std::filesystem::path(path).parent_path() / name;
    std::error_code unknown;
    if (std::filesystem::is_regular_file(beside, unknown)) name = beside.string();
    try {
      matrices.push_back(named_matrix(name, {std::istream_iterator<std::string>(words), {}}));
    } catch (const Error& error) {
      throw InvalidArgument(fmt::format("{}:{}: {}", path, number, error.what()));
    }
  }
  if (matrices.empty()) throw InvalidArgument(fmt::format("--suite: {} has no matrix", path));
  return matrices;
}

std::vector<BenchMatrix> named_suite(const std::string& name) {
  const std::vector<std::string> known(suite_names.begin(), suite_names.end());
  if (is_in(known, name)) return suite(name);
  std::error_code unknown;
  if (std::filesystem::is_regular_file(name, unknown)) return listed_matrices(name);
  throw InvalidArgument(
      fmt::format("--suite: there is neither a file nor a suite '{}'{}\n  expected {}, or a file with a "
                  "matrix in each line, as after --matrix",
                  name, did_you_mean(name, known), enumerate(known)));
}

std::vector<std::string> precision_words() {
  return {precision_names.begin() + 1, precision_names.end()};  // without auto: that is to leave the option out
}

std::vector<Precision> parse_precisions(const std::string& list) {
  if (list.empty()) return {Precision::automatic};
  std::vector<Precision> precisions;
  const auto known = precision_words();
  for (const auto& word : split("--precision", list)) {
    require_known("--precision: there is no precision", word, known);
    precisions.push_back(static_cast<Precision>(std::find(known.begin(), known.end(), word) - known.begin() + 1));
  }
  return precisions;
}

RepeatBlocks parse_repeat(const std::string& text, bool on_cuda) {
  RepeatBlocks repeat{0, on_cuda ? 512e6 : 64e6};
  if (text == "auto") return repeat;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, repeat.times);
  if (problem != std::errc() || stop != end || repeat.times < 1 ||
      repeat.times > std::numeric_limits<std::int32_t>::max())
    throw InvalidArgument(fmt::format("--repeat-blocks is '{}', expected auto or an integer of at least 1", text));
  return repeat;
}

std::vector<BandedShape> default_shapes(bool on_cuda) {
  if (on_cuda)
    return {{1 << 24, 1}, {1 << 20, 1}, {65536, 1},   {4096, 4096},
            {1024, 1024}, {512, 65536}, {64, 262144}, {4, 4194304}};
  return {{1 << 18, 1}, {65536, 1}, {1024, 256}, {64, 4096}, {4, 65536}};
}

/// Powers of 16 in either direction, up to 2^24 unknowns.
std::vector<BandedShape> sweep_of_shapes() {
  constexpr std::int64_t most = 1 << 24, step = 16;
  std::vector<BandedShape> shapes;
  for (std::int64_t rows = 1; rows <= most; rows *= step)
    for (std::int64_t batch = 1; rows * batch <= most; batch *= step)
      shapes.push_back({static_cast<std::int32_t>(rows), static_cast<std::int32_t>(batch)});
  return shapes;
}

BandedShape parse_shape(const std::string& word) {
  BandedShape shape{};
  const char *text = word.data(), *end = text + word.size();
  const auto rows = std::from_chars(text, end, shape.rows);
  const bool has_batch = rows.ec == std::errc() && rows.ptr != end && *rows.ptr == 'x';
  const auto batch = has_batch ? std::from_chars(rows.ptr + 1, end, shape.batch) : rows;
  if (!has_batch || batch.ec != std::errc() || batch.ptr != end || shape.rows < 1 || shape.batch < 1)
    throw InvalidArgument(
        fmt::format("--shapes: '{}' is no shape\n  expected rows and systems, such as 4096x64, each from 1 to {}, or "
                    "sweep",
                    word, std::numeric_limits<std::int32_t>::max()));
  return shape;
}

std::vector<BandedShape> parse_shapes(const std::string& list) {
  std::vector<BandedShape> shapes;
  for (const std::string& word : split("--shapes", list))
    for (const BandedShape& shape : word == "sweep" ? sweep_of_shapes() : std::vector{parse_shape(word)})
      shapes.push_back(shape);
  return shapes;
}

/// The preconditioners of a list, some of whose names have commas of their own.
std::vector<std::string> parse_preconditioners(const std::string& list) {
  const std::vector<std::string> words = split("--preconditioner", list), known = solver_preconditioners();
  std::vector<std::string> names;
  for (std::size_t first = 0, next; first < words.size(); first = next) {
    names.push_back(words[first]);
    next = first + 1;
    std::string joined = words[first];
    for (std::size_t last = first + 1; last < words.size(); ++last) {
      joined += "," + words[last];
      if (is_in(known, joined)) names.back() = joined, next = last + 1;
    }
  }
  return names;
}

}  // namespace

Request parse_request(const BenchCommand& command, bool on_cuda) {
  Request request;
  for (const auto& kernel : command.kernels) {
    require_known("there is no benchmark for a kernel", kernel, kernel_words());
    add_kernel(kernel, request);
  }
  parse_matrices(command.matrices, request);
  if (!command.suite.empty() || request.matrices.empty())
    for (BenchMatrix& matrix : named_suite(!command.suite.empty() ? command.suite : on_cuda ? "targets" : "small"))
      request.matrices.push_back(std::move(matrix));
  if (request.kernels.empty()) request.kernels = default_kernel_names();
  const bool scaling = is_in(request.kernels, scaling_kernel);
  if (scaling && command.matrices.empty() && command.suite.empty())
    std::erase_if(request.matrices, [](const BenchMatrix& matrix) { return !enlarged(matrix, 2); });
  if (!command.formats.empty()) {
    request.formats = split("--format", command.formats);
    for (const auto& format : request.formats)
      require_known("--format: there is no benchmark for a format", format, spmv_formats());
  }
  if (!command.preconditioners.empty()) {
    request.preconditioners = parse_preconditioners(command.preconditioners);
    for (const auto& name : request.preconditioners)
      if (!scaling)
        require_known("--preconditioner: there is no benchmark with a preconditioner", name, solver_preconditioners());
    if (scaling && std::ranges::any_of(request.preconditioners, [](const std::string& name) {
          return std::ranges::find(scaling_preconditioners, name) == scaling_preconditioners.end();
        }))
      throw InvalidArgument(
          "--preconditioner: scaling is measured with none, jacobi, chebyshev, isai and schwarz; name "
          "some of them");
    if (!scaling &&
        std::ranges::none_of(solver_names(), [&](const auto& name) { return is_in(request.kernels, name); }))
      throw InvalidArgument(
          "--preconditioner: only solvers have one; name them, as in krill bench pcg --preconditioner, or leave it "
          "out");
  }
  const bool banded = is_in(request.kernels, banded_kernel);
  if (!command.shapes.empty() && !banded)
    throw InvalidArgument("--shapes: only banded has shapes; use krill bench banded --shapes, or leave it out");
  if (banded) request.shapes = command.shapes.empty() ? default_shapes(on_cuda) : parse_shapes(command.shapes);
  request.precisions = parse_precisions(command.precisions);
  request.repeat = parse_repeat(command.repeat_blocks, on_cuda);
  if (scaling && command.repeat_blocks == "auto") request.repeat = {1};  // blocks need nothing of each other
  return request;
}

}  // namespace krill::apps::bench

#include "sparse/io/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <utility>

#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/checksum.hpp"
#include "sparse/io/harwell_boeing.hpp"
#include "sparse/io/host_memory.hpp"
#include "sparse/io/input_file.hpp"
#include "sparse/io/matrix_market.hpp"
#include "sparse/io/numbers.hpp"
#include "sparse/io/text_fault.hpp"

namespace krill {
namespace {

bool ends_lines_with_cr(const InputFile& file) { return file.view().find('\n') == std::string_view::npos; }

/// Where a text has no LF at all, its lines end with CR: the readers see LF. Places in the text stay what they are.
void unify_line_ends(InputFile& file) {
  if (ends_lines_with_cr(file)) std::replace(file.text.begin(), file.text.end(), '\r', '\n');
}

/// Raises ParseError for a text that is none of the known formats, with what it seems to be.
[[noreturn]] void raise_unknown(const InputFile& file) {
  const std::string_view first_line = file.view().substr(0, file.view().find('\n'));
  std::string_view remedy = "convert it to Matrix Market form first";
  if (looks_like_rutherford_boeing_supplement(file))
    remedy = "this is a supplementary Rutherford-Boeing file, which holds no matrix: give the file of its matrix";
  else if (!first_line.empty() && first_line.find_first_not_of("0123456789 \t\r") == first_line.npos)
    remedy = "where these are sizes and entries: put \"%%MatrixMarket matrix coordinate real general\" before them";
  raise(file,
        {file.text.data(),
         fmt::format("the file begins with {}\n  expected a Matrix Market banner (%%MatrixMarket ...), or the head "
                     "of a Harwell-Boeing or Rutherford-Boeing matrix\n  {}",
                     in_quotes(first_line), remedy)});
}

MatrixKind kind_of(const InputFile& file) {
  if (looks_like_matrix_market(file)) return parse_matrix_market_head(file).kind;
  if (looks_like_harwell_boeing(file)) return parse_harwell_boeing_head(file);
  raise_unknown(file);
}

/// Dense columns of a matrix; symmetry is expanded.
template <class T>
Columns<T> to_columns(Triplets<T> a) {
  Columns<T> columns{a.rows, a.cols, {}};
  if (a.dense && a.symmetry == Symmetry::general) {  // they stand in this order already
    columns.values.assign(a.value.begin(), a.value.end());
    return columns;
  }
  const auto rows = static_cast<std::size_t>(a.rows), cols = static_cast<std::size_t>(a.cols);
  constexpr std::size_t most = std::size_t{1} << 58;
  require_memory("the columns of " + a.name, rows * cols < most ? rows * cols * sizeof(T) : most);
  columns.values.assign(rows * cols, T(0));
  for (std::size_t i = 0; i < a.value.size(); ++i) {
    const auto row = static_cast<std::size_t>(a.row[i]), col = static_cast<std::size_t>(a.col[i]);
    columns.values[row + col * rows] += a.value[i];
    if (a.symmetry != Symmetry::general && row != col)
      columns.values[col + row * rows] += mirror_value(a.symmetry, a.value[i]);
  }
  return columns;
}

template <class T>
Columns<T> parse_columns(InputFile& file) {
  unify_line_ends(file);
  if (!looks_like_matrix_market(file)) raise_unknown(file);
  return to_columns(parse_matrix_market<T>(file));
}

}  // namespace

MatrixKind peek_matrix(const std::filesystem::path& path) {
  constexpr std::size_t head_bytes = std::size_t{1} << 20;
  InputFile head = read_input(path, head_bytes).matrix;
  unify_line_ends(head);
  if (!head.complete) head.text.resize(head.view().rfind('\n') + 1);  // the last line may be cut
  try {
    return kind_of(head);
  } catch (const ParseError&) {
    if (head.complete) throw;
  }
  InputFile file = read_input(path).matrix;
  unify_line_ends(file);
  return kind_of(file);
}

template <class T>
MatrixInput<T> read_matrix(const std::filesystem::path& path) {
  InputBundle files = read_input(path);
  MatrixInput<T> input;
  input.bytes = std::ssize(files.matrix.text);
  std::future<std::string> sum = std::async(std::launch::async, checksum, files.matrix.view());  // beside the parsing
  if (ends_lines_with_cr(files.matrix)) sum.wait();  // what it reads is about to change
  unify_line_ends(files.matrix);
  input.kind = kind_of(files.matrix);
  if (input.kind.format == FileFormat::matrix_market)
    input.matrix = parse_matrix_market<T>(files.matrix);
  else
    input.matrix = parse_harwell_boeing<T>(files.matrix, input.rhs);
  if (input.rhs) input.rhs_name = files.matrix.name;
  if (!files.rhs.empty()) {
    input.rhs = parse_columns<T>(files.rhs[0]);
    input.rhs_name = files.rhs[0].name;
  }
  input.checksum = sum.get();
  return input;
}

template <class T>
Columns<T> read_vector(const std::filesystem::path& path) {
  InputFile file = read_input(path).matrix;
  return parse_columns<T>(file);
}

template <class T>
struct ReadInstances {
  static constexpr std::tuple list{instance<MatrixInput<T>(const std::filesystem::path&)>(read_matrix),
                                   instance<Columns<T>(const std::filesystem::path&)>(read_vector)};
};
KRILL_INSTANTIATE(ReadInstances);

}  // namespace krill

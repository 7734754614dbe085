#include "sparse/io/read.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <future>
#include <limits>
#include <utility>

#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/checksum.hpp"
#include "sparse/io/harwell_boeing.hpp"
#include "sparse/io/host_memory.hpp"
#include "sparse/io/hypre_ij.hpp"
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
    remedy =
        "where these are sizes and entries: put \"%%MatrixMarket matrix coordinate real general\" before them; where "
        "hypre wrote it: call it NAME.00000, as hypre does";
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

template <class T>
Triplets<T> parse(const InputFile& file, const MatrixKind& kind, std::optional<Columns<T>>& rhs) {
  if (kind.format == FileFormat::matrix_market) return parse_matrix_market<T>(file);
  return parse_harwell_boeing<T>(file, rhs);
}

/// All parts of a matrix or vector that hypre wrote, one after the other in memory.
template <class T>
MatrixInput<T> read_ij(const IjFiles& files) {
  const std::vector<IjHead> heads = read_ij_heads(files, 0, files.count);
  const IjLayout layout = join_ij_heads(files, heads);
  MatrixInput<T> input{layout.kind, begin_ij_triplets<T>(files, layout), {}, {}, {}};
  RunningChecksum sum;
  for (std::int32_t k = 0; k < files.count; ++k) {
    const InputFile text = read_input(files.part(k)).matrix;
    sum.add(text.view());
    input.bytes += std::ssize(text.text);
    append_ij_part(text, files, heads[static_cast<std::size_t>(k)], layout, input.matrix);
  }
  input.kind.stored_entries = std::ssize(input.matrix.value);
  input.checksum = sum.text();
  return input;
}

[[noreturn]] MatrixKind raise_empty_batch(const std::filesystem::path& path) {
  throw Error(
      fmt::format("{}: there is no matrix in this archive\n  expected a tar archive of Matrix Market files "
                  "(NAME.mtx), one for each system",
                  path.string()));
}

/// Matrices that are put one after the other along the diagonal of one.
template <class T>
class Batch {
 public:
  void add(InputFile file) {
    unify_line_ends(file);
    const MatrixKind kind = kind_of(file);
    if (systems_ == 0) kind_ = kind, first_name_ = file.name;
    require_kind(file.name, kind);
    checksums_ += checksum(file.view()) + "\n";
    std::optional<Columns<T>> unused;
    CanonicalReport report;
    const AnyMatrix<T> A = assemble(parse<T>(file, kind, unused), report);
    std::visit([&](const auto& a) { append(file.name, a); }, A);
    book(report);
    ++systems_;
  }
  BatchInput<T> finish(const std::filesystem::path& path) && {
    if (systems_ == 0) raise_empty_batch(path);
    return {kind_, std::move(*this).matrix(), systems_, canonical_, checksum(checksums_)};
  }

 private:
  AnyMatrix<T> matrix() && {
    const auto rows = static_cast<std::int32_t>(std::ssize(offsets_) - 1);
    Array<std::int32_t> cols(std::move(cols_), "col_indices");
    Array<T> values(std::move(values_), "values");
    if (offsets_.back() > std::numeric_limits<std::int32_t>::max())
      return Csr<T, std::int64_t>(rows, Array<std::int64_t>(std::move(offsets_), "row_offsets"), std::move(cols),
                                  std::move(values));
    return Csr<T, std::int32_t>(
        rows, Array<std::int32_t>(std::vector<std::int32_t>(offsets_.begin(), offsets_.end()), "row_offsets"),
        std::move(cols), std::move(values));
  }
  void require_kind(const std::string& name, const MatrixKind& kind) const {
    if (kind.rows != kind.cols)
      throw InvalidArgument(fmt::format("{}: the matrix has {} rows and {} columns; the systems of a batch are square",
                                        name, kind.rows, kind.cols));
    if (kind.rows != kind_.rows)
      throw InvalidArgument(
          fmt::format("{}: the matrix has {} rows, and that of {} has {}; the systems of a batch are of one size: put "
                      "those of another size into an archive of their own",
                      name, kind.rows, first_name_, kind_.rows));
    if ((systems_ + std::int64_t{1}) * kind.rows > std::numeric_limits<std::int32_t>::max())
      throw InvalidArgument(fmt::format(
          "{}: with this matrix of {} rows the batch has {} rows, at most {} are "
          "possible; divide the archive",
          name, kind.rows, (systems_ + std::int64_t{1}) * kind.rows, std::numeric_limits<std::int32_t>::max()));
  }
  template <class Matrix>
  void append(const std::string& name, const Matrix& A) {
    if constexpr (is_csr<Matrix>) {
      constexpr std::int32_t most = 2;  // of five diagonals
      const std::int32_t first = systems_ * A.rows();
      const auto offsets = A.row_offsets().host();
      const auto cols = A.col_indices().host();
      for (std::int32_t i = 0; i < A.rows(); ++i) {
        for (auto e = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
             e < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++e) {
          if (std::abs(cols[e] - i) > most)
            throw InvalidArgument(
                fmt::format("{}: a({}, {}) (rows and columns count from 0) lies outside of five diagonals; the systems "
                            "of a batch are tridiagonal or pentadiagonal: solve this one by itself",
                            name, i, cols[e]));
          cols_.push_back(first + cols[e]);
        }
        offsets_.push_back(static_cast<std::int64_t>(cols_.size()));
      }
      values_.insert(values_.end(), A.values().host().begin(), A.values().host().end());
    }
  }
  void book(CanonicalReport one) {
    const std::int32_t first = systems_ * kind_.rows;
    for (std::int32_t* at : {&one.first_missing_diagonal, &one.first_non_finite_row, &one.first_non_finite_col})
      if (*at >= 0) *at += first;
    add_rows(canonical_, one);
  }

  MatrixKind kind_;
  CanonicalReport canonical_;
  std::string checksums_;
  std::int32_t systems_ = 0;
  std::string first_name_;
  std::vector<std::int64_t> offsets_{0};
  std::vector<std::int32_t> cols_;
  std::vector<T> values_;
};

}  // namespace

MatrixKind peek_matrix(const std::filesystem::path& path) {
  if (const auto files = find_ij_files(path)) return join_ij_heads(*files, read_ij_heads(*files, 0, files->count)).kind;
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

MatrixKind peek_batch(const std::filesystem::path& path) {
  std::optional<MatrixKind> kind;
  for_each_matrix_file(path, [&](InputFile file) {
    unify_line_ends(file);
    kind = kind_of(file);
    return false;
  });
  return kind ? *kind : raise_empty_batch(path);
}

template <class T>
BatchInput<T> read_batch(const std::filesystem::path& path) {
  Batch<T> batch;
  for_each_matrix_file(path, [&](InputFile file) { return batch.add(std::move(file)), true; });
  return std::move(batch).finish(path);
}

template <class T>
MatrixInput<T> read_matrix(const std::filesystem::path& path) {
  if (const auto files = find_ij_files(path)) return read_ij<T>(*files);
  InputBundle files = read_input(path);
  MatrixInput<T> input;
  input.bytes = std::ssize(files.matrix.text);
  std::future<std::string> sum = std::async(std::launch::async, checksum, files.matrix.view());  // beside the parsing
  if (ends_lines_with_cr(files.matrix)) sum.wait();  // what it reads is about to change
  unify_line_ends(files.matrix);
  input.kind = kind_of(files.matrix);
  input.matrix = parse<T>(files.matrix, input.kind, input.rhs);
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
  if (const auto files = find_ij_files(path)) {
    MatrixInput<T> input = read_ij<T>(*files);
    if (!input.kind.vector)
      throw InvalidArgument(
          fmt::format("{}: hypre wrote a matrix to these parts; expected those of a vector, or a Matrix "
                      "Market file",
                      path.string()));
    return to_columns(std::move(input.matrix));
  }
  InputFile file = read_input(path).matrix;
  return parse_columns<T>(file);
}

template <class T>
struct ReadInstances {
  static constexpr std::tuple list{instance<MatrixInput<T>(const std::filesystem::path&)>(read_matrix),
                                   instance<BatchInput<T>(const std::filesystem::path&)>(read_batch),
                                   instance<Columns<T>(const std::filesystem::path&)>(read_vector)};
};
KRILL_INSTANTIATE(ReadInstances);

}  // namespace krill

#include "sparse/io/matrix_market.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>
#include <utility>

#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/host_memory.hpp"
#include "sparse/io/numbers.hpp"
#include "sparse/io/text_fault.hpp"

namespace krill {
namespace {

/// Pieces are small enough to balance the threads, and a text of one piece wakes none.
constexpr std::ptrdiff_t piece_bytes = std::ptrdiff_t{1} << 20;

enum class Problem { none, no_index, index_out_of_range, no_number, no_whole_number, junk, diagonal };

/// What is wrong with an entry; the message is made of it later, out of the way of the loop that reads.
struct Fault {
  Problem problem = Problem::none;
  const char* at = nullptr;    // the token
  const char* what = nullptr;  // it should be
  std::int64_t entry = 0;
};

/// Whole lines of the body; `first` is the number of entries before them.
struct Piece {
  const char *begin, *end;
  std::int64_t first = 0, entries = 0;
  Fault fault;
};

std::vector<Piece> cut(const char* begin, const char* end) {
  std::vector<Piece> pieces;
  while (begin != end) {
    const char* last = end - begin > piece_bytes ? std::find(begin + piece_bytes, end, '\n') : end;
    if (last != end) ++last;
    pieces.push_back({begin, last, 0, 0, {}});
    begin = last;
  }
  return pieces;
}

bool holds_entry(const char* line, const char* end) {
  line = skip_blanks(line, end);
  return line != end && *line != '\n' && *line != '%';
}
const char* next_line(const char* p, const char* end) {
  const void* found = std::memchr(p, '\n', static_cast<std::size_t>(end - p));
  return found ? static_cast<const char*>(found) + 1 : end;
}

/// The number of lines of a piece in which every line holds an entry; -1 if that is not sure: if there is a %, a blank
/// before a line's end, or no line end at the end. It takes a tenth of the time of parsing, with no branch for a byte.
std::int64_t count_plain_lines(const Piece& piece) {
  constexpr std::ptrdiff_t block = 240;  // counts of a block fit into bytes
  if (piece.begin == piece.end) return 0;
  if (piece.end[-1] != '\n' || *piece.begin == '\n' || *piece.begin == '%') return -1;
  std::int64_t lines = 0;
  for (const char* p = piece.begin + 1; p != piece.end;) {
    const std::ptrdiff_t size = std::min(block, piece.end - p);
    unsigned char line_ends = 0, odd = 0;
#pragma omp simd reduction(+ : line_ends, odd)
    for (std::ptrdiff_t i = 0; i < size; ++i) {
      const bool ends = p[i] == '\n';
      line_ends += ends;
      odd += (p[i] == '%') | (ends & (p[i - 1] <= ' '));
    }
    if (odd > 0) return -1;
    lines += line_ends;
    p += size;
  }
  return lines;
}

std::int64_t count_entries(const Piece& piece) {
  const std::int64_t lines = count_plain_lines(piece);
  if (lines >= 0) return lines;
  std::int64_t count = 0;
  for (const char* p = piece.begin; p != piece.end; p = next_line(p, piece.end)) count += holds_entry(p, piece.end);
  return count;
}

/// Where line `wanted` of those that hold an entry begins.
const char* find_entry(const std::vector<Piece>& pieces, std::int64_t wanted) {
  for (const Piece& piece : pieces) {
    if (wanted >= piece.first + piece.entries) continue;
    std::int64_t index = piece.first;
    for (const char* p = piece.begin; p != piece.end; p = next_line(p, piece.end))
      if (holds_entry(p, piece.end) && index++ == wanted) return skip_blanks(p, piece.end);
  }
  return pieces.back().end;
}

/// Entries of an array in their order: down the columns, in the lower triangle where there is a symmetry.
class ArrayPlace {
 public:
  ArrayPlace(const MatrixKind& kind, std::int64_t index)
      : rows_(kind.rows),
        lower_(kind.symmetry != Symmetry::general),
        below_(kind.symmetry == Symmetry::skew_symmetric ? 1 : 0) {
    if (!lower_ && rows_ > 0) col_ = static_cast<std::int32_t>(index / rows_), index %= rows_;
    for (; lower_ && col_ < rows_ && index >= rows_ - first_row(); ++col_) index -= rows_ - first_row();
    row_ = first_row() + static_cast<std::int32_t>(index);
  }
  std::int32_t row() const { return row_; }
  std::int32_t col() const { return col_; }
  void advance() {
    if (++row_ == rows_) ++col_, row_ = first_row();
  }

 private:
  std::int32_t first_row() const { return lower_ ? col_ + below_ : 0; }

  std::int32_t rows_;
  bool lower_;
  std::int32_t below_, row_ = 0, col_ = 0;
};

/// Reads the entries of one piece into their places in the triplets, up to the first fault.
template <class T>
class PieceParser {
 public:
  /// first: entries in lines before those of which the triplets are.
  PieceParser(const MatrixKind& kind, Piece& piece, std::int64_t first, Triplets<T>& out)
      : kind_(kind), piece_(piece), p_(piece.begin), end_(piece.end), at_(piece.first), first_(first), out_(out) {}

  void parse() {
    ArrayPlace place(kind_, kind_.dense ? piece_.first : 0);
    while (p_ != end_) {
      line_ = p_ = skip_blanks(p_, end_);
      if (!holds_entry(p_, end_)) {
        p_ = next_line(p_, end_);
        continue;
      }
      std::int32_t row = place.row(), col = place.col();
      if (kind_.dense)
        place.advance();
      else if (!read_index("row index", kind_.rows, row) ||
               (!kind_.vector && !read_index("column index", kind_.cols, col)))
        return;
      T value(1);
      if (!read_value(value) || !end_line()) return;
      if (row == col && contradicts_diagonal(kind_.symmetry, value)) {
        fail(Problem::diagonal, line_, "");
        return;
      }
      const auto at = static_cast<std::size_t>(at_++ - first_);
      out_.row[at] = row, out_.col[at] = col, out_.value[at] = value;
    }
  }

 private:
  bool fail(Problem problem, const char* at, const char* what) {
    piece_.fault = {problem, at, what, at_};
    return false;
  }

  bool read_index(const char* what, std::int32_t most, std::int32_t& index) {
    p_ = skip_blanks(p_, end_);
    std::int64_t value = 0;
    const char* last = parse_index(p_, end_, value);
    if (!last) last = parse_integer(p_, end_, value);
    if (!last) return fail(Problem::no_index, p_, what);
    if (value < 1 || value > most) return fail(Problem::index_out_of_range, p_, what);
    index = static_cast<std::int32_t>(value - 1);
    p_ = last;
    return true;
  }
  bool read_real(const char* what, real_t<T>& value) {
    p_ = skip_blanks(p_, end_);
    const char* last = parse_real(p_, end_, value);
    if (!last) return fail(Problem::no_number, p_, what);
    p_ = last;
    return true;
  }
  bool read_value(T& value) {
    real_t<T> real{}, imaginary{};
    switch (kind_.field) {
      case Field::pattern:
        return true;
      case Field::complex:
        if (!read_real("real part", real) || !read_real("imaginary part", imaginary)) return false;
        break;
      case Field::integer:
        p_ = skip_blanks(p_, end_);
        if (token_at(p_, end_).find_first_not_of("+-0123456789") != std::string_view::npos)
          return fail(Problem::no_whole_number, p_, "value");
        [[fallthrough]];
      case Field::real:
        if (!read_real("value", real)) return false;
    }
    if constexpr (is_complex<T>)
      value = {real, imaginary};
    else
      value = real;
    return true;
  }
  bool end_line() {
    p_ = skip_blanks(p_, end_);
    if (p_ == end_) return true;
    if (*p_ != '\n') return fail(Problem::junk, p_, "");
    ++p_;
    return true;
  }

  const MatrixKind kind_;
  Piece& piece_;
  const char *p_, *end_, *line_ = nullptr;
  std::int64_t at_;
  const std::int64_t first_;
  Triplets<T>& out_;
};

/// What was found, what was expected, what to do.
std::array<std::string, 3> explain(const InputFile& file, const MatrixMarketHead& head, const Fault& fault) {
  const std::string_view token = token_at(fault.at, file.text.data() + file.text.size());
  const std::string_view what = fault.what;
  const std::string found = token.empty() ? fmt::format("the line ends where the {} should stand", what)
                                          : fmt::format("the {} is {}", what, in_quotes(token));
  const bool is_row = what == "row index";
  switch (fault.problem) {
    case Problem::no_index:
      return {found, "expected a whole number", "correct this line"};
    case Problem::index_out_of_range:
      return {fmt::format("{} {} is out of range", what, token),
              fmt::format("expected 1 to {}, as the size line {}:{} says", is_row ? head.kind.rows : head.kind.cols,
                          file.name, head.size_line),
              token == "0" ? "count from 1: where the whole file counts from 0, add 1 to every index"
                           : fmt::format("correct this entry, or the number of {} in the size line",
                                         is_row ? "rows" : "columns")};
    case Problem::no_number:
      return {found, "expected a decimal number such as -1.5e-3", "correct this line"};
    case Problem::no_whole_number:
      return {found, "expected a whole number, as the banner says integer",
              "correct this line, or write real in the banner"};
    case Problem::diagonal:
      return {"the diagonal entry contradicts the banner",
              fmt::format("expected {}", diagonal_rule(head.kind.symmetry)),
              "correct this entry, or write general in the banner and store both triangles"};
    default:
      return {fmt::format("the entry is followed by {}", in_quotes(token)),
              fmt::format("expected the end of the line: the banner says {}", name(head.kind.field)),
              "correct this line, or the banner"};
  }
}

[[noreturn]] void raise_fault(const InputFile& file, const MatrixMarketHead& head, const Fault& fault) {
  const auto [found, expected, remedy] = explain(file, head, fault);
  raise(file, {fault.at, fmt::format("{} (entry {} of {})\n  {}\n  {}", found, fault.entry + 1,
                                     head.kind.stored_entries, expected, remedy)});
}

/// The number of lines that hold an entry must be the declared one. False where another rank says that it is not.
bool check_count(const InputFile& file, const MatrixMarketHead& head, const std::vector<Piece>& pieces,
                 const EntryCounts& counts) {
  const std::int64_t declared = head.kind.stored_entries, found = counts.all;
  if (found == declared) return true;
  const std::int64_t end = pieces.empty() ? counts.before : pieces.back().first + pieces.back().entries;
  if (found < declared ? !counts.at_end : declared < counts.before || declared >= end) return false;
  const std::string expected =
      fmt::format("expected {}, as the size line {}:{} says", declared, file.name, head.size_line);
  if (found < declared)
    raise(file, {file.text.data() + file.text.size(),
                 fmt::format(
                     "the file ends after {} of its entries\n  {}\n  check that the file is whole, or correct the size "
                     "line",
                     found, expected)});
  raise(file,
        {find_entry(pieces, declared), fmt::format("there are {} entries, this line holds the first one too many\n"
                                                   "  {}\n  remove what is too much, or correct the size line",
                                                   found, expected)});
}

/// Calls f(piece) for each piece, in parallel.
template <class F>
void for_each(std::vector<Piece>& pieces, F f) {
  const auto count = std::ssize(pieces);
  const int threads =
      static_cast<int>(std::min<std::ptrdiff_t>(omp_get_max_threads(), std::max<std::ptrdiff_t>(count, 1)));
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::ptrdiff_t i = 0; i < count; ++i) f(pieces[static_cast<std::size_t>(i)]);
}

}  // namespace

template <class T>
void require_scalar_for(const MatrixKind& kind, const std::string& file) {
  if (!is_complex<T> && kind.field == Field::complex)
    throw InvalidArgument(file +
                          ": the matrix is complex and was to be read as real\n"
                          "  ask for precision complex128 or complex64");
}

template <class T>
Triplets<T> parse_matrix_market(const InputFile& file) {
  const MatrixMarketHead head = parse_matrix_market_head(file);
  return parse_matrix_market_lines<T>(file, head, head.body, [](std::int64_t all) { return EntryCounts{0, all}; });
}

template <class T>
Triplets<T> parse_matrix_market_lines(const InputFile& file, const MatrixMarketHead& head, std::size_t begin,
                                      const std::function<EntryCounts(std::int64_t)>& share_counts) {
  require_scalar_for<T>(head.kind, file.name);
  std::vector<Piece> pieces = cut(file.text.data() + begin, file.text.data() + file.text.size());
  for_each(pieces, [](Piece& piece) { piece.entries = count_entries(piece); });
  std::int64_t mine = 0;
  for (const Piece& piece : pieces) mine += piece.entries;
  const EntryCounts counts = share_counts(mine);
  std::int64_t next = counts.before;
  for (Piece& piece : pieces) piece.first = std::exchange(next, next + piece.entries);
  if (!check_count(file, head, pieces, counts)) return {};

  const auto entries = static_cast<std::size_t>(mine);
  require_memory("the entries of " + file.name, entries * (2 * sizeof(std::int32_t) + sizeof(T)));
  Triplets<T> out{file.name,          head.kind.rows,  head.kind.cols, {}, {}, {},
                  head.kind.symmetry, head.kind.field, head.kind.dense};
  out.row.resize(entries), out.col.resize(entries), out.value.resize(entries);
  for_each(pieces, [&](Piece& piece) { PieceParser<T>(head.kind, piece, counts.before, out).parse(); });
  for (const Piece& piece : pieces)
    if (piece.fault.at) raise_fault(file, head, piece.fault);
  return out;
}

template <class T>
struct MatrixMarketInstances {
  static constexpr std::tuple list{instance<Triplets<T>(const InputFile&)>(parse_matrix_market),
                                   &require_scalar_for<T>};
};
KRILL_INSTANTIATE(MatrixMarketInstances);

}  // namespace krill

#include "sparse/io/entry_lines.hpp"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cstring>
#include <string_view>
#include <tuple>
#include <utility>

#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/numbers.hpp"

namespace krill {
namespace {

/// Pieces are small enough to balance the threads, and a text of one piece wakes none.
constexpr std::ptrdiff_t piece_bytes = std::ptrdiff_t{1} << 20;

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
std::int64_t count_plain_lines(const char* begin, const char* end) {
  constexpr std::ptrdiff_t block = 240;  // counts of a block fit into bytes
  if (begin == end) return 0;
  if (end[-1] != '\n' || *begin == '\n' || *begin == '%') return -1;
  std::int64_t lines = 0;
  for (const char* p = begin + 1; p != end;) {
    const std::ptrdiff_t size = std::min(block, end - p);
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

std::int64_t count_entries(const char* begin, const char* end) {
  const std::int64_t lines = count_plain_lines(begin, end);
  if (lines >= 0) return lines;
  std::int64_t count = 0;
  for (const char* p = begin; p != end; p = next_line(p, end)) count += holds_entry(p, end);
  return count;
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

/// Calls f(piece) for each piece, in parallel.
template <class Pieces, class F>
void for_each(Pieces& pieces, F f) {
  const auto count = std::ssize(pieces);
  const int threads =
      static_cast<int>(std::min<std::ptrdiff_t>(omp_get_max_threads(), std::max<std::ptrdiff_t>(count, 1)));
#pragma omp parallel for num_threads(threads) schedule(dynamic)
  for (std::ptrdiff_t i = 0; i < count; ++i) f(pieces[static_cast<std::size_t>(i)]);
}

}  // namespace

/// Reads the entries of one piece into their places in the triplets, up to the first fault.
template <class T>
class EntryLines::Parser {
 public:
  Parser(const EntryForm& form, const Piece& piece, std::size_t first, Triplets<T>& out)
      : form_(form), kind_(form.kind), p_(piece.begin), end_(piece.end), at_(piece.first), first_(first), out_(out) {}

  EntryFault parse() {
    ArrayPlace place(kind_, kind_.dense ? at_ : 0);
    while (p_ != end_) {
      line_ = p_ = skip_blanks(p_, end_);
      if (!holds_entry(p_, end_)) {
        p_ = next_line(p_, end_);
        continue;
      }
      std::int32_t row = place.row(), col = place.col();
      if (kind_.dense)
        place.advance();
      else if (!read_index("row index", form_.rows, row) ||
               (!kind_.vector && !read_index("column index", form_.cols, col)))
        return fault_;
      T value(1);
      if (!read_value(value) || !end_line()) return fault_;
      if (row == col && contradicts_diagonal(kind_.symmetry, value)) {
        fail(EntryProblem::diagonal, line_, "");
        return fault_;
      }
      const auto at = first_ + static_cast<std::size_t>(at_++);
      out_.row[at] = row, out_.col[at] = col, out_.value[at] = value;
    }
    return fault_;
  }

 private:
  bool fail(EntryProblem problem, const char* at, const char* what) {
    fault_ = {problem, at, what, at_};
    return false;
  }

  bool read_index(const char* what, const NumberRange& range, std::int32_t& index) {
    p_ = skip_blanks(p_, end_);
    std::int64_t value = 0;
    const char* last = parse_index(p_, end_, value);
    if (!last) last = parse_integer(p_, end_, value);
    if (!last) return fail(EntryProblem::no_index, p_, what);
    if (value < range.first || value > range.last) return fail(EntryProblem::index_out_of_range, p_, what);
    index = static_cast<std::int32_t>(value - range.zero);
    p_ = last;
    return true;
  }
  bool read_real(const char* what, real_t<T>& value) {
    p_ = skip_blanks(p_, end_);
    const char* last = parse_real(p_, end_, value);
    if (!last) return fail(EntryProblem::no_number, p_, what);
    p_ = last;
    return true;
  }
  bool read_comma() {
    if (!form_.comma) return true;
    p_ = skip_blanks(p_, end_);
    if (token_at(p_, end_) != ",") return fail(EntryProblem::no_number, p_, "comma");
    ++p_;
    return true;
  }
  bool read_value(T& value) {
    real_t<T> real{}, imaginary{};
    switch (kind_.field) {
      case Field::pattern:
        return true;
      case Field::complex:
        if (!read_real("real part", real) || !read_comma() || !read_real("imaginary part", imaginary)) return false;
        break;
      case Field::integer:
        p_ = skip_blanks(p_, end_);
        if (token_at(p_, end_).find_first_not_of("+-0123456789") != std::string_view::npos)
          return fail(EntryProblem::no_whole_number, p_, "value");
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
    if (*p_ != '\n') return fail(EntryProblem::junk, p_, "");
    ++p_;
    return true;
  }

  const EntryForm& form_;
  const MatrixKind kind_;
  const char *p_, *end_, *line_ = nullptr;
  std::int64_t at_;
  const std::size_t first_;
  Triplets<T>& out_;
  EntryFault fault_;
};

Explanation explain(const InputFile& file, const EntryFault& fault) {
  const std::string_view token = token_at(fault.at, file.text.data() + file.text.size());
  const std::string_view what = fault.what;
  const std::string found = token.empty() ? fmt::format("the line ends where the {} should stand", what)
                                          : fmt::format("the {} is {}", what, in_quotes(token));
  switch (fault.problem) {
    case EntryProblem::no_index:
      return {found, "expected a whole number", "correct this line"};
    case EntryProblem::no_number:
      return {
          found,
          what == "comma" ? "expected \"row column real , imaginary\"" : "expected a decimal number such as -1.5e-3",
          "correct this line"};
    case EntryProblem::index_out_of_range:
      return {fmt::format("{} {} is out of range", what, token), "", ""};
    case EntryProblem::junk:
      return {fmt::format("the entry is followed by {}", in_quotes(token)), "", ""};
    default:
      return {found, "", ""};
  }
}

EntryLines::EntryLines(const InputFile& file, std::size_t begin) : end_(file.text.data() + file.text.size()) {
  for (const char* p = file.text.data() + begin; p != end_;) {
    const char* last = end_ - p > piece_bytes ? std::find(p + piece_bytes, end_, '\n') : end_;
    if (last != end_) ++last;
    pieces_.push_back({p, last});
    p = last;
  }
  for_each(pieces_, [](Piece& piece) { piece.entries = count_entries(piece.begin, piece.end); });
  for (Piece& piece : pieces_) piece.first = std::exchange(count_, count_ + piece.entries);
}

const char* EntryLines::find(std::int64_t wanted) const {
  for (const Piece& piece : pieces_) {
    if (wanted >= piece.first + piece.entries) continue;
    std::int64_t index = piece.first;
    for (const char* p = piece.begin; p != piece.end; p = next_line(p, piece.end))
      if (holds_entry(p, piece.end) && index++ == wanted) return skip_blanks(p, piece.end);
  }
  return end_;
}

template <class T>
EntryFault EntryLines::parse(const EntryForm& form, std::size_t first, Triplets<T>& out) const {
  std::vector<EntryFault> faults(pieces_.size());
  for_each(pieces_, [&](const Piece& piece) {
    faults[static_cast<std::size_t>(&piece - pieces_.data())] = Parser<T>(form, piece, first, out).parse();
  });
  for (const EntryFault& fault : faults)
    if (fault.at) return fault;
  return {};
}

template <class T>
void require_scalar_for(const MatrixKind& kind, const std::string& file) {
  if (!is_complex<T> && kind.field == Field::complex)
    throw InvalidArgument(file +
                          ": the matrix is complex and was to be read as real\n"
                          "  ask for precision complex128 or complex64");
}

template <class T>
struct EntryLinesInstances {
  static constexpr std::tuple list{&EntryLines::parse<T>, &require_scalar_for<T>};
};
KRILL_INSTANTIATE(EntryLinesInstances);

}  // namespace krill

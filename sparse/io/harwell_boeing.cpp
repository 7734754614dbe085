#include "sparse/io/harwell_boeing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "sparse/core/instantiate.hpp"
#include "sparse/io/entry_lines.hpp"
#include "sparse/io/fortran_fields.hpp"
#include "sparse/io/host_memory.hpp"
#include "sparse/io/numbers.hpp"

namespace krill {
namespace {

constexpr std::int64_t max_index = std::numeric_limits<std::int32_t>::max();

struct Head {
  MatrixKind kind;
  FortranFormat pointers, indices, values, rhs_values;
  char rhs_form = 0;  // 'F' full, 'M' sparse as the matrix, 0 none
  std::int64_t rhs_count = 0, rhs_entries = 0;
};

std::vector<std::string_view> words(std::string_view line) {
  std::vector<std::string_view> result;
  const char *p = line.data(), *end = p + line.size();
  while ((p = skip_blanks(p, end)) != end) {
    result.push_back(token_at(p, end));
    p += result.back().size();
  }
  return result;
}
bool is_count(std::string_view word) {
  std::int64_t value = 0;
  return parse_integer(word.data(), word.data() + word.size(), value) != nullptr;
}
bool is_three_letters(std::string_view word) {
  return word.size() == 3 && std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isalpha(c); });
}
std::array<std::string_view, 3> first_lines(std::string_view text) {
  std::array<std::string_view, 3> lines;
  for (std::string_view& line : lines) {
    const std::size_t size = std::min(text.find('\n'), text.size());
    line = text.substr(0, size);
    text.remove_prefix(std::min(size + 1, text.size()));
  }
  return lines;
}

/// Reads the four or five lines of the head.
class HeadParser {
 public:
  explicit HeadParser(FortranReader& reader) : reader_(reader) {}

  Head parse() {
    reader_.next_line("the title");
    const std::vector<std::int64_t> cards = counts(reader_.next_line("the numbers of lines"), 0, 4);
    const bool has_rhs = cards.size() > 4 && cards[4] > 0;
    parse_type_line(reader_.next_line("the type and the sizes"), cards.size() == 4);
    parse_formats(reader_.next_line("the formats"), has_rhs);
    if (has_rhs) parse_rhs_line(reader_.next_line("the form of the right-hand sides"));
    return head_;
  }

 private:
  /// At least `least` whole numbers from 0 on, from word `skip` on.
  std::vector<std::int64_t> counts(std::string_view line, std::size_t skip, std::size_t least) {
    const std::vector<std::string_view> found = words(line);
    std::vector<std::int64_t> result;
    for (std::size_t i = skip; i < found.size(); ++i) {
      std::int64_t value = 0;
      if (!parse_integer(found[i].data(), found[i].data() + found[i].size(), value) || value < 0)
        reader_.fail(found[i], fmt::format("a count is {}", in_quotes(found[i])), "expected a whole number from 0 on",
                     "correct the head of the file");
      result.push_back(value);
    }
    if (result.size() < least)
      reader_.fail(line, fmt::format("this line of the head holds {} counts", result.size()),
                   fmt::format("expected at least {}", least), "correct the head of the file");
    return result;
  }

  std::size_t letter(std::string_view type, std::size_t place, std::string_view known, std::string_view meaning) {
    const std::size_t found = known.find(static_cast<char>(std::tolower(static_cast<unsigned char>(type[place]))));
    if (found == known.npos)
      reader_.fail(type.substr(place),
                   fmt::format("letter {} of the matrix type is {}", place + 1, in_quotes(type.substr(place, 1))),
                   fmt::format("expected {}", meaning), "correct the type in the head of the file");
    return found;
  }

  void parse_type_line(std::string_view line, bool four_counts) {
    const std::vector<std::string_view> found = words(line);
    const std::string_view type = found.empty() ? line : found[0];
    if (!is_three_letters(type))
      reader_.fail(type, fmt::format("the matrix type is {}", in_quotes(type)),
                   "expected three letters, such as RUA, first in this line", "correct the head of the file");
    MatrixKind& kind = head_.kind;
    const bool rutherford = four_counts && std::islower(static_cast<unsigned char>(type[0]));
    kind.format = rutherford ? FileFormat::rutherford_boeing : FileFormat::harwell_boeing;
    constexpr std::array fields{Field::real, Field::complex, Field::integer, Field::pattern, Field::pattern};
    kind.field = fields[letter(type, 0, "rcipq", "r, c, i, p or q: real, complex, integer, pattern")];
    constexpr std::array symmetries{Symmetry::general, Symmetry::general, Symmetry::symmetric, Symmetry::hermitian,
                                    Symmetry::skew_symmetric};
    kind.symmetry = symmetries[letter(type, 1, "urshz",
                                      "u, r, s, h or z: unsymmetric, rectangular, symmetric, "
                                      "Hermitian, skew-symmetric")];
    const bool elemental = letter(type, 2, "ae", "a or e: assembled, elements") == 1;
    check_type(type, elemental);
    const std::vector<std::int64_t> sizes = counts(line, 1, 3);
    if (std::max(sizes[0], sizes[1]) > max_index)
      reader_.fail(found[1], fmt::format("the matrix is {} x {}", sizes[0], sizes[1]),
                   fmt::format("expected at most {} rows and columns", max_index),
                   "indices have 32 bits: larger systems cannot be solved here");
    kind.rows = static_cast<std::int32_t>(sizes[0]), kind.cols = static_cast<std::int32_t>(sizes[1]);
    kind.stored_entries = sizes[2];
    if (kind.symmetry != Symmetry::general && kind.rows != kind.cols)
      reader_.fail(found[1], fmt::format("the matrix is {} and {} x {}", name(kind.symmetry), kind.rows, kind.cols),
                   "expected as many rows as columns", "correct the head of the file");
  }

  void check_type(std::string_view type, bool elemental) {
    if (elemental)
      reader_.fail(type, "this matrix consists of unassembled elements", "expected an assembled one: third letter a",
                   "assemble it first");
    if (std::tolower(static_cast<unsigned char>(type[0])) == 'q')
      reader_.fail(type, "the values of this matrix lie in a file of their own",
                   "expected them here: first letter r, c or i", "write both into one file first");
    if (head_.kind.symmetry == Symmetry::hermitian && head_.kind.field != Field::complex)
      reader_.fail(type, fmt::format("the matrix is {} and Hermitian", name(head_.kind.field)),
                   "expected a complex Hermitian or a symmetric matrix", "correct the type in the head of the file");
  }

  FortranFormat format(std::string_view& rest, std::string_view what) {
    const std::string_view at = rest;
    if (const std::optional<FortranFormat> format = take_fortran_format(rest)) return *format;
    reader_.fail(at, fmt::format("the format of the {} is missing or unknown", what),
                 "expected a Fortran format of one kind of number, such as (10I8) or (1P,5E16.8)",
                 "correct line 4 of the file");
  }
  void parse_formats(std::string_view line, bool has_rhs) {
    head_.pointers = format(line, "pointers");
    head_.indices = format(line, "row indices");
    if (head_.kind.field != Field::pattern) head_.values = format(line, "values");
    if (has_rhs) head_.rhs_values = format(line, "right-hand sides");
  }

  void parse_rhs_line(std::string_view line) {
    const std::vector<std::string_view> found = words(line);
    const std::string_view form = found.empty() ? line : found[0];
    head_.rhs_form = form.empty() ? 0 : static_cast<char>(std::toupper(static_cast<unsigned char>(form[0])));
    if (head_.rhs_form != 'F' && head_.rhs_form != 'M')
      reader_.fail(form, fmt::format("the form of the right-hand sides is {}", in_quotes(form)),
                   "expected F (full) or M (as the matrix) first", "correct line 5 of the file");
    // G and X, that guesses and solutions follow, stand in columns 2 and 3; with blanks between they are words.
    std::size_t skip = 1;
    while (skip < found.size() && !is_count(found[skip])) ++skip;
    const std::vector<std::int64_t> sizes = counts(line, skip, head_.rhs_form == 'M' ? 2 : 1);
    head_.rhs_count = sizes[0];
    head_.rhs_entries = head_.rhs_form == 'M' ? sizes[1] : 0;
    if (head_.rhs_count > max_index)
      reader_.fail(line, fmt::format("there are {} right-hand sides", head_.rhs_count),
                   fmt::format("expected at most {}", max_index), "correct line 5 of the file");
  }

  FortranReader& reader_;
  Head head_;
};

/// Reads what follows the head.
template <class T>
class BodyParser {
 public:
  BodyParser(FortranReader& reader, const Head& head) : reader_(reader), head_(head) {}

  Triplets<T> parse_matrix(const std::string& file) {
    const MatrixKind& kind = head_.kind;
    const std::vector<std::int64_t> pointers = read_pointers("column pointer", kind.cols, kind.stored_entries);
    Triplets<T> out{file, kind.rows, kind.cols, {}, {}, {}, kind.symmetry, kind.field, false};
    reader_.begin("row index", kind.stored_entries, head_.indices);
    const auto entries = static_cast<std::size_t>(kind.stored_entries);
    require_memory("the entries of " + file, entries * (2 * sizeof(std::int32_t) + sizeof(T)));
    out.row.resize(entries), out.col.resize(entries), out.value.assign(entries, T(1));
    for (std::int32_t col = 0; col < kind.cols; ++col) read_column(col, pointers, out);
    if (kind.field != Field::pattern) read_values(out);
    return out;
  }

  std::optional<Columns<T>> parse_rhs(const std::string& file) {
    if (head_.rhs_form == 0) return {};
    Columns<T> rhs{head_.kind.rows, static_cast<std::int32_t>(head_.rhs_count), {}};
    const std::int64_t size = std::int64_t{rhs.rows} * rhs.cols;
    if (head_.rhs_form == 'F') {
      reader_.begin("right-hand side value", size * numbers_a_value(), head_.rhs_values);
      rhs.values.resize(static_cast<std::size_t>(size));
      for (T& value : rhs.values) value = next_value();
      return rhs;
    }
    require_memory("the right-hand sides of " + file, static_cast<std::size_t>(size) * sizeof(T));
    rhs.values.resize(static_cast<std::size_t>(size));
    read_sparse_rhs(rhs);
    return rhs;
  }

 private:
  int numbers_a_value() const { return head_.kind.field == Field::complex ? 2 : 1; }
  T next_value() {
    const auto real = reader_.template next_real<real_t<T>>();
    if constexpr (is_complex<T>)
      return {real, head_.kind.field == Field::complex ? reader_.template next_real<real_t<T>>() : real_t<T>(0)};
    else
      return real;
  }

  /// Where each of `columns` columns begins among `entries` entries, from 0.
  std::vector<std::int64_t> read_pointers(std::string_view what, std::int64_t columns, std::int64_t entries) {
    reader_.begin(what, columns + 1, head_.pointers);
    std::vector<std::int64_t> pointers;
    pointers.reserve(static_cast<std::size_t>(columns) + 1);
    for (std::int64_t i = 0; i <= columns; ++i) {
      const std::int64_t least = i == columns ? entries : i == 0 ? 0 : pointers.back();
      const std::int64_t most = i == 0 && columns > 0 ? 0 : entries;
      pointers.push_back(reader_.next_integer(least + 1, most + 1) - 1);
    }
    return pointers;
  }

  void read_column(std::int32_t col, const std::vector<std::int64_t>& pointers, Triplets<T>& out) {
    const auto c = static_cast<std::size_t>(col);
    for (std::int64_t i = pointers[c]; i < pointers[c + 1]; ++i) {
      const auto at = static_cast<std::size_t>(i);
      out.row[at] = static_cast<std::int32_t>(reader_.next_integer(1, out.rows) - 1);
      out.col[at] = col;
      const bool ascends = i == pointers[c] || out.row[at] > out.row[at - 1];
      if (!ascends && head_.kind.format == FileFormat::rutherford_boeing)
        reader_.fail_number("does not ascend",
                            fmt::format("expected more than {} in column {}", out.row[at - 1] + 1, col + 1),
                            "sort the entries of this column");
    }
  }

  void read_values(Triplets<T>& out) {
    reader_.begin("value", std::ssize(out.value) * numbers_a_value(), head_.values);
    for (std::size_t i = 0; i < out.value.size(); ++i) {
      out.value[i] = next_value();
      if (out.row[i] == out.col[i] && contradicts_diagonal(out.symmetry, out.value[i]))
        reader_.fail_number("stands on the diagonal", fmt::format("expected {}", diagonal_rule(out.symmetry)),
                            "correct it, or the type in the head of the file");
    }
  }

  void read_sparse_rhs(Columns<T>& rhs) {
    const std::vector<std::int64_t> pointers = read_pointers("right-hand side pointer", rhs.cols, head_.rhs_entries);
    reader_.begin("right-hand side row index", head_.rhs_entries, head_.indices);
    std::vector<std::int64_t> rows(static_cast<std::size_t>(head_.rhs_entries));
    for (std::int64_t& row : rows) row = reader_.next_integer(1, rhs.rows) - 1;
    reader_.begin("right-hand side value", head_.rhs_entries * numbers_a_value(), head_.rhs_values);
    for (std::size_t col = 0; col + 1 < pointers.size(); ++col)
      for (std::int64_t i = pointers[col]; i < pointers[col + 1]; ++i)
        rhs.values[static_cast<std::size_t>(rows[static_cast<std::size_t>(i)]) +
                   col * static_cast<std::size_t>(rhs.rows)] += next_value();
  }

  FortranReader& reader_;
  const Head& head_;
};

}  // namespace

bool looks_like_harwell_boeing(const InputFile& file) {
  const auto lines = first_lines(file.view());
  const auto cards = words(lines[1]), sizes = words(lines[2]);
  return cards.size() >= 4 && std::all_of(cards.begin(), cards.end(), is_count) && sizes.size() >= 4 &&
         is_three_letters(sizes[0]) && is_count(sizes[1]);
}

bool looks_like_rutherford_boeing_supplement(const InputFile& file) {
  const auto lines = first_lines(file.view());
  const auto kind = words(lines[1]);
  constexpr std::array known{"ord", "rhs", "sln", "est", "evl", "svl", "evc", "svc", "sbv", "sbm", "sbp", "avl", "geo"};
  return kind.size() >= 4 && std::find(known.begin(), known.end(), kind[0].substr(0, 3)) != known.end() &&
         is_count(kind.back()) && lines[2].starts_with('(');
}

MatrixKind parse_harwell_boeing_head(const InputFile& file) {
  FortranReader reader(file);
  return HeadParser(reader).parse().kind;
}

template <class T>
Triplets<T> parse_harwell_boeing(const InputFile& file, std::optional<Columns<T>>& rhs) {
  FortranReader reader(file);
  const Head head = HeadParser(reader).parse();
  require_scalar_for<T>(head.kind, file.name);
  BodyParser<T> body(reader, head);
  Triplets<T> matrix = body.parse_matrix(file.name);
  rhs = body.parse_rhs(file.name);
  return matrix;
}

template <class T>
struct HarwellBoeingInstances {
  static constexpr auto list =
      instance<Triplets<T>(const InputFile&, std::optional<Columns<T>>&)>(parse_harwell_boeing);
};
KRILL_INSTANTIATE(HarwellBoeingInstances);

}  // namespace krill

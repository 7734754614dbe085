#include "sparse/io/hypre_ij.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>
#include <string_view>
#include <system_error>

#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/entry_lines.hpp"
#include "sparse/io/harwell_boeing.hpp"
#include "sparse/io/host_memory.hpp"
#include "sparse/io/matrix_market.hpp"
#include "sparse/io/numbers.hpp"
#include "sparse/io/text_fault.hpp"

namespace krill {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t digits = 5;         // of the number in a name; of more parts than that, more
constexpr std::size_t head_bytes = 4096;  // enough for the first two lines
constexpr std::string_view first_number = ".00000";

/// Of a name "A.00012"; nothing where it is none.
std::optional<std::int32_t> number_of(const std::string& name, std::size_t point) {
  std::int64_t number = 0;
  if (point == name.npos || name.size() - point - 1 < digits || name.size() - point - 1 > 9) return {};
  const char* last = parse_index(name.data() + point + 1, name.data() + name.size(), number);
  if (!last || fmt::format("{:05}", number) != name.substr(point + 1)) return {};
  return static_cast<std::int32_t>(number);
}

/// The tokens of the first line, and of the next one that has any.
struct FirstLines {
  explicit FirstLines(const InputFile& file) {
    const char *p = file.text.data(), *end = p + file.text.size();
    p = read(p, end, head);
    while (p != end && entry.empty()) p = read(p, end, entry);
  }
  std::vector<std::string_view> head, entry;

 private:
  static const char* read(const char* p, const char* end, std::vector<std::string_view>& tokens) {
    for (p = skip_blanks(p, end); p != end && *p != '\n'; p = skip_blanks(p, end)) {
      tokens.push_back(token_at(p, end));
      p += tokens.back().size();
    }
    return p == end ? p : p + 1;
  }
};

std::optional<std::int64_t> whole_number(std::string_view token) {
  constexpr std::int64_t most = std::int64_t{1} << 60;  // one more is a number, too
  std::int64_t value = 0;
  if (!parse_integer(token.data(), token.data() + token.size(), value) || value > most || value < -most) return {};
  return value;
}

/// By its first line.
bool looks_like_ij(const InputFile& file) {
  if (looks_like_matrix_market(file) || looks_like_harwell_boeing(file)) return false;
  const std::vector<std::string_view> head = FirstLines(file).head;
  return (head.size() == 2 || head.size() == 4) &&
         std::ranges::all_of(head, [](std::string_view token) { return whole_number(token).has_value(); });
}

[[noreturn]] void fail(const InputFile& file, const char* at, const std::string& what, std::string_view expected,
                       std::string_view remedy) {
  raise(file, {at, fmt::format("{}\n  {}\n  {}", what, expected, remedy)});
}

constexpr std::string_view matrix_form = "\"ilower iupper jlower jupper\"", vector_form = "\"jlower jupper\"";

/// A fault in the first line of a part, whose text is not at hand.
[[noreturn]] void fail_head(const IjFiles& files, std::int32_t part, const std::string& what,
                            const std::string& expected, std::string_view remedy) {
  throw ParseError(files.part(part).string(), 1, 1, fmt::format("{}\n  {}\n  {}", what, expected, remedy));
}

/// Ranges of rows, or of columns, of all parts have to follow each other. Where they begin, and how many there are.
struct JoinedRange {
  std::int64_t zero = 0;
  std::int32_t size = 0;
};
template <class First, class Last>
JoinedRange join(const IjFiles& files, std::span<const IjHead> heads, std::string_view what, First first, Last last) {
  const std::int64_t zero = first(heads[0]);
  if (zero != 0 && zero != 1)
    fail_head(files, 0, fmt::format("the {} of the first part begin at {}", what, zero), "expected 0, or 1",
              "where parts before this one are missing, add them");
  std::int64_t next = zero;
  for (std::size_t k = 0; k < heads.size(); ++k) {
    const auto part = static_cast<std::int32_t>(k);
    const auto before = [&] { return files.part(part - 1).filename().string(); };
    if (first(heads[k]) != next)
      fail_head(files, part,
                fmt::format("the {} of this part begin at {}, those of {} end at {}", what, first(heads[k]), before(),
                            last(heads[k - 1])),
                fmt::format("expected them to begin at {}, with neither a gap nor {} of both", next, what),
                "remove parts of another matrix of this name, as a run with more processes leaves behind, or write all "
                "of them anew");
    next = last(heads[k]) + 1;
  }
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (next - zero > most)
    fail_head(files, static_cast<std::int32_t>(heads.size()) - 1,
              fmt::format("the matrix has {} {}", next - zero, what), fmt::format("expected at most {}", most),
              "indices have 32 bits: larger systems cannot be solved here");
  return {zero, static_cast<std::int32_t>(next - zero)};
}

[[noreturn]] void raise_fault(const InputFile& file, const IjFiles& files, const IjHead& head, const IjLayout& layout,
                              const EntryFault& fault) {
  auto [found, expected, remedy] = explain(file, fault);
  if (fault.problem == EntryProblem::index_out_of_range && std::string_view(fault.what) == "row index") {
    expected = head.last_row < head.first_row
                   ? fmt::format("expected none, as the head {}:1 says", file.name)
                   : fmt::format("expected {} to {}, as the head {}:1 says", head.first_row, head.last_row, file.name);
    remedy = "move this line to the part that has the row, or correct the head";
  } else if (fault.problem == EntryProblem::index_out_of_range) {
    expected = fmt::format("expected {} to {}, as the heads of the {} parts say", layout.col_zero,
                           layout.col_zero + layout.kind.cols - 1, files.count);
    remedy = fmt::format("correct this entry, or add the parts that are missing: {}, ...",
                         files.part(files.count).filename().string());
  } else if (fault.problem == EntryProblem::junk) {
    expected = fmt::format("expected the end of the line: the first entry is {}", name(layout.kind.field));
    remedy = "correct this line";
  }
  fail(file, fault.at, fmt::format("{} (entry {} of this part)", found, fault.entry + 1), expected, remedy);
}

/// Each row of the part once.
template <class T>
void require_all_rows(const InputFile& file, const IjHead& head, const IjLayout& layout, const EntryLines& lines,
                      const Triplets<T>& read, std::size_t first) {
  const std::int64_t rows = head.last_row - head.first_row + 1;
  std::vector<bool> seen(static_cast<std::size_t>(rows));
  for (std::size_t k = first; k < read.row.size(); ++k) {
    const auto row = static_cast<std::size_t>(read.row[k] + layout.row_zero - head.first_row);
    if (seen[row])
      fail(file, lines.find(static_cast<std::int64_t>(k - first)),
           fmt::format("row {} stands here again", head.first_row + static_cast<std::int64_t>(row)),
           "expected each row of a vector once", "remove one of the two lines");
    seen[row] = true;
  }
  if (lines.count() == rows) return;
  const auto missing = std::ranges::find(seen, false) - seen.begin();
  fail(file, file.text.data() + file.text.size(),
       fmt::format("the part ends after {} of its entries, without row {}", lines.count(), head.first_row + missing),
       fmt::format("expected {}, as the head {}:1 says", rows, file.name),
       "check that the file is whole, or correct the head");
}

}  // namespace

fs::path IjFiles::part(std::int32_t number) const { return fmt::format("{}.{:05}", name, number); }

std::optional<IjFiles> find_ij_files(const fs::path& path) {
  std::error_code error;
  fs::path first = path;
  if (!fs::exists(path, error)) first += first_number;
  const std::string text = first.string();
  const std::size_t point = text.rfind('.');
  const auto number = number_of(text, point);
  if (!number || !fs::is_regular_file(first, error) || !looks_like_ij(read_input(first, head_bytes).matrix)) return {};
  IjFiles files{text.substr(0, point)};
  if (*number != 0)
    throw Error(fmt::format(
        "{}: this is part {} (counted from 0) of a matrix or vector in several files\n  give the name of the "
        "first one, {}, or {} for all of them",
        text, *number, files.part(0).string(), files.name));
  const std::string stem = fs::path(files.name).filename().string();
  const fs::path folder = fs::path(files.name).parent_path();
  std::set<std::int32_t> found;
  for (const auto& file : fs::directory_iterator(folder.empty() ? fs::path(".") : folder, error)) {
    const std::string other = file.path().filename().string();
    if (!other.starts_with(stem + ".")) continue;
    if (const auto k = number_of(other, stem.size())) found.insert(*k);
  }
  for (const std::int32_t k : found)
    if (k != files.count++)
      throw Error(
          fmt::format("{}: this part is missing, {} is there\n  add it, or remove the parts behind it where they "
                      "belong to another matrix",
                      files.part(files.count - 1).string(), files.part(k).filename().string()));
  return files;
}

IjHead parse_ij_head(const InputFile& file) {
  const FirstLines lines(file);
  const char* begin = file.text.data();
  IjHead head;
  head.vector = lines.head.size() == 2;
  if (lines.head.size() != 2 && lines.head.size() != 4)
    fail(file, begin, fmt::format("the head has {} words", lines.head.size()),
         fmt::format("expected {}, of a vector {}", matrix_form, vector_form),
         "check that this file belongs to the others, and is whole");
  std::vector<std::int64_t> numbers;
  for (const std::string_view token : lines.head) {
    const auto number = whole_number(token);
    if (!number)
      fail(file, token.data(), fmt::format("{} stands in the head", in_quotes(token)),
           fmt::format("expected whole numbers: {}", head.vector ? vector_form : matrix_form),
           "correct the first line");
    numbers.push_back(*number);
  }
  head.first_row = numbers[0], head.last_row = numbers[1];
  head.first_col = head.vector ? 0 : numbers[2], head.last_col = head.vector ? 0 : numbers[3];
  for (std::size_t k = 0; k < numbers.size(); k += 2)
    if (numbers[k] < 0 || numbers[k + 1] < numbers[k] - 1)
      fail(file, lines.head[k].data(), fmt::format("the head has {} {}", numbers[k], numbers[k + 1]),
           "expected the first and the last one of a range, from 0 on; the last one before the first where there is "
           "none",
           "correct the first line");
  head.has_entries = !lines.entry.empty();
  const std::size_t indices = head.vector ? 1 : 2, words = lines.entry.size();
  if (words == indices && !head.vector) head.field = Field::pattern;
  if (words == indices + 3 && lines.entry[indices + 1] == ",") head.field = Field::complex;
  return head;
}

std::vector<IjHead> read_ij_heads(const IjFiles& files, std::int32_t begin, std::int32_t end) {
  std::vector<IjHead> heads;
  for (std::int32_t k = begin; k < end; ++k)
    heads.push_back(parse_ij_head(read_input(files.part(k), head_bytes).matrix));
  return heads;
}

IjLayout join_ij_heads(const IjFiles& files, std::span<const IjHead> heads) {
  IjLayout layout;
  MatrixKind& kind = layout.kind;
  kind.format = FileFormat::hypre_ij, kind.vector = heads[0].vector;
  for (std::size_t k = 1; k < heads.size(); ++k)
    if (heads[k].vector != kind.vector)
      fail_head(files, static_cast<std::int32_t>(k),
                fmt::format("this is a part of a {}, the first one of a {}", heads[k].vector ? "vector" : "matrix",
                            kind.vector ? "vector" : "matrix"),
                "expected parts of one kind", "remove the file, or give it another name");
  const JoinedRange rows = join(
      files, heads, "rows", [](const IjHead& head) { return head.first_row; },
      [](const IjHead& head) { return head.last_row; });
  layout.row_zero = rows.zero, kind.rows = rows.size, kind.cols = 1;
  if (!kind.vector) {
    const JoinedRange cols = join(
        files, heads, "columns", [](const IjHead& head) { return head.first_col; },
        [](const IjHead& head) { return head.last_col; });
    layout.col_zero = cols.zero, kind.cols = cols.size;
  }
  const auto first = std::ranges::find_if(heads, &IjHead::has_entries);
  if (first != heads.end()) kind.field = first->field;
  return layout;
}

template <class T>
void append_ij_part(const InputFile& file, const IjFiles& files, const IjHead& head, const IjLayout& layout,
                    Triplets<T>& to) {
  require_scalar_for<T>(layout.kind, files.name);
  const EntryLines lines(file, std::min(file.view().find('\n'), file.text.size() - 1) + 1);
  const std::size_t first = to.row.size(), entries = first + static_cast<std::size_t>(lines.count());
  require_memory("the entries of " + file.name,
                 static_cast<std::size_t>(lines.count()) * (2 * sizeof(std::int32_t) + sizeof(T)));
  to.row.resize(entries), to.col.resize(entries), to.value.resize(entries);
  const EntryForm form{layout.kind,
                       {head.first_row, head.last_row, layout.row_zero},
                       {layout.col_zero, layout.col_zero + layout.kind.cols - 1, layout.col_zero},
                       layout.kind.field == Field::complex};
  if (const EntryFault fault = lines.parse(form, first, to); fault.at) raise_fault(file, files, head, layout, fault);
  if (layout.kind.vector) require_all_rows(file, head, layout, lines, to, first);
}

template <class T>
struct HypreIjInstances {
  static constexpr auto list =
      instance<void(const InputFile&, const IjFiles&, const IjHead&, const IjLayout&, Triplets<T>&)>(append_ij_part);
};
KRILL_INSTANTIATE(HypreIjInstances);

}  // namespace krill

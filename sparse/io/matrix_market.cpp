#include "sparse/io/matrix_market.hpp"

#include <fmt/format.h>

#include <string_view>
#include <tuple>

#include "sparse/core/error.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/io/entry_lines.hpp"
#include "sparse/io/host_memory.hpp"
#include "sparse/io/numbers.hpp"
#include "sparse/io/text_fault.hpp"

namespace krill {
namespace {

[[noreturn]] void raise_fault(const InputFile& file, const MatrixMarketHead& head, const EntryFault& fault) {
  auto [found, expected, remedy] = explain(file, fault);
  const bool is_row = std::string_view(fault.what) == "row index";
  switch (fault.problem) {
    case EntryProblem::index_out_of_range:
      expected = fmt::format("expected 1 to {}, as the size line {}:{} says", is_row ? head.kind.rows : head.kind.cols,
                             file.name, head.size_line);
      remedy =
          token_at(fault.at, file.text.data() + file.text.size()) == "0"
              ? "count from 1: where the whole file counts from 0, add 1 to every index"
              : fmt::format("correct this entry, or the number of {} in the size line", is_row ? "rows" : "columns");
      break;
    case EntryProblem::no_whole_number:
      expected = "expected a whole number, as the banner says integer";
      remedy = "correct this line, or write real in the banner";
      break;
    case EntryProblem::diagonal:
      found = "the diagonal entry contradicts the banner";
      expected = fmt::format("expected {}", diagonal_rule(head.kind.symmetry));
      remedy = "correct this entry, or write general in the banner and store both triangles";
      break;
    case EntryProblem::junk:
      expected = fmt::format("expected the end of the line: the banner says {}", name(head.kind.field));
      remedy = "correct this line, or the banner";
      break;
    default:
      break;
  }
  raise(file, {fault.at, fmt::format("{} (entry {} of {})\n  {}\n  {}", found, fault.entry + 1,
                                     head.kind.stored_entries, expected, remedy)});
}

/// The number of lines that hold an entry must be the declared one. False where another rank says that it is not.
bool check_count(const InputFile& file, const MatrixMarketHead& head, const EntryLines& lines,
                 const EntryCounts& counts) {
  const std::int64_t declared = head.kind.stored_entries, found = counts.all;
  if (found == declared) return true;
  const std::int64_t end = counts.before + lines.count();
  if (found < declared ? !counts.at_end : declared < counts.before || declared >= end) return false;
  const std::string expected =
      fmt::format("expected {}, as the size line {}:{} says", declared, file.name, head.size_line);
  if (found < declared)
    raise(file, {file.text.data() + file.text.size(),
                 fmt::format(
                     "the file ends after {} of its entries\n  {}\n  check that the file is whole, or correct the size "
                     "line",
                     found, expected)});
  raise(file, {lines.find(declared - counts.before),
               fmt::format("there are {} entries, this line holds the first one too many\n"
                           "  {}\n  remove what is too much, or correct the size line",
                           found, expected)});
}

}  // namespace

template <class T>
Triplets<T> parse_matrix_market(const InputFile& file) {
  const MatrixMarketHead head = parse_matrix_market_head(file);
  return parse_matrix_market_lines<T>(file, head, head.body, [](std::int64_t all) { return EntryCounts{0, all}; });
}

template <class T>
Triplets<T> parse_matrix_market_lines(const InputFile& file, const MatrixMarketHead& head, std::size_t begin,
                                      const std::function<EntryCounts(std::int64_t)>& share_counts) {
  require_scalar_for<T>(head.kind, file.name);
  const EntryLines lines(file, begin);
  const EntryCounts counts = share_counts(lines.count());
  if (!check_count(file, head, lines, counts)) return {};

  const auto entries = static_cast<std::size_t>(lines.count());
  require_memory("the entries of " + file.name, entries * (2 * sizeof(std::int32_t) + sizeof(T)));
  Triplets<T> out{file.name,          head.kind.rows,  head.kind.cols, {}, {}, {},
                  head.kind.symmetry, head.kind.field, head.kind.dense};
  out.row.resize(entries), out.col.resize(entries), out.value.resize(entries);
  const EntryForm form{head.kind, {1, head.kind.rows, 1}, {1, head.kind.cols, 1}};
  if (EntryFault fault = lines.parse(form, 0, out); fault.at) {
    fault.entry += counts.before;
    raise_fault(file, head, fault);
  }
  return out;
}

template <class T>
struct MatrixMarketInstances {
  static constexpr std::tuple list{instance<Triplets<T>(const InputFile&)>(parse_matrix_market),
                                   &parse_matrix_market_lines<T>};
};
KRILL_INSTANTIATE(MatrixMarketInstances);

}  // namespace krill

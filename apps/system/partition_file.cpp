#include "apps/system/partition_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string_view>
#include <system_error>

#include "sparse/core/overloaded.hpp"
#include "sparse/io/numbers.hpp"

namespace krill::apps {
namespace {

std::string bytes_of(const std::string& path) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);  // of a folder an error, too
  std::ifstream in(path, std::ios::binary);
  std::string text(error ? 0 : size, '\0');
  if (!error && !in.read(text.data(), static_cast<std::streamsize>(size)))
    error = std::make_error_code(std::errc::io_error);
  if (error) throw Error(fmt::format("parallel.partition: {}: cannot be read: {}", path, error.message()));
  return text;
}

std::string ranks_text(int ranks) { return fmt::format("a rank from 0 to {} is needed", ranks - 1); }

std::vector<std::int32_t> read_text(const std::string& name, std::string_view text, std::int64_t rows, int ranks) {
  std::vector<std::int32_t> found;
  std::int64_t line = 0;
  for (const char *at = text.data(), *const end = at + text.size(); at != end;) {
    ++line;
    const char* const end_of_line = std::find(at, end, '\n');
    const char* const first = skip_blanks(at, end_of_line);
    at = end_of_line == end ? end : end_of_line + 1;
    if (first == end_of_line) continue;
    const auto refuse = [&](const std::string& what) {
      throw InvalidArgument(fmt::format("{}:{}: {}", name, line, what));
    };
    std::int64_t rank = -1;
    const char* const last = parse_integer(first, end_of_line, rank);
    if (!last || skip_blanks(last, end_of_line) != end_of_line)
      refuse(fmt::format("{} is no number; {}, one a line",
                         in_quotes(std::string_view(first, static_cast<std::size_t>(end_of_line - first))),
                         ranks_text(ranks)));
    if (rank < 0 || rank >= ranks) refuse(fmt::format("rank {}; {}, for there are {}", rank, ranks_text(ranks), ranks));
    if (std::ssize(found) == rows) refuse(fmt::format("more numbers than the matrix has rows, which are {}", rows));
    found.push_back(static_cast<std::int32_t>(rank));
  }
  if (std::ssize(found) < rows)
    throw InvalidArgument(fmt::format("{}:{}: the file ends after {} numbers; the matrix has {} rows, each needs one",
                                      name, line, found.size(), rows));
  return found;
}

std::vector<std::int32_t> read_integers(const std::string& name, std::string_view bytes, std::int64_t rows, int ranks) {
  std::vector<std::int32_t> found(static_cast<std::size_t>(rows));
  if (bytes.size() != found.size() * sizeof(std::int32_t))
    throw InvalidArgument(fmt::format(
        "{}: the file has {} bytes, taken for 32-bit integers, as it is no text; of {} rows {} bytes are expected",
        name, bytes.size(), rows, found.size() * sizeof(std::int32_t)));
  std::memcpy(found.data(), bytes.data(), bytes.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    if (found[i] < 0 || found[i] >= ranks)
      throw InvalidArgument(fmt::format("{}: row {} (counted from 0) has rank {}; {}, for there are {}", name, i,
                                        found[i], ranks_text(ranks), ranks));
  return found;
}

}  // namespace

std::vector<std::int32_t> read_partition(const std::string& path, std::int64_t rows, int ranks) {
  const std::string text = bytes_of(path);
  const bool is_text = text.find('\0') == std::string::npos;
  return (is_text ? read_text : read_integers)(path, text, rows, ranks);
}

PartitionOptions partition_of(const PartitionSource& source, std::int64_t rows, int ranks) {
  return std::visit(Overloaded{[](const RowsPartition& o) -> PartitionOptions { return o; },
                               [](const GraphPartition& o) -> PartitionOptions { return o; },
                               [&](const FilePartition& o) -> PartitionOptions {
                                 return GivenPartition{std::make_shared<const std::vector<std::int32_t>>(
                                     read_partition(o.file, rows, ranks))};
                               }},
                    source);
}

}  // namespace krill::apps

// The partition of a case: which rank has which rows.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "apps/case/case.hpp"

namespace krill::apps {

/// The rank of each of so many rows, from a file. Text has one number a line, and lines without any are passed over. A
/// file with zero bytes, which no text has, is taken for 32-bit integers of this machine's byte order without a head,
/// as AMGX reads them. Raises InvalidArgument that names the line, or of integers the row, where something is no rank
/// or rows are missing or too many; Error where it cannot be read.
std::vector<std::int32_t> read_partition(const std::string& path, std::int64_t rows, int ranks);

/// Of a matrix with so many rows, whose files are read. Raises as read_partition.
PartitionOptions partition_of(const PartitionSource&, std::int64_t rows, int ranks);

}  // namespace krill::apps

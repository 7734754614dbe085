// Matrix Market files. Source: R. F. Boisvert, R. Pozo, K. Remington, "The Matrix Market Exchange Formats: Initial
// Design", NISTIR 5935, 1996, and what is found in the wild: words in any case, blank lines and comments anywhere,
// tabs, indented lines, any line ends, a byte order mark, plus signs, Fortran's D exponents, nan and inf, object
// vector.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "sparse/io/input_file.hpp"
#include "sparse/io/triplets.hpp"

namespace krill {

struct MatrixMarketHead {
  MatrixKind kind;
  std::int64_t size_line = 0;  ///< where sizes stand, counted from 1
  std::size_t body = 0;        ///< where the entries begin in the text
};

/// Whether the first word can only be meant as a Matrix Market banner.
bool looks_like_matrix_market(const InputFile&);

/// Reads banner and size line. Lines end with LF, before which CR is blank. Raises ParseError.
MatrixMarketHead parse_matrix_market_head(const InputFile&);

/// Reads the entries; T is real only where the file is (InvalidArgument). The number of entry lines is known before
/// anything is allocated. In parallel over pieces of the text; repeatable. Raises ParseError for the first fault in the
/// text, OutOfMemory.
template <class T>
Triplets<T> parse_matrix_market(const InputFile&);

/// Entries of a file whose lines several ranks read: those in lines before, and those of all of them.
struct EntryCounts {
  std::int64_t before = 0, all = 0;
  bool at_end = true;  ///< no line comes behind
};

/// The same of lines of a coordinate file, from `begin` on in the text, after its head; their entries alone.
/// share_counts: of all ranks, given how many entries these lines hold. Where that is not what the head says, the rank
/// with the line at which that shows raises, and for others nothing comes back.
template <class T>
Triplets<T> parse_matrix_market_lines(const InputFile& lines, const MatrixMarketHead&, std::size_t begin,
                                      const std::function<EntryCounts(std::int64_t)>& share_counts);

}  // namespace krill

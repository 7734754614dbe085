// Harwell-Boeing and Rutherford-Boeing files of assembled matrices. Sources: I. S. Duff, R. G. Grimes, J. G. Lewis,
// "Users' Guide for the Harwell-Boeing Sparse Matrix Collection", TR/PA/92/86, 1992, and "The Rutherford-Boeing Sparse
// Matrix Collection", RAL-TR-97-031, 1997.
#pragma once
#include <optional>

#include "sparse/io/input_file.hpp"
#include "sparse/io/triplets.hpp"

namespace krill {

/// Whether the first lines are a title, four or five counts, and a type of three letters with sizes.
bool looks_like_harwell_boeing(const InputFile&);

/// Whether the file is a supplementary one of the Rutherford-Boeing collection: right-hand sides, orderings, ...
bool looks_like_rutherford_boeing_supplement(const InputFile&);

/// Raises ParseError; also for a matrix of unassembled elements, or one whose values lie in another file.
MatrixKind parse_harwell_boeing_head(const InputFile&);

/// Reads the columns in the order of the file. Columns of a Rutherford-Boeing file must ascend, in a Harwell-Boeing
/// file any order serves. rhs receives the right-hand sides of a Harwell-Boeing file, full or sparse, if it has any;
/// guesses and solutions are skipped. T is real only where the file is (InvalidArgument). Raises ParseError.
template <class T>
Triplets<T> parse_harwell_boeing(const InputFile&, std::optional<Columns<T>>& rhs);

}  // namespace krill

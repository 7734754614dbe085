// Errors name the thing that is wrong, the value found, what was expected, and what to do.
#pragma once
#include <cstddef>
#include <cstdint>
#include <source_location>
#include <stdexcept>
#include <string>
#include <string_view>

namespace krill {

/// Every exception that Krill throws derives from this. Numerical events are results, never exceptions.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// An argument that no shape can explain: a bad option, index, value or structure.
struct InvalidArgument : Error {
  using Error::Error;
};

/// A result with more entries than it may have.
struct TooManyEntries : InvalidArgument {
  using InvalidArgument::InvalidArgument;
};

/// Operands whose sizes do not fit together.
struct ShapeMismatch : Error {
  using Error::Error;
};

/// Text that cannot be read. Lines and columns count from 1; 0 means that the place is not known.
struct ParseError : Error {
  ParseError(std::string file, std::int64_t line, std::int64_t column, const std::string& message);
  std::string file;
  std::int64_t line;
  std::int64_t column;
};

/// Memory that could not be had on the host (device < 0) or on a device.
struct OutOfMemory : Error {
  OutOfMemory(std::string_view what, std::size_t asked, std::size_t free, int device = -1);
  std::size_t asked;
  std::size_t free;
};

/// A CUDA device was asked for and there is none, or this build has no CUDA.
struct NoDevice : Error {
  using Error::Error;
};

/// The CUDA runtime reported an error; the text names the line that met it.
struct CudaError : Error {
  using Error::Error;
};

/// Raises ShapeMismatch unless `found` equals `expected`: "spmv: x has 3 entries, 4 are needed".
void require_size(std::string_view what, std::int64_t found, std::int64_t expected);

/// Raises InvalidArgument with `message` unless `fine`.
void require(bool fine, std::string_view message);

/// Raises CudaError with the runtime's own text unless `status` is cudaSuccess (0). A function, not a macro: the
/// default argument is evaluated where the call stands.
void check(int status, std::source_location where = std::source_location::current());

/// "1.5 GiB", for messages.
std::string human_bytes(std::size_t bytes);

}  // namespace krill

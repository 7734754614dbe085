// A fault in a text, found before its line number is known.
#pragma once
#include <cstdint>
#include <string>

#include "sparse/io/input_file.hpp"

namespace krill {

/// `at` points into the text, or is null where there is no fault.
struct TextFault {
  const char* at = nullptr;
  std::string message;
};

/// The line of a place in a text, counted from 1. O(bytes before it), so it is for messages only.
std::int64_t line_of(const InputFile&, const char* at);

/// Raises ParseError with the line and column of the fault.
[[noreturn]] void raise(const InputFile&, const TextFault&);

}  // namespace krill

#include "sparse/io/text_fault.hpp"

#include <algorithm>

#include "sparse/core/error.hpp"

namespace krill {

std::int64_t line_of(const InputFile& file, const char* at) {
  return file.lines_before + 1 + std::count(file.text.data(), at, '\n');
}

void raise(const InputFile& file, const TextFault& fault) {
  const char* line_start = fault.at;
  while (line_start != file.text.data() && line_start[-1] != '\n') --line_start;
  throw ParseError(file.name, line_of(file, fault.at), fault.at - line_start + 1, fault.message);
}

}  // namespace krill

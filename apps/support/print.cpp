#include "apps/support/print.hpp"

#include <cstdio>

#include "sparse/io/atomic_file.hpp"

namespace krill::apps {

void print(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0)
    throw WriteError("the standard output cannot be written: it is closed or full");
}

}  // namespace krill::apps

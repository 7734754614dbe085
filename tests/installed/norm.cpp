// A program of a user who has an installed Krill, and pkg-config. Prints the version of the library.
#include <cstdio>
#include <krill/sparse/core/config.hpp>
#include <krill/sparse/vector/vector.hpp>

int main() {
  krill::Context ctx = krill::Context::host(1);
  const krill::Array<double> x{3.0, 4.0};
  krill::Array<double> norm(1);
  krill::norm2(ctx, x, norm);
  std::printf("%.*s\n", static_cast<int>(krill::version.size()), krill::version.data());
  return norm.host()[0] == 5 ? 0 : 1;
}

// One function object of several lambdas, for std::visit.
#pragma once

namespace krill {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace krill

#include "apps/verify/suites.hpp"

#include "sparse/core/counter_random.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {

template <class T>
std::vector<NamedVector<T>> random_vectors(std::int64_t size, int stream) {
  constexpr int seed = 20260101;
  const CounterRandom values(seed, 2 * stream), exponents(seed, 2 * stream + 1);
  NamedVector<T> uniform{"uniform entries", {}}, wide{"entries of many magnitudes", {}};
  for (std::int64_t i = 0; i < size; ++i) {
    uniform.values.push_back(values.symmetric<T>(i));
    const int exponent = static_cast<int>(exponents.below(41, i)) - 20;
    wide.values.push_back(values.symmetric<T>(i, 1) * std::ldexp(real_t<T>(1), exponent));
  }
  return {std::move(uniform), std::move(wide)};
}

template <class T>
Subject<T>::Subject(std::string subject, Csr<T> matrix, const NamedVector<T>& more)
    : name(std::move(subject)),
      A(std::move(matrix)),
      rows(rows_of(A)),
      x(random_vectors<T>(A.cols(), 0)),
      y(random_vectors<T>(A.rows(), 1)),
      rhs(y.front().values),
      guess(y.front().values.size()) {
  if (more.values.empty()) return;
  x.push_back(more);
  y.push_back({more.name, y.front().values});
}

template <class T>
struct SuitesInstances {
  static constexpr auto list = instance<std::vector<NamedVector<T>>(std::int64_t, int)>(random_vectors);
};
KRILL_INSTANTIATE(Subject);
KRILL_INSTANTIATE(SuitesInstances);

}  // namespace krill::apps::verify

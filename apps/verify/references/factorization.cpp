#include "apps/verify/references/factorization.hpp"

#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {

template <class T>
Equations<T> factor_equations(const Rows<T>& A, std::span<const T> factor, Factorization kind, double shift) {
  const BoundedVector<T> wanted = shifted(A, kind, shift).value;
  const bool lu = kind == Factorization::ilu0;
  Equations<T> equations;
  A.for_places([&](std::int32_t i, std::size_t place) {
    const std::int32_t j = A.col[place];
    if (!lu && j > i) {
      equations.left.push_back(exact(factor[place]));
      equations.right.push_back(wanted[place]);
      return;
    }
    Exact<T> sum{};
    long double size = 0;
    std::int64_t terms = 1;
    const auto add = [&](const Exact<T>& left, const Exact<T>& right) {
      const Exact<T> term = left * (lu ? right : conjugated(right));
      sum += term, size += modulus(left) * modulus(right), ++terms;
    };
    for_terms(A, kind, i, j,
              [&](std::size_t left, std::size_t right) { add(exact(factor[left]), exact(factor[right])); });
    const auto pivot = A.find(j, j);
    const bool times_one = lu && !(j < i && pivot);
    add(exact(factor[place]), times_one ? Exact<T>(1) : pivot ? exact(factor[*pivot]) : Exact<T>(0));
    equations.left.push_back(sum);
    equations.right.push_back(
        {wanted[place].value, wanted[place].error + gamma<T>(terms + 1 + quotient_roundings<T>) * size});
  });
  return equations;
}

template <class T>
struct FactorEquations {
  static constexpr std::tuple list{
      instance<Equations<T>(const Rows<T>&, std::span<const T>, Factorization, double)>(factor_equations)};
};
KRILL_INSTANTIATE(FactorEquations);

}  // namespace krill::apps::verify

#include "solvers/contraction.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "sparse/core/counter_random.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/core/team.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {
namespace {

/// The same for any number of ranks.
template <class T>
Array<T> random_vector(const Operator<T>& A) {
  const auto [team, partition] = A.share();
  const std::int64_t first = team ? partition->begin(team->rank()) : 0;
  std::vector<T> values;
  for (std::int64_t i = 0; i < A.rows(); ++i) values.push_back(CounterRandom(1, 0).template symmetric<T>(first + i));
  return Array<T>(std::move(values), "contraction x");
}

/// Geometric.
double mean_of_second_half(const std::vector<double>& quotients) {
  const auto first = static_cast<std::ptrdiff_t>(quotients.size() / 2);
  double logs = 0;
  std::for_each(quotients.begin() + first, quotients.end(), [&](double q) { logs += std::log(q); });
  return std::exp(logs / static_cast<double>(quotients.size() - static_cast<std::size_t>(first)));
}

}  // namespace

/// The residual r = b - A x becomes (I - A M) r, whose eigenvalues are those of I - M A, and which stays in the range
/// of a singular A.
template <class T>
double contraction(Context& ctx, const Operator<T>& A, const Preconditioner<T>& M, int steps, bool may_be_singular) {
  const double least = may_be_singular ? std::pow(std::numeric_limits<real_t<T>>::epsilon(), 2.0 / 3) : 0;
  Array<T> x = random_vector(A), r(A.rows(), "contraction r"), product(A.rows(), "contraction A z");
  Array<double> size(1, "contraction norm");
  const auto norm_of_r = [&] {
    const Context::TeamScope over(ctx, A.share().team);
    norm2(ctx, r, size);
    ctx.synchronize();  // with an eye on the other ranks
    return size.host()[0];
  };
  A.apply(ctx, x, r);
  double norm = norm_of_r(), left = 1;
  std::vector<double> quotients;
  while (std::ssize(quotients) < steps && left > least) {
    if (norm == 0) return 0;
    A.apply(ctx, M.apply(ctx, r, x), product);
    const auto scale = static_cast<real_t<T>>(1 / norm);
    axpby(ctx, T(-scale), product, T(scale), r);
    norm = norm_of_r();  // of what was of length 1
    if (!std::isfinite(norm)) return std::numeric_limits<double>::infinity();
    quotients.push_back(norm);
    left *= norm;
  }
  return quotients.empty() ? 0 : mean_of_second_half(quotients);
}

template <class T>
struct ContractionInstances {
  static constexpr auto list =
      instance<double(Context&, const Operator<T>&, const Preconditioner<T>&, int, bool)>(contraction);
};
KRILL_INSTANTIATE(ContractionInstances);

}  // namespace krill

// Products with separate types of storage, vectors and result.
#include <algorithm>

#include "apps/verify/trial.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmm/mixed.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view mixed_bound =
    "gamma_(k + 2) (|alpha| |A| |x| + |beta| |y|)_i in the type of computation with k the entries of row i, and one "
    "rounding to the type of the result (Higham 2002, section 3.5)";

/// What one rounding to a result's type takes of a number of modulus 1, and of the least ones.
template <class Result>
struct Rounding {
  static constexpr long double relative = 0, absolute = 0;  // it is the type of computation
};
template <>
struct Rounding<Half> {
  static constexpr long double relative = 0x1p-11L, absolute = 0x1p-25L;
};
template <>
struct Rounding<BFloat16> {
  static constexpr long double relative = 0x1p-8L, absolute = 0x1p-134L;
};

/// An entry of A or x in a narrow type; of integers some digits before the point.
template <class To, class T>
To stored(const T& a) {
  if constexpr (std::is_same_v<To, std::int8_t>)
    return static_cast<To>(std::clamp(std::round(20 * a), T(-128), T(127)));
  else
    return static_cast<To>(a);
}
template <class To, class T>
std::vector<To> all_stored(const std::vector<T>& values) {
  std::vector<To> made;
  for (const T& a : values) made.push_back(stored<To>(a));
  return made;
}
template <class To, class From>
std::vector<To> widened(const std::vector<From>& values) {
  std::vector<To> made;
  for (const From& a : values) made.push_back(static_cast<To>(a));
  return made;
}

template <class Types, class T>
void check_row(Ledger& ledger, Context& ctx, const Subject<T>& s, const std::string& name, Op op) {
  using Storage = typename Types::Storage;
  using Vector = typename Types::Vector;
  using Result = typename Types::Result;
  using Compute = typename Types::Compute;
  ledger.check("spmv_mixed " + name + std::string(op_name(op)), mixed_bound, [&] {
    const bool plain = op == Op::none;
    const std::vector<Storage> values = all_stored<Storage>(s.rows.value);
    const auto x = all_stored<Vector>(plain ? s.x[0].values : s.y[0].values);
    const auto y = all_stored<Result>(plain ? s.y[0].values : s.x[0].values);
    Rows<Compute> rows{s.rows.rows, s.rows.cols, s.rows.offsets, s.rows.col, widened<Compute>(values)};
    BoundedVector<Compute> wanted = product(op, some_alpha<Compute>(), rows, bounded<Compute>(widened<Compute>(x)),
                                            some_beta<Compute>(), bounded<Compute>(widened<Compute>(y)));
    for (Bounded<Compute>& w : wanted)
      w.error += Rounding<Result>::relative * w.greatest() + Rounding<Result>::absolute;
    const Csr<Storage> A(s.A.cols(), s.A.row_offsets().clone(), s.A.col_indices().clone(), array(values, "values"));
    Array<Result> result = array(y, "y");
    spmv_mixed(ctx, op, some_alpha<Compute>(), A, array(x, "x"), some_beta<Compute>(), result);
    const std::vector<Result> got(result.host().begin(), result.host().end());
    return compare<Compute>(widened<Compute>(got), wanted);
  });
}

}  // namespace

template <class T>
void check_mixed_products(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!selection.whole_library) return;
  for (const Op op : selection.ops) {
    if constexpr (std::is_same_v<T, float>) {
      check_row<MixedTypes<Half, Half, Half, float>>(ledger, ctx, s, "half", op);
      check_row<MixedTypes<Half, Half, float, float>>(ledger, ctx, s, "half to float", op);
      check_row<MixedTypes<BFloat16, BFloat16, BFloat16, float>>(ledger, ctx, s, "bfloat16", op);
      check_row<MixedTypes<BFloat16, BFloat16, float, float>>(ledger, ctx, s, "bfloat16 to float", op);
      check_row<MixedTypes<std::int8_t, std::int8_t, float, float>>(ledger, ctx, s, "int8 to float", op);
    } else if constexpr (std::is_same_v<T, double>) {
      check_row<MixedTypes<float, double, double, double>>(ledger, ctx, s, "float in double", op);
    } else if constexpr (std::is_same_v<T, std::complex<double>>) {
      using Single = std::complex<float>;
      check_row<MixedTypes<Single, T, T, T>>(ledger, ctx, s, "complex float in double", op);
    }
  }
}

template <class T>
struct MixedSuiteInstances {
  static constexpr auto list =
      instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_mixed_products);
};
KRILL_INSTANTIATE(MixedSuiteInstances);

}  // namespace krill::apps::verify

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

/// A product in the types of a row of the table, and what is to come out: of columns that are the subject's vector, its
/// entries moved on by one from column to column.
template <class Types, class T>
class MixedProblem {
 public:
  using Storage = typename Types::Storage;
  using Vector = typename Types::Vector;
  using Result = typename Types::Result;
  using Compute = typename Types::Compute;

  MixedProblem(const Subject<T>& s, Op op, std::int64_t columns)
      : A_(s.A.cols(), s.A.row_offsets().clone(), s.A.col_indices().clone(),
           array(all_stored<Storage>(s.rows.value), "values")) {
    const Rows<Compute> rows{s.rows.rows, s.rows.cols, s.rows.offsets, s.rows.col,
                             widened<Compute>(all_stored<Storage>(s.rows.value))};
    auto x = all_stored<Vector>(op == Op::none ? s.x[0].values : s.y[0].values);
    auto y = all_stored<Result>(op == Op::none ? s.y[0].values : s.x[0].values);
    for (std::int64_t j = 0; j < columns; ++j) {
      if (j > 0 && !x.empty()) std::ranges::rotate(x, x.begin() + 1);
      if (j > 0 && !y.empty()) std::ranges::rotate(y, y.begin() + 1);
      b.insert(b.end(), x.begin(), x.end()), c.insert(c.end(), y.begin(), y.end());
      for (Bounded<Compute> w : product(op, some_alpha<Compute>(), rows, bounded<Compute>(widened<Compute>(x)),
                                        some_beta<Compute>(), bounded<Compute>(widened<Compute>(y)))) {
        w.error += Rounding<Result>::relative * w.greatest() + Rounding<Result>::absolute;
        wanted_.push_back(w);
      }
    }
  }

  const Csr<Storage>& A() const { return A_; }
  Comparison judged(const Array<Result>& result) const {
    const std::vector<Result> got(result.host().begin(), result.host().end());
    return compare<Compute>(widened<Compute>(got), wanted_);
  }

  std::vector<Vector> b;  ///< the columns, one after the other; c: before the product
  std::vector<Result> c;

 private:
  Csr<Storage> A_;
  BoundedVector<Compute> wanted_;
};

template <class Types, class T>
void check_row(Ledger& ledger, Context& ctx, const Subject<T>& s, const std::string& name, Op op) {
  using Problem = MixedProblem<Types, T>;
  using Compute = typename Types::Compute;
  const std::string words = name + std::string(op_name(op));
  ledger.check("spmv_mixed " + words, mixed_bound, [&] {
    const Problem p(s, op, 1);
    Array<typename Types::Result> y = array(p.c, "y");
    spmv_mixed(ctx, op, some_alpha<Compute>(), p.A(), array(p.b, "x"), some_beta<Compute>(), y);
    return p.judged(y);
  });
  ledger.check("spmm_mixed " + words, mixed_bound, [&] {
    constexpr std::int64_t columns = 5;
    const Problem p(s, op, columns);
    const Dense<typename Types::Vector> B(p.A().cols(op), columns, array(p.b, "B"));
    Dense<typename Types::Result> C(p.A().rows(op), columns, array(p.c, "C"));
    spmm_mixed(ctx, op, Op::none, some_alpha<Compute>(), p.A(), B, some_beta<Compute>(), C);
    return p.judged(C.values());
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

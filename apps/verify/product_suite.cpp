// Products of a matrix with a vector, in every format.
#include "apps/verify/trial.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/spmv/plan.hpp"
#include "sparse/spmv/product.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view product_bound =
    "gamma_(k + 2) (|alpha| |A| |x| + |beta| |y|)_i with k the entries of row i, in whatever order they are added "
    "(Higham 2002, section 3.5)";
constexpr std::string_view residual_bound =
    "gamma_(k + 1) (|A| |x| + |b|)_i with k the entries of row i (Higham 2002, section 3.5)";
constexpr std::string_view dot_bound =
    "that of the product carried on, and gamma_n sum |y_i| |z_i| in double (Higham 2002, section 3.1)";

/// Operands of alpha op(A) x + beta y, and what should come of them.
template <class T>
struct Trial {
  std::string name;
  std::vector<T> x, y;
  BoundedVector<T> product;
  Bounded<wide_t<T>> dot;  ///< of y with the result
};

template <class T>
std::vector<Trial<T>> trials(const Subject<T>& s, Op op) {
  std::vector<Trial<T>> made;
  for (std::size_t k = 0; k < s.x.size(); ++k) {
    const bool plain = op == Op::none;
    Trial<T> trial{s.x[k].name, plain ? s.x[k].values : s.y[k].values, plain ? s.y[k].values : s.x[k].values, {}, {}};
    trial.product = product(op, some_alpha<T>(), s.rows, bounded<T>(trial.x), some_beta<T>(), bounded<T>(trial.y));
    BoundedSum<wide_t<T>> dot;
    for (std::size_t i = 0; i < trial.y.size(); ++i)
      dot.add(Bounded<wide_t<T>>(conj(exact(trial.y[i])), 0),
              Bounded<wide_t<T>>(trial.product[i].value, trial.product[i].error));
    trial.dot = dot.result();
    made.push_back(std::move(trial));
  }
  return made;
}

/// A product and its dot with the y of before, by multiply(x, y, dots).
template <class T, class Multiply>
void check_product(Ledger& ledger, const std::string& name, const std::vector<Trial<T>>& trials,
                   const Multiply& multiply) {
  ledger.check(name, product_bound, [&] {
    Comparison all;
    for (const Trial<T>& trial : trials) {
      const Array<T> x = array(trial.x, "x");
      Array<T> y = array(trial.y, "y");
      multiply(x, y, Dots<T>{});
      all.merge(compare<T>(y.host(), trial.product), trial.name);
    }
    return all;
  });
  ledger.check(name + ", with a dot", dot_bound, [&] {
    Comparison all;
    for (const Trial<T>& trial : trials) {
      const Array<T> x = array(trial.x, "x"), partner = array(trial.y, "z");
      Array<T> y = array(trial.y, "y");
      Array<wide_t<T>> dot(1, "dot");
      multiply(x, y, Dots<T>{&partner, &dot});
      all.merge(compare<wide_t<T>>(dot.host(), std::vector{trial.dot}), trial.name);
    }
    return all;
  });
}

template <class T, class Residual>
void check_residual(Ledger& ledger, const std::string& name, const Subject<T>& s, const Residual& residual) {
  ledger.check(name, residual_bound, [&] {
    return for_vectors(s.x, s.y, [&](const auto& x, const auto& b) {
      Array<T> r(std::ssize(b), "r");
      residual(array(x, "x"), array(b, "b"), r);
      return compare<T>(r.host(), verify::residual(s.rows, bounded<T>(b), bounded<T>(x)));
    });
  });
}

/// The door, which makes each time what it needs, and a plan, which keeps it.
template <class T>
void check_matrix(Ledger& ledger, Context& ctx, const Subject<T>& s, const AnyMatrix<T>& A, const std::string& name,
                  Op op, const std::vector<Trial<T>>& trials, bool door) {
  const T alpha = some_alpha<T>(), beta = some_beta<T>();
  const std::string of = name + std::string(op_name(op));
  if (door)
    check_product(ledger, "spmv " + of, trials, [&](const Array<T>& x, Array<T>& y, const Dots<T>& dots) {
      spmv(ctx, op, alpha, A, x, beta, y, dots);
    });
  const SpmvMethod method = name == "auto" ? SpmvMethod::automatic : SpmvMethod::in_place;
  const SpmvPlan<T> plan(ctx, A, op, method);
  const std::string chosen = method == SpmvMethod::automatic ? " (" + plan.report().method + ")" : "";
  check_product(ledger, "spmv plan " + of + chosen, trials,
                [&](const Array<T>& x, Array<T>& y, const Dots<T>& dots) { plan.apply(ctx, alpha, x, beta, y, dots); });
  if (op == Op::none)
    check_residual(ledger, "residual " + of + chosen, s,
                   [&](const Array<T>& x, const Array<T>& b, Array<T>& r) { plan.residual(ctx, x, b, r); });
}

/// A plan that was made for other values of the same pattern.
template <class T>
void check_plan_update(Ledger& ledger, Context& ctx, const Subject<T>& s, const NamedFormat& named, Op op,
                       const std::vector<Trial<T>>& trials) {
  std::optional<AnyMatrix<T>> A;
  try {
    A = convert_format(ctx, with_other_values(s.A), named.format, named.layout);
  } catch (const InvalidArgument&) {
    return;  // said before: it would grow beyond all bounds
  }
  SpmvPlan<T> plan(ctx, *A, op, named.format == Format::automatic ? SpmvMethod::automatic : SpmvMethod::in_place);
  update_values(ctx, s.A, *A);
  plan.update(ctx);
  check_product(ledger, "spmv plan " + named.name + std::string(op_name(op)) + ", new values", trials,
                [&](const Array<T>& x, Array<T>& y, const Dots<T>& dots) {
                  plan.apply(ctx, some_alpha<T>(), x, some_beta<T>(), y, dots);
                });
}

/// Coordinates of the caller's, in pairs that count from one.
template <class T>
void check_coordinates(Ledger& ledger, Context& ctx, const Subject<T>& s, const std::vector<Trial<T>>& trials) {
  using K = kernel_t<T>;
  std::vector<std::int32_t> pairs;
  for (const Entry<T>& e : entries_of(s.rows, false)) pairs.push_back(e.row + 1), pairs.push_back(e.col + 1);
  const Array<std::int32_t> indices = array(pairs, "indices");
  check_product(
      ledger, "run_product of pairs from one", trials, [&](const Array<T>& x, Array<T>& y, const Dots<T>& dots) {
        ctx.dispatch([&](const auto& where) {
          const std::int32_t* first = indices.read(where);
          const CooView<const K> a{s.A.rows(),     s.A.cols(), s.A.nnz(), first, first + 1, s.A.values().read(where),
                                   IndexBase::one, 2};
          const Scalar<T> alpha(some_alpha<T>()), beta(some_beta<T>());
          DotsView<K> wanted;
          if (dots.first) wanted = {dots.with_first->read(where), dots.first->write(where)};
          run_product(where, Product<CooView<const K>>{alpha.read(where), a, x.read(where), beta.read(where),
                                                       y.update(where), wanted});
        });
      });
}

/// Every other block row; the others stay as they are.
template <class T>
void check_masked(Ledger& ledger, Context& ctx, const Subject<T>& s, const std::vector<Trial<T>>& trials) {
  constexpr std::int32_t dim = 3;
  ledger.check("spmv_masked bsrx 3", product_bound, [&] {
    const Bsrx<T> A = to_bsrx(ctx, to_bsr(ctx, s.A, Blocking{dim, dim}, GrowthLimit{1e6}));
    std::vector<std::int32_t> mask;
    for (std::int32_t row = 0; row * dim < s.A.rows(); row += 2) mask.push_back(row);
    Comparison all;
    for (const Trial<T>& trial : trials) {
      Array<T> y = array(trial.y, "y");
      spmv_masked(ctx, some_alpha<T>(), A, array(mask, "mask"), array(trial.x, "x"), some_beta<T>(), y);
      BoundedVector<T> wanted = trial.product;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (i / dim % 2 != 0) wanted[i] = Bounded<T>(trial.y[i]);
      all.merge(compare<T>(y.host(), wanted), trial.name);
    }
    return all;
  });
}

}  // namespace

template <class T>
void check_products(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  std::vector<std::pair<std::string, AnyMatrix<T>>> matrices;
  for (const NamedFormat& named : selection.formats) try {
      matrices.emplace_back(named.name, convert_format(ctx, s.A, named.format, named.layout));
    } catch (const InvalidArgument& refusal) {
      ledger.not_checked("spmv " + named.name, refusal.what());
    }
  if (selection.whole_library)
    matrices.emplace_back("csr with 64-bit offsets", with_offsets<std::int64_t>(ctx, s.A.clone()));
  for (const Op op : selection.ops) {
    const auto made = trials(s, op);
    for (const auto& [name, A] : matrices)
      if (name != "auto" || op == Op::none)
        check_matrix(ledger, ctx, s, A, name, op, made, selection.whole_library && name != "auto");
    if (!selection.whole_library) continue;
    for (const NamedFormat& named : selection.formats)
      if (named.format != Format::automatic || op == Op::none) check_plan_update(ledger, ctx, s, named, op, made);
    if (op == Op::none) check_masked(ledger, ctx, s, made), check_coordinates(ledger, ctx, s, made);
  }
}

template <class T>
struct ProductSuiteInstances {
  static constexpr auto list = instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_products);
};
KRILL_INSTANTIATE(ProductSuiteInstances);

}  // namespace krill::apps::verify

// Scalings, matchings, orderings and colorings.
#include <fmt/format.h>

#include <algorithm>

#include "apps/verify/references/coloring.hpp"
#include "apps/verify/references/matching.hpp"
#include "apps/verify/trial.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/order/coloring.hpp"
#include "sparse/order/matching.hpp"
#include "sparse/order/ordering.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view factor_bound =
    "running error analysis of the definition in double (Higham 2002, section 3.3), and the rounding to the precision";
constexpr std::string_view scaled_bound = "gamma_2 |a_ij| d_i d_j, and gamma_2 |x_i| d_i: two products";

using Norms = std::vector<Bounded<double>>;

/// |a| by a real and an imaginary part: a ratio, its square, a sum, a root and a product.
template <class T>
Bounded<double> computed_modulus(const T& a) {
  const long double size = modulus(exact(a));
  return {size, is_complex<T> ? gamma<double>(6) * size : 0};
}

Bounded<double> greater(const Bounded<double>& a, const Bounded<double>& b) {
  return {std::max(a.value, b.value), std::max(a.error, b.error)};
}

/// max_j |a_ij| d_i e_j for every row.
template <class T>
Norms row_maxima(const Rows<T>& A, const Norms& d, const Norms& e) {
  Norms norms(static_cast<std::size_t>(A.rows));
  for (std::int32_t i = 0; i < A.rows; ++i)
    for (std::size_t k = A.begin(i); k < A.end(i); ++k) {
      auto& most = norms[static_cast<std::size_t>(i)];
      const auto both = times(d[static_cast<std::size_t>(i)], e[static_cast<std::size_t>(A.col[k])]);
      most = greater(most, times(computed_modulus(A.value[k]), both));
    }
  return norms;
}

void divide_by_roots(Norms& factors, const Norms& norms) {
  for (std::size_t i = 0; i < factors.size(); ++i) factors[i] = quotient(factors[i], root(norms[i]));
}

struct Factors {
  Norms rows, cols;
};

template <class T>
Factors factors(const Rows<T>& A, ScalingMethod method) {
  constexpr int ruiz_rounds = 10;
  const Rows<T> turned = transposed(A, Op::transpose);
  Factors f{Norms(static_cast<std::size_t>(A.rows), Bounded<double>(1.0)),
            Norms(static_cast<std::size_t>(A.rows), Bounded<double>(1.0))};
  if (method == ScalingMethod::negative) {
    f.rows.assign(f.rows.size(), Bounded<double>(-1.0));
    return f;
  }
  if (method == ScalingMethod::diagonal) {
    Norms norms(f.rows.size());
    for (std::int32_t i = 0; i < A.rows; ++i)
      if (const auto place = A.find(i, i)) norms[static_cast<std::size_t>(i)] = computed_modulus(A.value[*place]);
    divide_by_roots(f.rows, norms);
  }
  for (int round = 0; round < (method == ScalingMethod::ruiz ? ruiz_rounds : 1); ++round) {
    if (method == ScalingMethod::diagonal) break;
    Norms of_rows = row_maxima(A, f.rows, f.cols);
    const Norms of_cols = row_maxima(turned, f.cols, f.rows);
    if (method == ScalingMethod::symmetric)
      for (std::size_t i = 0; i < of_rows.size(); ++i) of_rows[i] = greater(of_rows[i], of_cols[i]);
    divide_by_roots(f.rows, of_rows);
    if (method == ScalingMethod::ruiz) divide_by_roots(f.cols, of_cols);
  }
  if (method != ScalingMethod::ruiz) f.cols = f.rows;
  return f;
}

/// As numbers of R.
template <class R>
std::vector<Bounded<R>> rounded(const Norms& factors) {
  std::vector<Bounded<R>> made;
  for (const Bounded<double>& f : factors) made.push_back({f.value, f.error + gamma<R>(1) * f.greatest()});
  return made;
}

/// d as a scalar of T.
template <class T>
Bounded<T> diagonal_entry(real_t<T> d) {
  return Bounded<T>(T(d));
}

template <class T>
Comparison compare_scaled_vectors(Context& ctx, const Subject<T>& s, const Scaling<T>& scaling) {
  const auto image = [&](const std::vector<T>& in, const Array<real_t<T>>& d, bool divide) {
    BoundedVector<T> out(in.size());
    for (std::size_t i = 0; i < in.size(); ++i)
      out[i] = divide ? quotient(Bounded<T>(in[i]), diagonal_entry<T>(d.host()[i]))
                      : times(Bounded<T>(in[i]), diagonal_entry<T>(d.host()[i]));
    return out;
  };
  return for_vectors(s.x, s.y, [&](const auto& x, const auto& b) {
    Array<T> out(std::ssize(x), "scaled");
    scaling.scale_rhs(ctx, array(b, "b"), out);
    Comparison all = compare<T>(out.host(), image(b, scaling.rows(), false));
    scaling.scale_solution(ctx, array(x, "x"), out);
    all.merge(compare<T>(out.host(), image(x, scaling.cols(), true)), "x");
    scaling.unscale_solution(ctx, array(x, "x"), out);
    all.merge(compare<T>(out.host(), image(x, scaling.cols(), false)), "x, back");
    return all;
  });
}

template <class T>
Comparison compare_scaled_matrix(Context& ctx, const Subject<T>& s, const Scaling<T>& scaling) {
  const Scaled<T, std::int32_t> scaled(ctx, s.A, scaling);
  const auto rows = scaling.rows().host(), cols = scaling.cols().host();
  BoundedVector<T> wanted;
  for (const Entry<T>& e : entries_of(s.rows, false))
    wanted.push_back(times(Bounded<T>(e.value), times(diagonal_entry<T>(rows[static_cast<std::size_t>(e.row)]),
                                                      diagonal_entry<T>(cols[static_cast<std::size_t>(e.col)]))));
  return compare<T>(scaled.matrix().values().host(), wanted);
}

/// Q D_r A D_c entry by entry, where they stand, too.
template <class T>
Comparison compare_matched(Context& ctx, const Subject<T>& s, const Matching<T>& matching) {
  const Matched<T, std::int32_t> matched(ctx, s.A, matching);
  const auto rows = matching.scaling().rows().host(), cols = matching.scaling().cols().host();
  const auto place = matching.rows().inverse().host();
  std::vector<Entry<T>> entries = entries_of(s.rows, false);
  std::ranges::stable_sort(entries, {}, [&](const Entry<T>& e) { return place[static_cast<std::size_t>(e.row)]; });
  BoundedVector<T> wanted;
  std::vector<std::int32_t> wanted_cols;
  for (const Entry<T>& e : entries) {
    wanted.push_back(times(Bounded<T>(e.value), times(diagonal_entry<T>(rows[static_cast<std::size_t>(e.row)]),
                                                      diagonal_entry<T>(cols[static_cast<std::size_t>(e.col)]))));
    wanted_cols.push_back(e.col);
  }
  Comparison c = compare<T>(matched.matrix().values().host(), wanted);
  c.merge(compare_bits<std::int32_t>(matched.matrix().col_indices().host(), wanted_cols), "columns");
  return c;
}

constexpr std::string_view certificate_bound =
    "gamma_k of the greatest logarithm, k = 6 (n + 4): each of n searches adds to those of rows and columns once";

/// That every row has a column of its own, and that the factors prove the product of these entries to be the greatest.
/// Where the search for it was cut short, the factors have to bound all entries all the same.
template <class T>
Comparison compare_certificate(const Rows<T>& A, const ProductMatching& found) {
  Certificate c = certificate(A, found.row_of_column, found.log_row_factors, found.log_col_factors);
  std::vector<std::int32_t> rows = found.row_of_column;
  std::ranges::sort(rows);
  if (std::ranges::adjacent_find(rows) != rows.end() || std::ssize(c.of_pairs) != A.rows)
    return failed("the pairs are not one entry of each row and column");
  if (!found.has_greatest_product) c.of_rest.insert(c.of_rest.end(), c.of_pairs.begin(), c.of_pairs.end());
  std::vector<long double> excess = found.has_greatest_product ? c.of_pairs : std::vector<long double>();
  for (const long double log : c.of_rest) excess.push_back(std::max(0.0L, log));
  const long double bound = gamma<double>(6 * (std::int64_t{A.rows} + 4)) * c.greatest;
  return compare_exactly_computed<double>(excess, BoundedVector<double>(excess.size(), Bounded<double>(0.0L, bound)));
}

/// Whether it is one, and what it makes of A and of vectors.
template <class T>
Comparison compare_reordered(Context& ctx, const Subject<T>& s, const Ordering& ordering) {
  const auto order = ordering.order().host();
  std::vector<std::int32_t> sorted(order.begin(), order.end()), all(order.size());
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::int32_t>(i);
  Comparison c = compare_bits<std::int32_t>(sorted, all);
  if (c.verdict == Verdict::fail) return c;
  std::vector<std::int32_t> inverse(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) inverse[static_cast<std::size_t>(order[i])] = all[i];
  c.merge(compare_bits<std::int32_t>(ordering.inverse().host(), inverse), "places");
  std::vector<Entry<T>> moved = entries_of(s.rows, false);
  for (Entry<T>& e : moved)
    e.row = inverse[static_cast<std::size_t>(e.row)], e.col = inverse[static_cast<std::size_t>(e.col)];
  std::ranges::sort(moved,
                    [](const auto& a, const auto& b) { return std::pair(a.row, a.col) < std::pair(b.row, b.col); });
  c.merge(compare_bits<Entry<T>>(entries_of(rows_of(Reordered<T, std::int32_t>(ctx, s.A, ordering).matrix()), false),
                                 moved),
          "matrix");
  const std::vector<T>& x = s.x[0].values;
  std::vector<T> wanted;
  for (const std::int32_t i : order) wanted.push_back(x[static_cast<std::size_t>(i)]);
  Array<T> y(std::ssize(x), "y"), back(std::ssize(x), "back");
  apply_permutation(ctx, array(x, "x"), ordering.order(), y);
  c.merge(compare_bits<T>(y.host(), wanted), "vector");
  apply_inverse_permutation(ctx, y, ordering.order(), back);
  c.merge(compare_bits<T>(back.host(), x), "vector, back");
  return c;
}

/// Every row has a color, and no neighbor of the same.
template <class T>
Comparison compare_coloring(const Subject<T>& s, const Coloring& coloring) {
  const auto colors = coloring.colors.host();
  if (colors.size() != s.y.front().values.size()) return failed("there are not as many colors as rows");
  for (std::size_t i = 0; i < colors.size(); ++i)
    if (colors[i] < 0 || colors[i] >= coloring.count)
      return failed(fmt::format("row {} has the color {} of {}", i, colors[i], coloring.count));
  const std::vector<Entry<T>> found = clashes(s.rows, colors);
  if (!found.empty())
    return failed(fmt::format("rows {} and {} meet and have one color ({} such entries)", found[0].row, found[0].col,
                              found.size()));
  Comparison c;
  c.entries = std::ssize(s.rows.value);
  c.verdict = Verdict::pass;
  return c;
}

template <class T>
Ordering make_ordering(Context& ctx, const Csr<T>& A, OrderingMethod method) {
  if (method == OrderingMethod::rcm) return reverse_cuthill_mckee(ctx, A);
  if (method == OrderingMethod::amd) return approximate_minimum_degree(ctx, A);
  if (method == OrderingMethod::nested_dissection) return nested_dissection(ctx, A);
  return color(ctx, A).ordering;
}

}  // namespace

template <class T>
void check_scalings(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square()) return;
  for (const ScalingMethod method : selection.scalings) {
    const std::string name = "scaling " + std::string(scaling_method_names[static_cast<std::size_t>(method)]);
    std::optional<Scaling<T>> scaling;
    try {
      scaling.emplace(ctx, s.A, method);
    } catch (const InvalidArgument& refusal) {
      ledger.not_checked(name, refusal.what());  // a row of zeros
      continue;
    }
    ledger.check(name + ", factors", factor_bound, [&] {
      const Factors wanted = factors(s.rows, method);
      Comparison both = compare<real_t<T>>(scaling->rows().host(), rounded<real_t<T>>(wanted.rows));
      both.merge(compare<real_t<T>>(scaling->cols().host(), rounded<real_t<T>>(wanted.cols)), "columns");
      return both;
    });
    ledger.check(name + ", matrix", scaled_bound, [&] { return compare_scaled_matrix(ctx, s, *scaling); });
    ledger.check(name + ", vectors", scaled_bound, [&] { return compare_scaled_vectors(ctx, s, *scaling); });
  }
}

template <class T>
void check_orderings(Ledger& ledger, Context& ctx, const Subject<T>& s, const Selection& selection) {
  if (!s.is_square()) return;
  if (selection.matches)
    if (const ProductMatching found = maximum_product_matching(s.A); found.rank == s.A.rows()) {
      ledger.check("matching product, certificate", certificate_bound,
                   [&] { return compare_certificate(s.rows, found); });
      ledger.check("matching product, system", scaled_bound, [&] { return compare_matched(ctx, s, Matching<T>(s.A)); });
    }
  for (const OrderingMethod method : selection.orderings) {
    const std::string name = "ordering " + std::string(ordering_method_names[static_cast<std::size_t>(method)]);
    ledger.check(name, exact_bound, [&] {
      Context host = Context::host(1);
      const Ordering ordering = make_ordering(ctx, s.A, method);
      Comparison c = compare_reordered(ctx, s, ordering);
      c.merge(compare_bits<std::int32_t>(ordering.order().host(), make_ordering(host, s.A, method).order().host()),
              "the host's order");
      return c;
    });
    if (method == OrderingMethod::color)
      ledger.check("coloring", "0: no two rows of a color have an entry in common",
                   [&] { return compare_coloring(s, color(ctx, s.A)); });
  }
}

template <class T>
struct OrderSuiteInstances {
  static constexpr std::tuple list{
      instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_scalings),
      instance<void(Ledger&, Context&, const Subject<T>&, const Selection&)>(check_orderings)};
};
KRILL_INSTANTIATE(OrderSuiteInstances);

}  // namespace krill::apps::verify

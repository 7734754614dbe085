// The cycle of multigrid.
#include <algorithm>
#include <cmath>
#include <optional>

#include "apps/verify/multigrid_suite.hpp"
#include "apps/verify/precond/amg.hpp"
#include "apps/verify/references/spectrum.hpp"
#include "apps/verify/trial.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::verify {
namespace {

constexpr std::string_view running_error_of_steps =
    "running error analysis of the step, one operation after the other (Higham 2002, section 3.3)";
constexpr std::string_view linear_bound = "the running errors of the three cycles together";
constexpr std::string_view hermitian_bound =
    "|u|' and |v|' times the running errors of the other's cycle, over the Hermitian parts of all levels' matrices";
constexpr std::string_view positive_bound = "0";
constexpr std::string_view contraction_bound = "1, in the norm of A";

constexpr std::string_view inexact =
    "the error analysis of sweeps does not carry that coarse matrices are Hermitian to rounding only";

template <class T>
class CycleChecks : CheckedHierarchy<T> {
 public:
  explicit CycleChecks(const CheckedHierarchy<T>& checked) : CheckedHierarchy<T>(checked) {
    for (std::size_t l = 0; l < levels().size(); ++l) entries_ += nnz(matrix(l));
  }

  void run() {
    if (!is_large())
      reference_.emplace(ctx, options, hierarchy, finest,
                         hierarchy.hermitian() ? LevelMatrices::hermitian_parts : LevelMatrices::as_they_are);
    check_steps();
    check_cycle();
  }

 private:
  using Checked = CheckedHierarchy<T>;
  using Checked::ctx, Checked::finest, Checked::hierarchy, Checked::ledger, Checked::levels, Checked::matrix,
      Checked::name, Checked::options;

  bool is_large() const { return entries_ > max_products; }
  std::string too_large() const {
    return fmt::format("levels have {} entries; references go through {} million at most", entries_,
                       max_products / 1'000'000);
  }
  Array<T> random(std::int64_t n, int number, int stream) const {
    return array(random_vectors<T>(n, stream)[static_cast<std::size_t>(number)].values, "r");
  }

  /// Each step on random vectors, and the cycle as these steps.
  void check_steps() {
    if (is_large()) return ledger.not_checked(name("steps of the cycle"), too_large());
    if (levels().size() == 1 && levels()[0]->dense) return;
    const CycleReference<T>& reference = *reference_;
    for (std::size_t l = 0; l < levels().size(); ++l) {
      const MultigridLevel<T>& level = *levels()[l];
      if (!level.smoother) break;
      const std::int64_t n = level.report.rows;
      const Smoother<T>& smoother = *level.smoother;
      ledger.check(name(l, "smoother"), running_error_of_steps, [&] {
        Comparison all;
        for (const int which : {0, 1}) {
          const Array<T> b = random(n, which, static_cast<int>(l)), start = random(n, which, static_cast<int>(l) + 100);
          Array<T> x(n, "x");
          smoother.smooth_from_zero(ctx, b, x);
          all.merge(compare<T>(x.host(), reference.smoothed(l, SmoothingTime::before, bounded<T>(b.host()), {})),
                    "from zero");
          for (const SmoothingTime time : {SmoothingTime::before, SmoothingTime::after}) {
            Array<T> y(std::vector<T>(start.host().begin(), start.host().end()), "x");
            smoother.smooth(ctx, time, b, y);
            all.merge(compare<T>(y.host(), reference.smoothed(l, time, bounded<T>(b.host()), bounded<T>(start.host()))),
                      time == SmoothingTime::before ? "before" : "after");
          }
        }
        return all;
      });
      if (hierarchy.hermitian()) check_adjoint(l);
      if (!level.transfer) break;
      ledger.check(name(l, "transfers"), running_error_of_steps, [&] {
        const Array<T> r = random(n, 0, 1), e = random(levels()[l + 1]->report.rows, 0, 2);
        Array<T> coarse(e.size(), "coarse"), x(std::vector<T>(r.host().begin(), r.host().end()), "x");
        level.transfer->restrict_to(ctx, r, coarse);
        level.transfer->add_correction(ctx, e, x);
        Comparison all = compare<T>(coarse.host(), reference.restricted(l, bounded<T>(r.host())));
        all.merge(compare<T>(x.host(), reference.corrected(l, bounded<T>(r.host()), bounded<T>(e.host()))), "back");
        return all;
      });
    }
    if (options.cycle == MultigridCycle::k) return;  // the check of preconditioners has all of it
    ledger.check(name("cycle, one step after the other"), exact_bound, [&] {
      const Array<T> b = random(levels()[0]->report.rows, 0, 3);
      Array<T> x(b.size(), "x"), expected(b.size(), "x");
      hierarchy.cycle().apply(ctx, b, x, nullptr);
      visit(0, options.cycle, b, expected, true);
      return compare_bits<T>(x.host(), expected.host());
    });
  }

  /// Error analysis of polynomials carries what matrices are off.
  bool is_carried(std::size_t l) const { return is_polynomial(options.smoother.type) || reference_->is_exact(l); }
  bool all_are_exact() const {
    for (std::size_t l = 0; l < levels().size(); ++l)
      if (levels()[l]->smoother && !is_carried(l)) return false;
    return true;
  }
  /// What smooths after a coarser level was asked is the adjoint of what does before, from x = 0.
  void check_adjoint(std::size_t l) {
    const std::string own = name(l, "smoother, adjoint after");
    if (!is_carried(l)) return ledger.not_checked(own, std::string(inexact));
    ledger.check(own, hermitian_bound, [&] {
      const Smoother<T>& smoother = *levels()[l]->smoother;
      const Array<T> u = random(levels()[l]->report.rows, 0, 7), v = random(u.size(), 0, 8);
      Array<T> Su(u.size(), "x"), Sv(std::vector<T>(v.host().size(), T(0)), "x");
      smoother.smooth_from_zero(ctx, u, Su);
      smoother.smooth(ctx, SmoothingTime::after, v, Sv);
      const BoundedVector<T> of_u = reference_->smoothed(l, SmoothingTime::before, bounded<T>(u.host()), {}),
                             of_v = reference_->smoothed(l, SmoothingTime::after, bounded<T>(v.host()),
                                                         BoundedVector<T>(of_u.size()));
      Equations<T> products;
      products.left.push_back(dot(u.host(), Sv.host()));
      products.right.emplace_back(dot(Su.host(), v.host()), error_of_products(u.host(), of_v, v.host(), of_u));
      return compare<T>(products);
    });
  }
  /// |u|' times the errors of one vector, and |v|' times those of another.
  static long double error_of_products(std::span<const T> u, const BoundedVector<T>& with_u, std::span<const T> v,
                                       const BoundedVector<T>& with_v) {
    long double sum = 0;
    for (std::size_t i = 0; i < u.size(); ++i)
      sum += modulus(exact(u[i])) * with_u[i].error + modulus(exact(v[i])) * with_v[i].error;
    return sum;
  }

  void visit(std::size_t l, MultigridCycle kind, const Array<T>& b, Array<T>& x, bool from_zero) const {
    const MultigridLevel<T>& level = *levels()[l];
    if (level.dense) return level.dense->apply(ctx, b, x);
    from_zero ? level.smoother->smooth_from_zero(ctx, b, x) : level.smoother->smooth(ctx, SmoothingTime::before, b, x);
    if (level.transfer) {
      Array<T> r(levels()[l + 1]->report.rows, "r"), e(r.size(), "e");
      level.transfer->restrict_to(ctx, level.smoother->residual(ctx, b, x), r);
      visit(l + 1, kind, r, e, true);
      if (kind != MultigridCycle::v) visit(l + 1, kind == MultigridCycle::f ? MultigridCycle::v : kind, r, e, false);
      level.transfer->add_correction(ctx, e, x);
    }
    level.smoother->smooth(ctx, SmoothingTime::after, b, x);
  }

  Array<T> answer(const Array<T>& b) const {
    Array<T> x(b.size(), "x");
    hierarchy.cycle().apply(ctx, b, x, nullptr);
    return x;
  }

  void check_cycle() {
    const std::string both = name("cycle, linear and Hermitian");
    if (options.cycle == MultigridCycle::k)
      return ledger.not_checked(both, "cycle k depends on the residual that it is given");
    const bool hermitian = hierarchy.hermitian();
    if (is_large())
      ledger.not_checked(both, too_large());
    else if (const auto& dense = levels().back()->dense; dense && rows(matrix(levels().size() - 1)) > max_inverse)
      ledger.not_checked(
          both,
          fmt::format("the last level has more than {} rows: its inverse takes too long as a reference", max_inverse));
    else
      check_linear(hermitian);
    if (!hermitian) return;
    ledger.check(name("cycle, positive"), positive_bound, [&] {
      Comparison all;
      for (int which = 0; which < 4; ++which) {
        const Array<T> u = random(levels()[0]->report.rows, which % 2, which);
        const long double product = real_part(dot(u.host(), answer(u).host()));
        all.merge(compare_figure(static_cast<double>(-product), 0, is_definite(), "the matrix is not definite"),
                  fmt::format("vector {}", which));
      }
      return all;
    });
    check_contraction();
  }

  static Exact<T> dot(std::span<const T> a, std::span<const T> b) {
    Exact<T> sum{};
    for (std::size_t i = 0; i < a.size(); ++i) sum += conjugated(exact(a[i])) * exact(b[i]);
    return sum;
  }
  /// As far as Lanczos' process tells.
  bool is_definite() const { return ritz_values(rows_of(finest), 50).least > 0; }

  /// Two vectors, what the cycle makes of them and of their sum, and what the reference does.
  struct Pair {
    std::vector<T> u, v;
    Array<T> Mu, Mv, Mw;
    BoundedVector<T> of_u, of_v;
  };
  /// Of multiples of 2^-10, so that u + v is exact; all in [1/2, 1) where `positive`.
  Pair pair_of(bool positive) const {
    const Array<T> one = random(levels()[0]->report.rows, 0, 4), other = random(one.size(), 0, 5);
    const auto part = [&](real_t<T> a) { return std::round(positive ? 768 + 256 * a : 1024 * a) / 1024; };
    const auto taken = [&](T value) {
      if constexpr (is_complex<T>)
        return T(part(value.real()), positive ? 0 : part(value.imag()));
      else
        return part(value);
    };
    Pair p;
    std::vector<T> w;
    for (std::size_t i = 0; i < one.host().size(); ++i) {
      p.u.push_back(taken(one.host()[i])), p.v.push_back(taken(other.host()[i]));
      w.push_back(p.u.back() + p.v.back());
    }
    p.Mu = answer(array(p.u, "u")), p.Mv = answer(array(p.v, "v")), p.Mw = answer(array(w, "w"));
    p.of_u = reference_->apply(bounded<T>(p.u)), p.of_v = reference_->apply(bounded<T>(p.v));
    return p;
  }

  /// Errors are bounded as if all of a sum had one sign. So vectors of one sign show most where entries of A^-1 have
  /// one, too; such of both signs show more of other matrices, while these are small.
  void check_linear(bool hermitian) {
    constexpr std::string_view too_rough = "rounding may take more than the values themselves";
    Comparison linear = undecided(std::string(too_rough)), symmetric = linear;
    const auto merge = [](Comparison& all, const Comparison& more, const char* which) {
      all.reason.clear(), all.merge(more, which);
    };
    ledger.check(name("cycle, linear"), linear_bound, [&] {
      for (const bool positive : {true, false}) {
        const Pair p = pair_of(positive);
        const char* const which = positive ? "entries of one sign" : "entries of both signs";
        long double size = 0, most = 0;
        const long double bound = error_of_products(p.u, p.of_v, p.v, p.of_u);
        Equations<T> sums, products;
        for (std::size_t i = 0; i < p.u.size(); ++i) {
          sums.left.push_back(exact(p.Mu.host()[i]) + exact(p.Mv.host()[i]));
          // M (u + v) is off by no more than M u and M v together.
          sums.right.emplace_back(exact(p.Mw.host()[i]), 2 * (p.of_u[i].error + p.of_v[i].error));
          size = std::max(size, modulus(sums.left.back()));
          if (!(sums.right.back().error <= most)) most = sums.right.back().error;
        }
        if (most < size) merge(linear, compare<T>(sums), which);
        products.left.push_back(dot(p.u, p.Mv.host()));
        products.right.emplace_back(dot(p.Mu.host(), p.v), bound);
        if (bound * bound < real_part(dot(p.u, p.Mu.host())) * real_part(dot(p.v, p.Mv.host())))
          merge(symmetric, compare<T>(products), which);
      }
      return linear;
    });
    if (!hermitian) return;
    const std::string own = name("cycle, Hermitian");
    if (!all_are_exact()) return ledger.not_checked(own, std::string(inexact));
    ledger.check(own, hermitian_bound, [&] { return symmetric; });
  }

  /// e := (I - M A) e, a number of times: ||e||_A never grows where the smoothers contract in that norm, whatever e is.
  void check_contraction() {
    const std::string own = name("cycle, contraction");
    const Rows<T> A = rows_of(finest);
    constexpr int steps = 12;
    if (std::ssize(A.col) * steps > 5 * max_products)
      return ledger.not_checked(own, "the matrix has too many entries for a reference of its products");
    ledger.check(own, contraction_bound, [&] {
      const std::size_t n = as_size(A.rows);
      std::vector<Exact<T>> e(n), Ae(n);
      const Array<T> start = random(A.rows, 0, 6);
      for (std::size_t i = 0; i < n; ++i) e[i] = exact(start.host()[i]);
      long double before = 0, greatest = 0;
      for (int step = 0; step <= steps; ++step) {
        long double energy = 0, size = 0;
        for (std::int32_t i = 0; i < A.rows; ++i) {
          Exact<T> sum{};
          for (std::size_t k = A.begin(i); k < A.end(i); ++k) sum += exact(A.value[k]) * e[as_size(A.col[k])];
          Ae[as_size(i)] = sum;
          energy += real_part(conjugated(e[as_size(i)]) * sum);
          size = std::max(size, modulus(sum));
        }
        if (!(energy > 0)) break;
        if (step > 0) greatest = std::max(greatest, std::sqrt(energy / before));
        before = energy;
        const int scale = -std::ilogb(size);
        std::vector<T> r;
        for (const Exact<T>& entry : Ae) r.push_back(rounded(entry * Exact<T>(std::ldexp(1.0L, scale))));
        const Array<T> z = answer(array(r, "r"));
        for (std::size_t i = 0; i < n; ++i) e[i] -= exact(z.host()[i]) * Exact<T>(std::ldexp(1.0L, -scale));
      }
      return compare_figure(static_cast<double>(greatest), 1, contracts() && is_definite(),
                            contracts() ? "the matrix is not definite" : "such cycles need not contract");
    });
  }
  /// Where smoothers contract in the norm of A and corrections are not too large by intent.
  bool contracts() const {
    const SmootherKind kind = options.smoother.type;
    return hierarchy.options().over_correction == 1 && kind != SmootherKind::ilu0 && kind != SmootherKind::isai;
  }
  static T rounded(const Exact<T>& a) {
    if constexpr (is_complex<T>)
      return {static_cast<real_t<T>>(a.re), static_cast<real_t<T>>(a.im)};
    else
      return static_cast<T>(a);
  }

  static constexpr std::int32_t max_inverse = 1024;

  std::int64_t entries_ = 0;
  std::optional<CycleReference<T>> reference_;  ///< where levels are not too large for one
};

}  // namespace

/// One figure that should be less than its bound; undecided where it need not be.
Comparison compare_figure(double found, double bound, bool has_to, std::string_view otherwise) {
  Comparison c;
  c.entries = 1;
  c.componentwise = c.normwise = bound > 0 ? found / bound : found > 0 ? std::numeric_limits<double>::infinity() : 0;
  if (found < bound) {
    c.verdict = Verdict::pass;
    return c;
  }
  if (!has_to) return undecided(fmt::format("it is {:.6g}: {}", found, otherwise));
  c.wrong = 1, c.verdict = Verdict::fail;
  c.reason = fmt::format("it is {:.6g}, less than {:.6g} was expected", found, bound);
  return c;
}

template <class T>
void check_cycle(const CheckedHierarchy<T>& checked) {
  CycleChecks<T>(checked).run();
}

template <class T>
struct CycleSuiteInstances {
  static constexpr auto list = instance<void(const CheckedHierarchy<T>&)>(check_cycle);
};
KRILL_INSTANTIATE(CycleSuiteInstances);

}  // namespace krill::apps::verify

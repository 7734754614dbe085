// The bytes and operations that preconditioners state of an application, against entries counted in the pattern of A.
#include "tests/solvers/applied.hpp"

namespace krill::test {
namespace {

using PreconditionerWork = OnBackendAndScalar;

/// Stored entries, by their place.
struct Pattern {
  std::int64_t n;
  std::vector<bool> stored = std::vector<bool>(static_cast<std::size_t>(n * n));

  auto at(std::int64_t i, std::int64_t j) { return stored[static_cast<std::size_t>(i * n + j)]; }
  bool has(std::int64_t i, std::int64_t j) const { return stored[static_cast<std::size_t>(i * n + j)]; }
  template <class F>
  double count(F&& wanted) const {
    double sum = 0;
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) sum += stored[static_cast<std::size_t>(i * n + j)] && wanted(i, j);
    return sum;
  }
  double all() const {
    return count([](auto, auto) { return true; });
  }
  /// Below the diagonal, and above it.
  double lower() const {
    return count([](auto i, auto j) { return i > j; });
  }
  double upper() const {
    return count([](auto i, auto j) { return i < j; });
  }
  /// With whole blocks where a block has an entry.
  Pattern in_blocks(std::int64_t dim) const {
    Pattern filled{n};
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        if (stored[static_cast<std::size_t>(i * n + j)])
          for (std::int64_t k = i / dim * dim; k < std::min(n, (i / dim + 1) * dim); ++k)
            for (std::int64_t l = j / dim * dim; l < std::min(n, (j / dim + 1) * dim); ++l) filled.at(k, l) = true;
    return filled;
  }
  /// With what elimination fills: an entry of A is 1, one made of entries p and q is p + q, up to the level and 1.
  Pattern with_fill(int level) const {
    const auto size = static_cast<std::size_t>(n);
    std::vector<int> made(size * size, level + 2);
    for (std::size_t k = 0; k < made.size(); ++k)
      if (stored[k]) made[k] = 1;
    Pattern filled{n};
    for (std::size_t k = 0; k < size; ++k)
      for (std::size_t i = k + 1; i < size; ++i)
        for (std::size_t j = k + 1; j < size; ++j)
          made[i * size + j] = std::min(made[i * size + j], made[i * size + k] + made[k * size + j]);
    for (std::size_t k = 0; k < made.size(); ++k) filled.stored[k] = made[k] <= level + 1;
    return filled;
  }
};

/// What the passes of an application do, each told by what it reads, writes and multiplies.
class Count {
 public:
  Count(const Pattern& a, double value_size) : a(a), n(static_cast<double>(a.n)), size(value_size) {}

  void vectors(double many) { bytes += many * n * size; }
  void multiplied(double values) { multiplications += values; }
  /// A matrix in CSR; x and y are counted by the caller.
  void csr(double entries) { bytes += entries * (size + 4) + (n + 1) * 4, multiplied(entries); }
  /// A triangle that is solved with, its diagonal aside.
  void triangle(double entries) { bytes += entries * (size + 4), multiplied(entries), vectors(2); }
  void diagonal() { vectors(1), multiplied(n); }

  /// A triangle of an incomplete factor.
  void factor(double entries, bool unit, const FactorSolveOptions& o) {
    if (o.method == FactorSolveMethod::jacobi) {
      vectors(2);
      if (!unit) diagonal();
      for (int sweep = 1; sweep < o.sweeps; ++sweep) csr(entries), vectors(3);
    } else if (o.method == FactorSolveMethod::isai) {
      csr(entries + n), vectors(2);
      if (o.corrections) vectors(2);
      for (int step = 0; step < o.corrections; ++step) csr(entries + n), vectors(3), csr(entries + n), vectors(3);
    } else {
      triangle(entries);
      if (!unit) diagonal();
    }
  }
  void lu(const Pattern& pattern, const FactorSolveOptions& o) {
    factor(pattern.lower(), true, o), factor(pattern.upper(), false, o);
  }
  void cholesky(const Pattern& pattern, const FactorSolveOptions& o) {
    factor(pattern.lower(), false, o), factor(pattern.lower(), false, o);
  }

  const Pattern& a;
  double n, size, real_size = 0;
  double bytes = 0, multiplications = 0, products = 0;
};

void count(Count&, const NoPreconditioner&, const PreconditionerReport&) {}
void count(Count&, const AutoPreconditioner&, const PreconditionerReport&) {}
void count(Count& c, const JacobiOptions&, const PreconditionerReport&) { c.vectors(2), c.diagonal(); }
void count(Count& c, const BlockJacobiOptions&, const PreconditionerReport& report) {
  const auto dim = fact<std::int64_t>(report, "block_dim");
  Pattern diagonal{c.a.n};
  for (std::int64_t i = 0; i < c.a.n; ++i) diagonal.at(i, i) = true;
  const double entries = diagonal.in_blocks(dim).all();
  c.vectors(2), c.bytes += entries * c.size, c.multiplied(entries);
}
void count(Count& c, const ChebyshevOptions& o, const PreconditionerReport&) {
  c.vectors(3), c.bytes += c.n * c.real_size, c.multiplied(c.n);  // d = z = D^-1 r
  for (int step = 0; step < o.degree; ++step) {
    c.products += 1, c.vectors(2);                                      // w = A z
    c.vectors(6), c.bytes += c.n * c.real_size, c.multiplied(3 * c.n);  // d = d + D^-1 (r - w), z = z + d
  }
}
void count(Count& c, const GaussSeidelOptions& o, const PreconditionerReport&) {
  if (o.direction != SweepDirection::backward) c.triangle(c.a.lower()), c.diagonal();
  if (o.direction != SweepDirection::forward) c.triangle(c.a.upper());
  if (o.direction == SweepDirection::backward) c.diagonal();
}
void count(Count& c, const SsorOptions&, const PreconditionerReport& report) { count(c, GaussSeidelOptions{}, report); }
void count(Count& c, const Ilu0Options& o, const PreconditionerReport&) { c.lu(c.a, o.solve); }
void count(Count& c, const Ic0Options& o, const PreconditionerReport&) { c.cholesky(c.a, o.solve); }
void count(Count& c, const IlukOptions& o, const PreconditionerReport&) { c.lu(c.a.with_fill(o.level), o.solve); }
void count(Count& c, const IckOptions& o, const PreconditionerReport&) { c.cholesky(c.a.with_fill(o.level), o.solve); }
/// The pattern is the values' choice; what counts is how many entries both triangles have.
void count(Count& c, const IlutOptions& o, const PreconditionerReport& report) {
  const double half = (static_cast<double>(fact<std::int64_t>(report, "factor_nonzeros")) - c.n) / 2;
  c.factor(half, true, o.solve), c.factor(half, false, o.solve);
  if (o.pivoting > 0 && fact<std::int64_t>(report, "moved_pivots") > 0) c.vectors(2), c.bytes += c.n * 4;
}
void count(Count& c, const IctOptions& o, const PreconditionerReport& report) {
  const double lower = static_cast<double>(fact<std::int64_t>(report, "factor_nonzeros")) - c.n;
  c.factor(lower, false, o.solve), c.factor(lower, false, o.solve);
}
void count(Count& c, const Bilu0Options& o, const PreconditionerReport&) { c.lu(c.a.in_blocks(o.block_dim), o.solve); }
void count(Count& c, const Bic0Options& o, const PreconditionerReport&) {
  c.cholesky(c.a.in_blocks(o.block_dim), o.solve);
}
void count(Count& c, const Parilu0Options& o, const PreconditionerReport&) { c.lu(c.a, o.solve); }
void count(Count& c, const Paric0Options& o, const PreconditionerReport&) { c.cholesky(c.a, o.solve); }
void count(Count& c, const ParilutOptions& o, const PreconditionerReport& report) {
  count(c, IlutOptions{{.solve = o.solve}}, report);
}
void count(Count& c, const ParictOptions& o, const PreconditionerReport& report) {
  count(c, IctOptions{{.solve = o.solve}}, report);
}
void count(Count& c, const IsaiOptions&, const PreconditionerReport& report) {
  if (fact<std::string>(report, "form") == "general") return c.csr(c.a.all()), c.vectors(2);
  for (int factor = 0; factor < 2; ++factor) c.csr(c.a.lower() + c.n), c.vectors(2);
}

void count(Count& c, const TridiagonalOptions&, const PreconditionerReport& report) {
  const bool thomas = fact<std::string>(report, "method") == "thomas";
  if (fact<std::string>(report, "solved_by") == "elimination")
    return c.vectors(5), c.multiplied((thomas ? 5 : 9) * c.n);
  // A multiplier, a pivot, what is right of it, and a byte on exchanges; r, what goes down and comes back, z.
  c.vectors((thomas ? 3 : 4) + 4), c.multiplied((thomas ? 3 : 4) * c.n), c.bytes += thomas ? 0 : c.n;
}
void count(Count&, const LineOptions&, const PreconditionerReport&) {}

/// A smoother's steps, `from_zero` or not: products aside. Returns how many products they take.
double count_smoothing(Count& c, double rows, int degree, bool from_zero) {
  const auto vectors = [&](double many) { c.bytes += many * rows * c.size; };
  c.bytes += degree * rows * c.real_size;  // D^-1
  if (degree == 1) {
    vectors(from_zero ? 3 : 3 + 1 + 2), c.multiplied((from_zero ? 1 : 2) * rows);  // b, d, x; b, x and r, r, x twice
    return from_zero ? 0 : 1;
  }
  vectors(from_zero ? 2 : 4), c.multiplied(from_zero ? 0 : rows);  // b and d; b, x, r and d by the product's rows
  for (int k = 1; k < degree; ++k) {
    vectors(2 + 1);                       // d and r before, x
    if (!from_zero || k > 1) vectors(1);  // x before
    if (k + 1 < degree) vectors(2);       // r and d
    c.multiplied(3 * rows);
  }
  return degree - (from_zero ? 1 : 0);
}
/// The same by a sweep through rows in the order of colors, one triangle of a symmetric pattern.
double count_sweep(Count& c, double rows, double stored, bool from_zero) {
  const auto vectors = [&](double many) { c.bytes += many * rows * c.size; };
  const double entries = (stored - rows) / 2;
  vectors(2 + 2), c.bytes += 2 * rows * 4;                                          // there and back
  c.bytes += entries * (c.size + 4), vectors(2 + 1), c.multiplied(entries + rows);  // a solve, with the diagonal
  if (from_zero) return 0;
  vectors(3), vectors(3), c.multiplied(rows);  // b - A x, and the sum
  return 1;
}
/// By what is known of each level: the sizes, and the entries of P from the report.
void count(Count& c, const AmgOptions& o, const PreconditionerReport& report) {
  const auto& levels = report.levels;
  for (std::size_t l = 0; l < levels.size(); ++l) {
    const double rows = static_cast<double>(levels[l].rows), times = levels[l].visits,
                 again = o.cycle == MultigridCycle::w && l > 0 ? times / 2 : 0;
    if (levels[l].format == "dense inverse") {
      c.bytes += times * (rows * rows + 2 * rows) * c.size, c.multiplied(times * rows * rows);
      continue;
    }
    double products = 0;
    const auto smooth = [&](bool from_zero) {
      products += is_polynomial(o.smoother.type)
                      ? count_smoothing(c, rows, o.smoother.degree, from_zero)
                      : count_sweep(c, rows, static_cast<double>(levels[l].entries), from_zero);
    };
    for (int visit = 0; visit < static_cast<int>(times); ++visit)
      smooth(visit >= static_cast<int>(again)), smooth(false);
    if (l + 1 < levels.size()) {
      products += times;
      c.bytes += times * 3 * rows * c.size;  // b - A x
      const double coarse = static_cast<double>(levels[l + 1].rows),
                   entries = static_cast<double>(levels[l].transfer_entries);
      if (o.smoothed()) {  // P and R in CSR
        c.bytes += times * (2 * entries * (c.size + 4) + (rows + 1 + coarse + 1) * 4);
        c.bytes += times * (coarse + 2 * rows + rows + coarse) * c.size;
        c.multiplied(times * 2 * entries);
      } else {
        c.bytes += times * ((3 * rows + 2 * coarse) * c.size + (2 * rows + coarse + 1) * 4);
        c.multiplied(times * rows);
      }
    }
    if (o.cycle == MultigridCycle::k && (l == 1 || l == 2)) {  // each two visits end two steps of conjugate gradients
      const double steps = times / 2;
      products += 2 * steps;
      c.bytes += 4 * steps * rows * c.size;        // of the products
      c.bytes += steps * rows * c.size;            // c1, for a dot of the second; other partners are x
      c.bytes += 2 * 2 * steps * rows * c.size;    // two dots
      c.bytes += (3 + 3) * steps * rows * c.size;  // r = b - v, x = c1 + c2
      c.multiplied((1 + 2 + 2 + 1 + 2) * steps * rows);
    }
    if (l == 0)
      c.products += products;
    else
      for (; products > 0; --products) {
        const auto stored = static_cast<double>(levels[l].entries);
        c.bytes += stored * (c.size + 4) + (rows + 1) * 4, c.multiplied(stored);
      }
  }
}

void count(Count&, const SchurOptions&, const PreconditionerReport&) {}

/// Neighboring rows by their cost; the entries inside of each part, which has the rows beside it where parts overlap.
void count(Count& c, const SchwarzOptions& o, const PreconditionerReport& report) {
  std::vector<std::int32_t> offsets{0}, rows, part_of;
  for (std::int64_t i = 0; i < c.a.n; ++i) {
    std::int32_t entries = offsets.back();
    for (std::int64_t j = 0; j < c.a.n; ++j) entries += c.a.has(i, j);
    offsets.push_back(entries);
  }
  const auto parts = RowPartition::by_cost(std::span<const std::int32_t>(offsets), o.parts, 1);
  for (int p = 0; p < o.parts; ++p)
    for (std::int64_t i = 0; i < c.a.n; ++i) {
      bool taken = i >= parts.begin(p) && i < parts.end(p);
      for (std::int64_t j = parts.begin(p); j < parts.end(p) && o.overlap > 0; ++j) taken = taken || c.a.has(j, i);
      if (taken) rows.push_back(static_cast<std::int32_t>(i)), part_of.push_back(p);
    }
  Pattern inside{std::ssize(rows)};
  for (std::int64_t k = 0; k < inside.n; ++k)
    for (std::int64_t l = 0; l < inside.n; ++l) {
      const auto at = static_cast<std::size_t>(k), to = static_cast<std::size_t>(l);
      inside.at(k, l) = part_of[at] == part_of[to] && c.a.has(rows[at], rows[to]);
    }
  Count inner(inside, c.size);
  std::visit(
      [&]<class Options>(const Options& M) {
        if constexpr (std::is_same_v<Options, AutoPreconditioner>)
          count(inner, Ic0Options{}, report);
        else if constexpr (!std::is_same_v<Options, SchwarzOptions> && !std::is_same_v<Options, InnerSolverOptions>)
          count(inner, M, report);
      },
      o.inner->options);
  c.bytes += inner.bytes, c.multiplied(inner.multiplications);
  if (o.overlap > 0) c.bytes += (inner.n + c.n) * (2 * c.size + 4);  // r to the parts, z back
  if (o.coarse == CoarseSpace::none) return;
  const double p = o.parts;
  c.vectors(3), c.bytes += 2 * c.n * 4, c.multiplied(c.n);   // r by parts; z, and which part a row is in
  c.bytes += (p * p + 2 * p) * c.size, c.multiplied(p * p);  // the dense inverse
}

void count(Count& c, const InnerSolverOptions& o, const PreconditionerReport& report) {
  const bool pcg = std::holds_alternative<PcgOptions>(o.inner->solver),
             preconditioned = !std::holds_alternative<NoPreconditioner>(o.inner->preconditioner);
  c.vectors(1 + 4 + 2);  // max |r|; r, and b, r, x of the solver; x and z
  for (int step = 0; step < max_iterations(o.inner->solver); ++step) {
    std::visit(
        [&](const auto& M) {
          if constexpr (!std::is_same_v<decltype(M), const InnerSolverOptions&>) count(c, M, report);
        },
        o.inner->preconditioner);
    c.products += 1, c.vectors(2);
    if (pcg)
      c.vectors(3 + 6), c.multiplied((2 + 1 + 2) * c.n);  // p; p, q, x, r: two dots, and three sums
    else
      c.vectors((preconditioned ? 2 : 1) + 4), c.multiplied(3 * c.n);  // q, x, r, and z where that is not r
  }
}

/// Whether its first pass takes r in double precision, of which it would read a copy else.
bool narrows_by_itself(const PreconditionerOptions& options) {
  const auto* amg = std::get_if<AmgOptions>(&options);
  return amg && is_polynomial(amg->smoother.type);
}

TEST_P(PreconditionerWork, is_what_its_passes_count) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const AnyMatrix<T> A(random_hpd<T>(61, 100, 7));
    const MatrixOperator<T> products(A);
    const Reference R = reference(std::get<Csr<T>>(A));
    Pattern pattern{R.rows};
    for (std::size_t k = 0; k < R.value.size(); ++k) pattern.at(R.row[k], R.col[k]) = true;

    constexpr auto tried = static_cast<apps::SampleUse>(apps::in_verify | apps::in_tests);
    for (const apps::PreconditionerSample& sample : apps::preconditioner_samples(tried)) {
      const bool converted = is_kept_in_float32(sample.options) && sizeof(real_t<T>) > sizeof(float);
      for (const bool with_products : {false, true}) {
        const auto M = make_preconditioner<T>(ctx, sample.options, A, with_products ? &products : nullptr);
        Count expected(pattern, converted ? sizeof(T) / 2 : sizeof(T));
        expected.real_size = is_complex<T> ? expected.size / 2 : expected.size;
        std::visit([&](const auto& o) { count(expected, o, M->report()); }, sample.options);
        if (converted) expected.bytes += 2 * expected.n * (expected.size + sizeof(T));
        if (converted && narrows_by_itself(sample.options)) expected.bytes -= expected.n * expected.size;
        if (!with_products || converted)
          for (; expected.products > 0; --expected.products) expected.csr(pattern.all());

        const ApplicationWork work = M->work();
        EXPECT_EQ(work.products, expected.products) << name(sample.options);
        EXPECT_EQ(work.own.bytes, expected.bytes) << name(sample.options);
        EXPECT_EQ(work.own.flops, expected.multiplications * (is_complex<T> ? 8 : 2)) << name(sample.options);
      }
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, PreconditionerWork, backends_and_scalars, param_name);

}  // namespace
}  // namespace krill::test

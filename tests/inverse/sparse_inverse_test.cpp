#include "sparse/inverse/sparse_inverse.hpp"

#include <limits>
#include <map>

#include "sparse/io/read.hpp"
#include "tests/io/files.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/replay.hpp"
#include "tests/triangular/triangles.hpp"

namespace krill::test {
namespace {

constexpr InverseForm both_forms[] = {InverseForm::general, InverseForm::factored};

template <class T, class Offset>
verify::Rows<Z> rows_of(const Csr<T, Offset>& A) {
  return verify::with_values(verify::rows_of(A), [](const T& value) { return to_z(value); });
}
/// Row i by columns.
std::map<std::int32_t, Z> row_of(const verify::Rows<Z>& A, std::int32_t i) {
  std::map<std::int32_t, Z> row;
  for (std::size_t k = A.begin(i); k < A.end(i); ++k) row[A.col[k]] = A.value[k];
  return row;
}

/// Row i of M solves its system: what elimination with partial pivoting leaves of a residual is k eps times the entries
/// of its factors, of which L's are at most 1 and U's hardly grow, so k^2 eps max |a| sum |m|.
template <class T>
void expect_general_row(const verify::Rows<Z>& a, std::int32_t i, const std::map<std::int32_t, Z>& row) {
  double most = 0, sum = 0;
  for (const auto& [k, m] : row) {
    sum += std::abs(m);
    for (const auto& [j, unused] : row) most = std::max(most, std::abs(a.at(k, j)));
  }
  const double k = static_cast<double>(row.size()), bound = 8 * k * k * epsilon<T>() * (most * sum + 1);
  for (const auto& [j, unused] : row) {
    Z residual = j == i ? -1 : 0;
    for (const auto& [l, m] : row) residual += m * a.at(l, j);
    ASSERT_LE(std::abs(residual), bound) << i << ", " << j;
  }
}

/// Of the Hermitian A whose lower triangle is `a`: G A vanishes left of the diagonal, and G A G^H has ones on it. The
/// factor R of a system has |R^H| |R| <= sqrt(a_jj a_ll), so rounding leaves k eps times sums of those.
template <class T>
void expect_factored_row(const verify::Rows<Z>& a, std::int32_t i, const std::map<std::int32_t, Z>& row) {
  const auto hermitian = [&](std::int32_t l, std::int32_t j) {
    if (l == j) return Z(a.at(j, j).real());
    return l > j ? a.at(l, j) : std::conj(a.at(j, l));
  };
  const auto root = [&](std::int32_t j) { return std::sqrt(a.at(j, j).real()); };
  double sum = 0;
  for (const auto& [l, g] : row) sum += std::abs(g) * root(l);
  const double rounding = 8 * static_cast<double>(row.size() + 2) * epsilon<T>() * sum;
  Z diagonal = 0;
  for (const auto& [j, g] : row) {
    Z product = 0;
    for (const auto& [l, other] : row) product += other * hermitian(l, j);
    if (j < i) {
      ASSERT_LE(std::abs(product), rounding * root(j)) << i << ", " << j;
    }
    diagonal += product * std::conj(g);
  }
  ASSERT_LE(std::abs(diagonal - 1.0), rounding * sum) << i;
  ASSERT_GT(row.at(i).real(), 0) << i;
  ASSERT_LE(std::abs(row.at(i).imag()), epsilon<T>() * row.at(i).real()) << i;
}

/// Each row against its system, of long rows some; and the pattern, where no row is shortened.
template <class T, class Offset>
void expect_inverse(const Csr<T, Offset>& A, const Csr<T, Offset>& inverse, InverseForm form,
                    std::size_t most = max_inverse_entries) {
  const auto a = rows_of(A), m = rows_of(inverse);
  ASSERT_EQ(a.rows, m.rows);
  std::size_t long_rows = 0;
  for (std::int32_t i = 0; i < m.rows; ++i) {
    const std::map<std::int32_t, Z> row = row_of(m, i);
    std::vector<std::int32_t> wanted, found;
    for (std::size_t k = a.begin(i); k < a.end(i); ++k)
      if (form == InverseForm::general || a.col[k] <= i) wanted.push_back(a.col[k]);
    for (const auto& entry : row) found.push_back(entry.first);
    if (wanted.size() <= most) {
      ASSERT_EQ(found, wanted) << i;
    }
    if (row.size() > 60 && long_rows++ % 16 != 0) continue;
    form == InverseForm::general ? expect_general_row<T>(a, i, row) : expect_factored_row<T>(a, i, row);
  }
}

/// Dense blocks along the diagonal, of all classes of rows; `dominant` by columns that are then turned around, so that
/// pivots have to be looked for.
constexpr std::int32_t block_sizes[] = {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 70};
template <class T>
Csr<T> dense_blocks(std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::vector<std::int32_t> offsets{0}, columns;
  std::vector<T> values;
  std::int32_t first = 0;
  for (const std::int32_t size : block_sizes) {
    for (std::int32_t i = 0; i < size; ++i) {
      for (std::int32_t j = 0; j < size; ++j) {
        columns.push_back(first + j);
        values.push_back(random_scalar<T>(engine) + T(static_cast<real_t<T>>(i + j + 1 == size ? 2 * size : 0)));
      }
      offsets.push_back(static_cast<std::int32_t>(columns.size()));
    }
    first += size;
  }
  return {first, Array(std::move(offsets)), Array(std::move(columns)), Array(std::move(values))};
}

/// A Hermitian matrix with a full last row and column, and a few entries beside: 4 on the diagonal but for the last.
template <class T>
Csr<T> arrow(std::int32_t n) {
  const auto whole = with_columns<T>(n, [&](std::int32_t i) {
    std::vector<std::int32_t> row;
    for (std::int32_t j = i + 1 == n ? 0 : i; j <= i; ++j) row.push_back(j);
    if (i + 1 < n) row.push_back(n - 1);
    return row;
  });
  Csr<T> A = whole.clone();
  const auto offsets = contents(A.row_offsets());
  const auto values = A.values().edit();
  for (std::int32_t i = 0; i + 1 < n; ++i) {
    const T entry = random_vector<T>(static_cast<std::uint64_t>(i), 1)[0];
    const auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
    values[k] = T(4), values[k + 1] = entry;
    T& mirror = values[static_cast<std::size_t>(offsets[static_cast<std::size_t>(n) - 1] + i)];
    if constexpr (is_complex<T>)
      mirror = std::conj(entry);
    else
      mirror = entry;
  }
  values.back() = T(static_cast<real_t<T>>(n));
  return A;
}

using Inverse = OnBackendAndScalar;

TEST_P(Inverse, rows_solve_their_systems_for_nasty_shapes) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Shape& shape : square_shapes()) {
      const auto A = solvable(1, random_csr<T, std::int64_t>(2, shape), true);
      SCOPED_TRACE(shape.name);
      const SparseInverse<T, std::int64_t> inverse(ctx, A, InverseForm::general, 100);
      EXPECT_EQ(inverse.structural_zero(), std::nullopt);
      EXPECT_EQ(inverse.singular(), std::nullopt);
      EXPECT_EQ(inverse.not_finite(), std::nullopt);
      expect_inverse(A, inverse.matrix(), InverseForm::general, 100);
    }
  });
}

TEST_P(Inverse, rows_solve_their_systems_for_positive_definite_matrices) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const Csr<T>& A : {poisson2d<T>(30), random_hpd<T>(3, 500, 9), random_hpd<T>(4, 120, 70), arrow<T>(700),
                            random_hpd<T>(5, 1, 3), random_hpd<T>(6, 2, 3)})
      for (const InverseForm form : both_forms) {
        SCOPED_TRACE(std::to_string(A.rows()) + (form == InverseForm::general ? " general" : " factored"));
        const SparseInverse<T> inverse(ctx, A, form);
        EXPECT_EQ(inverse.singular(), std::nullopt);
        EXPECT_EQ(inverse.not_finite(), std::nullopt);
        expect_inverse(A, inverse.matrix(), form, 256);
        EXPECT_GE(inverse.bytes(), inverse.matrix().bytes());
      }
  });
}

/// Where the pattern is that of the inverse, M is the inverse.
TEST_P(Inverse, is_exact_for_dense_blocks_and_pivots) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = dense_blocks<T>(7);
    const SparseInverse<T> inverse(ctx, A, InverseForm::general);
    EXPECT_EQ(inverse.longest_row(), 70);
    expect_inverse(A, inverse.matrix(), InverseForm::general);
  });
}

TEST_P(Inverse, the_factored_form_reads_the_lower_triangle_alone) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(9, 300, 12);
    Csr<T> other = A.clone();
    const auto offsets = contents(A.row_offsets());
    for (std::int32_t i = 0; i < A.rows(); ++i)
      for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(i)]);
           k < static_cast<std::size_t>(offsets[static_cast<std::size_t>(i) + 1]); ++k)
        if (A.col_indices().host()[k] > i) other.values().edit()[k] = T(std::numeric_limits<real_t<T>>::quiet_NaN());
    EXPECT_EQ(contents(SparseInverse<T>(ctx, A, InverseForm::factored).matrix().values()),
              contents(SparseInverse<T>(ctx, other, InverseForm::factored).matrix().values()));
  });
}

TEST_P(Inverse, repeats_follows_new_values_and_can_be_captured_and_skipped) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = solvable(10, random_hpd<T>(11, 120, 30), true);
    Csr<T> other = A.clone();
    for (T& value : other.values().edit()) value *= T(4);
    for (const InverseForm form : both_forms) {
      SparseInverse<T> inverse(ctx, A, form);
      const auto first = contents(inverse.matrix().values());
      for (int run = 0; run < 100; ++run) {
        inverse.update(ctx, A);
        ASSERT_EQ(contents(inverse.matrix().values()), first) << run;
      }
      inverse.update(ctx, other);
      const auto second = contents(inverse.matrix().values());
      for (std::size_t k = 0; k < first.size(); ++k)  // a power of two changes no rounding
        ASSERT_EQ(second[k] * T(form == InverseForm::general ? 4 : 2), first[k]);
      run_skipped(ctx, [&] { inverse.update(ctx, A); });
      EXPECT_EQ(contents(inverse.matrix().values()), second);
      replay(ctx, [&] { inverse.update(ctx, A); });
      EXPECT_EQ(contents(inverse.matrix().values()), first);
    }
  });
}

/// The row of 700 entries keeps those next to the diagonal.
TEST_P(Inverse, long_rows_are_shortened) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const std::int32_t n = 700;
    const Csr<T> A = solvable(12,
                              with_columns<T>(n,
                                              [&](std::int32_t i) {
                                                std::vector<std::int32_t> row{i};
                                                if (i == 300) row.resize(static_cast<std::size_t>(n));
                                                if (i == 300) std::iota(row.begin(), row.end(), 0);
                                                return row;
                                              }),
                              true);
    for (const std::int32_t most : {1, 2, 40, 257, 701}) {
      const SparseInverse<T> general(ctx, A, InverseForm::general, most), factored(ctx, A, InverseForm::factored, most);
      EXPECT_EQ(general.longest_row(), std::min(most, n));
      EXPECT_EQ(general.shortened_rows(), most < n ? 1 : 0);
      EXPECT_EQ(factored.longest_row(), std::min(most, 301));
      EXPECT_EQ(factored.shortened_rows(), most < 301 ? 1 : 0);
      const auto whole = row_of(rows_of(general.matrix()), 300), lower = row_of(rows_of(factored.matrix()), 300);
      const std::int32_t first = most < n ? std::max(0, 300 - most / 2) : 0;
      EXPECT_EQ(whole.begin()->first, first);
      EXPECT_EQ(whole.rbegin()->first, first + std::min(most, n) - 1);
      EXPECT_EQ(lower.begin()->first, 301 - std::min(most, 301));
      EXPECT_EQ(lower.rbegin()->first, 300);
      expect_inverse(A, general.matrix(), InverseForm::general, static_cast<std::size_t>(most));
      expect_inverse(A, factored.matrix(), InverseForm::factored, static_cast<std::size_t>(most));
    }
  });
}

/// A row without a solution says so, and leaves the others alone.
TEST_P(Inverse, rows_without_a_solution_are_named) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    for (const std::int32_t size : {3, 6, 20, 40}) {  // of blocks that lie side by side, one of them of ones
      const std::int32_t n = 5 * size, spoilt = 2 * size;
      const auto blocks = [&](T in_spoilt) {
        std::vector<std::int32_t> offsets{0}, columns;
        std::vector<T> values;
        for (std::int32_t i = 0; i < n; ++i) {
          const std::int32_t first = i / size * size;
          for (std::int32_t j = first; j < first + size; ++j)
            columns.push_back(j),
                values.push_back(first == spoilt ? in_spoilt : T(static_cast<real_t<T>>(i == j ? 2 * size : 1)));
          offsets.push_back(static_cast<std::int32_t>(columns.size()));
        }
        return Csr<T>(n, Array(offsets), Array(columns), Array(values));
      };
      for (const InverseForm form : both_forms) {
        SparseInverse<T> inverse(ctx, blocks(T(1)), form);
        // G's first row of the block has a system of one equation, which can be solved.
        const std::int32_t first = form == InverseForm::general ? spoilt : spoilt + 1;
        EXPECT_EQ(inverse.singular(), first);
        EXPECT_EQ(inverse.not_finite(), std::nullopt);
        EXPECT_EQ(rows_of(inverse.matrix()).at(first, spoilt), Z(0));
        const auto a = rows_of(blocks(T(1))), m = rows_of(inverse.matrix());
        for (std::int32_t i = 0; i < n; ++i)
          if (i / size != 2)
            form == InverseForm::general ? expect_general_row<T>(a, i, row_of(m, i))
                                         : expect_factored_row<T>(a, i, row_of(m, i));
        inverse.update(ctx, blocks(T(std::numeric_limits<real_t<T>>::infinity())));
        EXPECT_EQ(inverse.singular(), std::nullopt);
        EXPECT_EQ(inverse.not_finite(), spoilt);
        if (form == InverseForm::general) continue;
        inverse.update(ctx, blocks(T(-3)));
        EXPECT_EQ(inverse.singular(), spoilt);
        EXPECT_EQ(rows_of(inverse.matrix()).at(spoilt, spoilt), Z(-3));
      }
    }
  });
}

/// Rows of a range are what they are without one, the others are empty, and nothing is asked of them.
TEST_P(Inverse, has_the_rows_of_a_range) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    constexpr std::int32_t n = 90, missing = 70;
    const Csr<T> full = random_hpd<T>(17, n, 40);
    std::vector<T> values = contents(full.values());
    std::vector<std::int32_t> columns = contents(full.col_indices()), offsets = contents(full.row_offsets());
    for (auto k = offsets[missing];; ++k)
      if (columns[static_cast<std::size_t>(k)] == missing) {  // a row outside of the range loses its diagonal
        values.erase(values.begin() + k), columns.erase(columns.begin() + k);
        for (std::size_t row = missing + 1; row < offsets.size(); ++row) --offsets[row];
        break;
      }
    const Csr<T> A(n, Array<std::int32_t>(offsets), Array<std::int32_t>(columns), Array<T>(values));
    for (const InverseForm form : both_forms)
      for (const RowRange range : {RowRange{0, 60}, RowRange{20, 21}, RowRange{30, 30}}) {
        auto whole = SparseInverse<T>::analyze(ctx, full, form, 36);
        auto part = SparseInverse<T>::analyze(ctx, A, form, 36, range);
        whole.update(ctx, full), part.update(ctx, A);
        EXPECT_EQ(part.structural_zero(), std::nullopt);
        const auto in_whole = contents(whole.matrix().row_offsets()), in_part = contents(part.matrix().row_offsets());
        EXPECT_EQ(in_part.back(),
                  in_whole[static_cast<std::size_t>(range.end)] - in_whole[static_cast<std::size_t>(range.begin)]);
        // Systems that the missing entry belongs to are others.
        const auto all = rows_of(whole.matrix()), found = rows_of(part.matrix());
        for (std::int32_t i = range.begin; i < range.end; ++i) {
          const auto row = row_of(all, i), mine = row_of(found, i);
          if (row.contains(missing)) continue;
          EXPECT_EQ(mine, row) << i;
        }
      }
    Csr<T> other = full.clone();
    other.values().edit()[0] = T(-1);  // the diagonal of row 0, or what is not its mirror's
    EXPECT_EQ(first_not_hermitian(ctx, other), 0);
    EXPECT_EQ(first_not_hermitian(ctx, other, {0, 1}), 0);
    EXPECT_EQ(first_not_hermitian(ctx, other, {5, 5}), std::nullopt);
    EXPECT_EQ(first_not_hermitian(ctx, full, {5, 50}), std::nullopt);
  });
}

TEST_P(Inverse, hermitian_matrices_are_told_from_others) {
  with_scalar([&]<class T>(T) {
    Context ctx = context();
    const Csr<T> A = random_hpd<T>(13, 400, 7);
    EXPECT_EQ(first_not_hermitian(ctx, A), std::nullopt);
    EXPECT_NE(first_not_hermitian(ctx, random_dominant<T>(14, 400, 7)), std::nullopt);
    const auto offsets = contents(A.row_offsets());
    const auto changed = [&](std::int32_t row, bool diagonal, T factor) {
      Csr<T> other = A.clone();
      for (auto k = static_cast<std::size_t>(offsets[static_cast<std::size_t>(row)]);; ++k)
        if ((A.col_indices().host()[k] == row) == diagonal) {
          other.values().edit()[k] *= factor;
          return std::pair(first_not_hermitian(ctx, other), std::min(row, A.col_indices().host()[k]));
        }
    };
    const auto [off, first] = changed(200, false, T(2));
    EXPECT_EQ(off, first);
    EXPECT_NE(changed(200, true, T(-1)).first, std::nullopt);
    EXPECT_EQ(changed(200, false, T(1 + 4 * std::numeric_limits<real_t<T>>::epsilon())).first, std::nullopt);
    if constexpr (is_complex<T>) {
      EXPECT_EQ(changed(200, true, T(1, 1)).first, 200);
    }
    const Csr<T> triangle(2, Array<std::int32_t>{0, 1, 3}, Array<std::int32_t>{0, 0, 1}, Array<T>{T(2), T(1), T(2)});
    EXPECT_EQ(first_not_hermitian(ctx, triangle), 1);
    const auto pair = [&](T above, T below) {
      const Csr<T> both(2, Array<std::int32_t>{0, 2, 4}, Array<std::int32_t>{0, 1, 0, 1},
                        Array<T>{T(2), above, below, T(2)});
      return first_not_hermitian(ctx, both);
    };
    using R = real_t<T>;
    EXPECT_EQ(pair(T(0), T(R(-0.0))), std::nullopt);
    EXPECT_EQ(pair(T(1), T(1)), std::nullopt);
    EXPECT_EQ(pair(T(1), T(-1)), 0);
    for (const R bad : {std::numeric_limits<R>::quiet_NaN(), std::numeric_limits<R>::infinity()})
      EXPECT_EQ(pair(T(bad), T(bad)), 0) << bad;
    if constexpr (is_complex<T>) {
      EXPECT_EQ(pair(T(1, 2), T(1, -2)), std::nullopt);
      EXPECT_EQ(pair(T(1, 2), T(1, 2)), 0);
    }
  });
}

INSTANTIATE_TEST_SUITE_P(, Inverse, backends_and_scalars, param_name);

using InverseReports = OnBackend;

TEST_P(InverseReports, what_does_not_fit_is_refused) {
  Context ctx = context();
  const Csr<double> wide(3, Array<std::int32_t>{0, 1}, Array<std::int32_t>{2}, Array<double>{1.0});
  EXPECT_THROW(SparseInverse<double>(ctx, wide, InverseForm::general), ShapeMismatch);
  EXPECT_THROW(first_not_hermitian(ctx, wide), ShapeMismatch);
  const Csr<double> A = poisson2d<double>(4);
  EXPECT_THROW(SparseInverse<double>(ctx, A, InverseForm::general, 0), InvalidArgument);
  EXPECT_THROW(SparseInverse<double>(ctx, A, InverseForm::general, max_inverse_entries + 1), InvalidArgument);
  for (const RowRange range : {RowRange{-1, 3}, RowRange{17, 18}, RowRange{3, 2}})
    EXPECT_NE(complaint<InvalidArgument>([&] {
                SparseInverse<double>::analyze(ctx, A, InverseForm::general, 256, range);
              }).find("of a matrix that has 16"),
              std::string::npos);
  SparseInverse<double> inverse(ctx, A, InverseForm::factored);
  EXPECT_THROW(inverse.update(ctx, poisson2d<double>(5)), ShapeMismatch);
  if (ctx.on_cuda()) {
    Context host = Context::host();
    EXPECT_NE(complaint<InvalidArgument>([&] { inverse.update(host, A); }).find("made for CUDA"), std::string::npos);
  }
}

TEST_P(InverseReports, missing_diagonals_are_named_and_end_nothing) {
  Context ctx = context();
  const Csr<double> hole(4, Array<std::int32_t>{0, 2, 3, 5, 5}, Array<std::int32_t>{0, 1, 0, 1, 2},
                         Array<double>{1, 2, 3, 4, 5});
  for (const InverseForm form : both_forms) {
    EXPECT_EQ(SparseInverse<double>(ctx, hole, form).structural_zero(), 1);
    EXPECT_EQ(SparseInverse<double>(ctx, poisson2d<double>(3), form).structural_zero(), std::nullopt);
    const Csr<double> none(0, Array<std::int32_t>{0}, Array<std::int32_t>(0), Array<double>(0));
    EXPECT_EQ(SparseInverse<double>(ctx, none, form).matrix().rows(), 0);
  }
}

TEST_P(InverseReports, real_matrices) {
  const std::filesystem::path folder = matrices_folder();
  if (folder.empty()) GTEST_SKIP() << "no matrices: KRILL_MATRICES names their folder";
  Context ctx = context();
  const auto check = [&](const char* name, InverseForm form) {
    SCOPED_TRACE(name);
    CanonicalReport report;
    const AnyMatrix<double> any =
        assemble(read_matrix<double>(folder / (std::string(name) + ".mtx.gz")).matrix, report);
    const auto& A = std::get<Csr<double>>(any);
    const SparseInverse<double> inverse(ctx, A, form, 100);
    EXPECT_EQ(inverse.structural_zero(), std::nullopt);
    EXPECT_EQ(inverse.singular(), std::nullopt);
    EXPECT_EQ(first_not_hermitian(ctx, A).has_value(), form == InverseForm::general);
    expect_inverse(A, inverse.matrix(), form, 100);
  };
  for (const char* name : {"1138_bus", "bcsstk16", "nos7"}) check(name, InverseForm::factored);
  for (const char* name : {"jpwh_991", "orsirr_1", "add20"}) check(name, InverseForm::general);
}

INSTANTIATE_TEST_SUITE_P(, InverseReports, backends, param_name);

}  // namespace
}  // namespace krill::test

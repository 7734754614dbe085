// Matrices of more than 2^31 entries in memory: 90 GB of it, so only where KRILL_HUGE is set.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "sparse/convert/convert.hpp"
#include "sparse/core/pass_host.hpp"
#include "sparse/spmv/plan.hpp"
#include "tests/support/backends.hpp"

namespace krill::test {
namespace {

/// Rows of `length` entries, in whole numbers so small that every sum is exact.
struct HugeBands {
  std::int32_t rows, length;

  constexpr std::int32_t col(std::int64_t row, std::int32_t k) const {
    const std::int32_t band = rows / length;
    return k * band + static_cast<std::int32_t>(row % band);
  }
  constexpr float value(std::int64_t row, std::int32_t k) const { return static_cast<float>((row + 3 * k) % 5 - 2); }
  static constexpr float x(std::int64_t col) { return static_cast<float>(col % 7 - 3); }
  /// Column c has an entry in each band-th row from this one on; the entries of the columns before it.
  constexpr std::int64_t first_row(std::int64_t c) const { return c % (rows / length); }
  constexpr std::int64_t before(std::int64_t c) const {
    const std::int64_t band = rows / length, rest = rows % length;
    return c < band * length ? c * length + c / band * rest + std::min(c % band, rest) : std::int64_t{rows} * length;
  }
  constexpr float y(std::int64_t row) const {
    float sum = 0;
    for (std::int32_t k = 0; k < length; ++k) sum += value(row, k) * x(col(row, k));
    return sum;
  }
};

struct FillRow {
  using Sum = NoSum;
  HugeBands bands;
  std::int64_t* row_offsets;
  std::int32_t* col_indices;
  float* values;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t row) const {
    std::int64_t at = row * bands.length;
    row_offsets[row] = at;
    if (row == bands.rows) return {};
    for (std::int32_t k = 0; k < bands.length; ++k, ++at)
      col_indices[at] = bands.col(row, k), values[at] = bands.value(row, k);
    return {};
  }
};

struct FillX {
  using Sum = NoSum;
  float* x;

  constexpr bool begin() const { return true; }
  constexpr NoSum entry(std::int64_t i) const { return x[i] = HugeBands::x(i), NoSum{}; }
};

struct CountWrong {
  using Sum = std::int64_t;
  HugeBands bands;
  const float* y;
  std::int64_t* wrong;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t row) const { return y[row] != bands.y(row); }
  constexpr void finish(Sum sum) const { *wrong = sum; }
};

struct CountWrongTransposed {
  using Sum = std::int64_t;
  HugeBands bands;
  const std::int64_t* row_offsets;
  const std::int32_t* col_indices;
  const float* values;
  std::int64_t* wrong;

  constexpr bool begin() const { return true; }
  constexpr Sum entry(std::int64_t c) const {
    const std::int32_t band = bands.rows / bands.length, k = static_cast<std::int32_t>(c / band);
    std::int64_t bad = row_offsets[c] != bands.before(c), row = bands.first_row(c);
    for (std::int64_t at = bands.before(c); at < bands.before(c + 1); ++at, row += band)
      bad += col_indices[at] != row || values[at] != bands.value(row, k);
    return bad;
  }
  constexpr void finish(Sum sum) const { *wrong = sum; }
};

/// run_pass with all threads of the host.
template <class Pass>
void on_host(std::int64_t n, const Pass& pass) {
  Context::host().dispatch([&]<class Where>(const Where& where) {
    if constexpr (std::is_same_v<Where, Host>) run_pass(where, n, pass);
  });
}

Csr<float, std::int64_t> matrix(const HugeBands& bands) {
  const std::int64_t nnz = std::int64_t{bands.rows} * bands.length;
  Array<std::int64_t> row_offsets(bands.rows + std::int64_t{1});
  Array<std::int32_t> col_indices(nnz);
  Array<float> values(nnz);
  on_host(row_offsets.size(),
          FillRow{bands, row_offsets.write(Host{}), col_indices.write(Host{}), values.write(Host{})});
  return {bands.rows, std::move(row_offsets), std::move(col_indices), std::move(values)};
}

class Huge : public OnBackend {
 protected:
  void SetUp() override {
    if (!std::getenv("KRILL_HUGE"))
      GTEST_SKIP() << "wants 90 GB of memory on the host and the device: set KRILL_HUGE=1";
    OnBackend::SetUp();
  }
  Context context() const { return GetParam() == Backend::cuda ? Context::cuda() : Context::host(); }
};

/// One for each of CUDA's kernels for CSR.
TEST_P(Huge, matrices_have_products_in_csr_coo_and_sell) {
  for (const HugeBands bands : {HugeBands{320'000'000, 7}, HugeBands{160'000'000, 14}, HugeBands{20'000'000, 110}}) {
    Context ctx = context();
    const Csr<float, std::int64_t> A = matrix(bands);
    ASSERT_GT(A.nnz(), std::int64_t{1} << 31);
    Array<float> x(A.cols()), y(A.rows());
    on_host(x.size(), FillX{x.write(Host{})});
    const auto expect_product = [&](const auto& matrix, const char* what) {
      spmv(ctx, Op::none, 1.0f, matrix, x, 0.0f, y);
      std::int64_t wrong = -1;
      on_host(y.size(), CountWrong{bands, y.read(Host{}), &wrong});
      EXPECT_EQ(wrong, 0) << what << ", rows of " << bands.length;
    };
    expect_product(A, "csr");
    {
      const Coo<float> coo = to_coo(ctx, A);
      expect_product(coo, "coo");
      expect_product(to_csr<float, std::int64_t>(ctx, coo), "csr of coo");
    }
    const Sell<float> sell = to_sell(ctx, A);
    expect_product(sell, "sell");
    expect_product(to_csr<float, std::int64_t>(ctx, sell), "csr of sell");
  }
}

TEST_P(Huge, matrices_are_transposed) {
  Context ctx = context();
  const HugeBands bands{320'000'000, 7};
  const Csr<float, std::int64_t> A = matrix(bands), transposed = transpose(ctx, A);
  const Host host;
  std::int64_t wrong = -1;
  on_host(A.cols(), CountWrongTransposed{bands, transposed.row_offsets().read(host),
                                         transposed.col_indices().read(host), transposed.values().read(host), &wrong});
  EXPECT_EQ(wrong, 0);
  EXPECT_EQ(transposed.row_offsets().host().back(), A.nnz());
}

INSTANTIATE_TEST_SUITE_P(, Huge, backends, param_name);

}  // namespace
}  // namespace krill::test

#include <cmath>

#include "sparse/vector/sparse_dense.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/random.hpp"
#include "tests/support/replay.hpp"

namespace krill::test {
namespace {

using Narrow = OnBackend;

template <class F>
void with_two_bytes(F&& use) {
  use(Half{});
  use(BFloat16{});
}

/// Whole numbers up to 1000, rounded to T: floats hold what is computed of them exactly.
template <class T>
std::vector<T> whole_numbers(std::uint64_t seed, std::int64_t n) {
  std::vector<T> numbers;
  for (const double value : random_vector<double>(seed, n))
    numbers.push_back(T(static_cast<float>(std::round(1000 * value))));
  return numbers;
}

/// Every third entry of `size`.
template <class T>
SparseVector<T> every_third(std::int64_t size, std::vector<T> values) {
  std::vector<std::int32_t> indices;
  for (std::int32_t i = 1; i < size; i += 3) indices.push_back(i);
  values.resize(indices.size());
  return {size, Array(std::move(indices)), Array(std::move(values))};
}

template <class T>
std::vector<std::uint16_t> bits(const std::vector<T>& v) {
  std::vector<std::uint16_t> all;
  for (const T& entry : v) all.push_back(entry.bits);
  return all;
}

TEST_P(Narrow, computes_in_float_and_rounds_once) {
  with_two_bytes([&]<class T>(T) {
    Context ctx = context();
    for (const std::int64_t n : {0, 1, 5, 3'000, 20'001}) {
      const std::vector<T> old_x = whole_numbers<T>(1, n), old_y = whole_numbers<T>(2, n);
      const auto expect = [&](const auto& use, const auto& new_x, const auto& new_y, const auto& rest) {
        SparseVector<T> x = every_third(n, old_x);
        Array<T> y(old_y);
        std::vector<T> xs, ys;
        for (std::size_t i = 0; i < old_y.size(); ++i) ys.push_back(T(rest(float(old_y[i]))));
        for (std::size_t k = 0; k < static_cast<std::size_t>(x.nnz()); ++k) {
          const float v = old_x[k], w = old_y[3 * k + 1];
          xs.push_back(T(new_x(v, w))), ys[3 * k + 1] = T(new_y(v, w));
        }
        use(x, y);
        EXPECT_EQ(bits(contents(x.values())), bits(xs));
        EXPECT_EQ(bits(contents(y)), bits(ys));
      };
      const auto first = [](float v, float) { return v; };
      const auto second = [](float, float w) { return w; };
      const auto zero = [](auto...) { return 0.0f; };
      const auto same = [](float w) { return w; };
      expect([&](auto& x, auto& y) { axpby(ctx, 3, x, 5, y); }, first, [](float v, float w) { return 3 * v + 5 * w; },
             [](float w) { return 5 * w; });
      expect([&](auto& x, auto& y) { axpby(ctx, 3, x, 1, y); }, first, [](float v, float w) { return 3 * v + w; },
             same);
      expect([&](auto& x, auto& y) { axpby(ctx, Array<float>{3}, x, Array<float>{0}, y); }, first,
             [](float v, float) { return 3 * v; }, zero);
      expect([&](auto& x, auto& y) { rotate(ctx, x, y, 3, 4); }, [](float v, float w) { return 3 * v + 4 * w; },
             [](float v, float w) { return 3 * w - 4 * v; }, same);
      expect([&](auto& x, auto& y) { gather(ctx, y, x); }, second, second, same);
      expect([&](auto& x, auto& y) { gather_and_clear(ctx, y, x); }, second, zero, same);
      expect([&](auto& x, auto& y) { scatter(ctx, x, y); }, first, first, same);
      expect([&](auto& x, auto& y) { to_dense(ctx, x, y); }, first, first, zero);
    }
  });
}

TEST_P(Narrow, beta_zero_overwrites_nan) {
  with_two_bytes([&]<class T>(T) {
    Context ctx = context();
    for (const bool on_device : {false, true}) {
      const Array<float> zero{0};
      Array<T> y(std::vector<T>(4, T(NAN)));
      axpby(ctx, 2, every_third<T>(4, {T(7)}), on_device ? Scalar<float>(zero) : Scalar<float>(0), y);
      EXPECT_EQ(bits(contents(y)), bits(std::vector<T>{T(0), T(14), T(0), T(0)}));
    }
  });
}

TEST_P(Narrow, dots_are_rounded_at_the_end) {
  with_two_bytes([&]<class T>(T) {
    Context ctx = context();
    for (const std::int64_t n : {0, 1, 5, 20'001}) {
      const SparseVector<T> x = every_third(n, whole_numbers<T>(1, n));
      const Array<T> y(whole_numbers<T>(2, n));
      double expected = 0;
      for (std::size_t k = 0; k < static_cast<std::size_t>(x.nnz()); ++k)
        expected += double(x.values().host()[k]) * double(y.host()[3 * k + 1]);
      Array<float> result(1);
      Array<T> narrow(1);
      dot(ctx, x, y, result);
      dot(ctx, x, y, narrow);
      EXPECT_EQ(result.host()[0], static_cast<float>(expected));
      EXPECT_EQ(narrow.host()[0].bits, T(static_cast<float>(expected)).bits);
    }
  });
}

TEST_P(Narrow, dots_of_bytes_wrap_around_in_int32) {
  Context ctx = context();
  constexpr std::int64_t n = 3 * 131'072;
  const SparseVector<std::int8_t> x = every_third(n, std::vector<std::int8_t>(n, -128));
  Array<std::int8_t> y(std::vector<std::int8_t>(n, -128));
  Array<std::int32_t> wrapped(1);
  Array<float> whole(1);
  dot(ctx, x, y, wrapped);
  dot(ctx, x, y, whole);
  EXPECT_EQ(wrapped.host()[0], std::numeric_limits<std::int32_t>::min());
  EXPECT_EQ(whole.host()[0], 0x1p31f);
  y.edit()[1] = 3;
  dot(ctx, x, y, wrapped);
  EXPECT_EQ(wrapped.host()[0], std::numeric_limits<std::int32_t>::max() - 128 * 131 + 1);
}

TEST_P(Narrow, can_be_captured_and_skipped) {
  with_two_bytes([&]<class T>(T) {
    Context ctx = context();
    SparseVector<T> x = every_third(3'000, whole_numbers<T>(1, 3'000));
    Array<T> y(whole_numbers<T>(2, 3'000));
    Array<float> result(1), again(1);
    replay(ctx, [&] { axpby(ctx, 3, x, 0, y), dot(ctx, x, y, result); });
    dot(ctx, x, y, again);
    EXPECT_EQ(contents(result), contents(again));
    const auto before = bits(contents(y));
    run_skipped(ctx, [&] { axpby(ctx, 5, x, 2, y), rotate(ctx, x, y, 3, 4), dot(ctx, x, y, result); });
    EXPECT_EQ(bits(contents(y)), before);
    EXPECT_EQ(contents(result), contents(again));
  });
}

INSTANTIATE_TEST_SUITE_P(, Narrow, backends, param_name);

}  // namespace
}  // namespace krill::test

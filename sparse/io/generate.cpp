#include "sparse/io/generate.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sparse/io/generate_rows.hpp"
#include "sparse/io/host_memory.hpp"

namespace krill {
namespace {

/// The visitor of describe() that refuses what is out of range, for callers that come without a case file.
class RangeCheck {
 public:
  struct Bounds {
    double min = -std::numeric_limits<double>::infinity(), max = std::numeric_limits<double>::infinity();
    bool without_min = false, without_max = false;
  };
  explicit RangeCheck(std::string_view type) : type_(type) {}

  template <class V>
  void value(std::string_view name, const V& value, Bounds range, std::string_view) {
    const auto v = static_cast<double>(value);
    const bool fine = std::isfinite(v) && (range.without_min ? v > range.min : v >= range.min) &&
                      (range.without_max ? v < range.max : v <= range.max);
    if (!fine)
      throw InvalidArgument(fmt::format("{}: {} is {}, a finite value in {}{}, {}{} is expected", type_, name, value,
                                        range.without_min ? '(' : '[', range.min, range.max,
                                        range.without_max ? ')' : ']'));
  }
  template <class E, std::size_t N>
  void choice(std::string_view name, const E& value, const std::array<std::string_view, N>&, std::string_view) {
    const auto v = static_cast<std::int64_t>(value);
    if (v < 0 || v >= static_cast<std::int64_t>(N))
      throw InvalidArgument(fmt::format("{}: {} is choice {} of {}", type_, name, v, N));
  }

 private:
  std::string_view type_;
};

template <class Options>
void require_in_range(Options& options) {
  RangeCheck check(options.type);
  describe(check, options);
}

}  // namespace

namespace detail {

std::int64_t checked_rows(std::string_view type, std::int64_t a, std::int64_t b, std::int64_t c,
                          std::int64_t unknowns) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  const double rows = static_cast<double>(a) * static_cast<double>(b) * static_cast<double>(c);
  if (rows * static_cast<double>(unknowns) > static_cast<double>(most))
    throw InvalidArgument(fmt::format("{}: {} x {} x {} points with {} unknown{} make {} rows, at most {} are possible",
                                      type, a, b, c, unknowns, unknowns == 1 ? "" : "s",
                                      rows * static_cast<double>(unknowns), most));
  return a * b * c * unknowns;
}

void require_matrix_memory(std::string_view type, std::int64_t rows, std::int64_t nnz, std::size_t scalar_bytes,
                           std::int64_t extra) {
  const std::size_t offset_bytes = nnz > std::numeric_limits<std::int32_t>::max() ? 8 : 4;
  require_memory(fmt::format("{}: a matrix of {} rows and {} entries", type, rows, nnz),
                 static_cast<std::size_t>(rows + 1) * offset_bytes +
                     static_cast<std::size_t>(nnz) * (4 + scalar_bytes) + static_cast<std::size_t>(extra));
}

void require_rows(std::string_view type, const RowRange& range, std::int64_t rows) {
  if (range.begin < 0 || range.end < range.begin || range.end > rows)
    throw InvalidArgument(fmt::format("{}: rows {} to {} of a matrix that has {}", type, range.begin, range.end, rows));
}

}  // namespace detail

bool makes_own_rows(const GeneratorOptions& options) {
  return !std::holds_alternative<RandomSpdOptions>(options) &&
         !std::holds_alternative<PowerLawLaplacianOptions>(options) &&
         !std::holds_alternative<ResistorNetworkOptions>(options);
}

bool needs_complex(const GeneratorOptions& options) {
  return std::visit(
      [](const auto& o) {
        if constexpr (requires { o.damping; }) return o.damping * o.wavenumber != 0;
        return false;
      },
      options);
}

std::int32_t systems_of(const GeneratorOptions& options) {
  const auto* batch = std::get_if<BandedBatchOptions>(&options);
  return batch ? batch->systems : 0;
}

std::optional<Dense<double>> node_coordinates(const GeneratorOptions& options) {
  return std::visit(
      [](auto o) -> std::optional<Dense<double>> {
        require_in_range(o);
        if constexpr (requires { detail::coordinates_of(o); }) return detail::coordinates_of(o);
        return std::nullopt;
      },
      options);
}

template <class T>
AnyMatrix<T> generate(const GeneratorOptions& options) {
  return generate_rows<T>(options, [](std::int64_t rows, const auto&) { return RowRange{0, rows}; });
}

template <class T>
AnyMatrix<T> generate_rows(const GeneratorOptions& options, const ChooseRows& choose) {
  return std::visit(
      [&](auto o) {
        require_in_range(o);
        if (!is_complex<T> && needs_complex(options))
          throw InvalidArgument(
              fmt::format("{}: with damping the entries are complex: ask for complex64 or "
                          "complex128, or set damping to 0",
                          o.type));
        return detail::generate_matrix<T>(o, choose);
      },
      options);
}

template <class T>
struct GenerateInstances {
  static constexpr std::tuple list{instance<AnyMatrix<T>(const GeneratorOptions&)>(generate),
                                   instance<AnyMatrix<T>(const GeneratorOptions&, const ChooseRows&)>(generate_rows)};
};
KRILL_INSTANTIATE(GenerateInstances);

}  // namespace krill

#include "sparse/formats/dia.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sparse/core/instantiate.hpp"
#include "sparse/formats/first_fault.hpp"

namespace krill {

using namespace detail;
namespace {

/// What is wrong with diagonal d of a hack, empty where nothing is.
template <class T>
std::string fault_of_diagonal(const DiaView<const T>& a, std::int32_t hack, std::int64_t d) {
  const std::int64_t offset = a.offsets[d], first = std::int64_t{hack} * a.hack_rows;
  if (d > a.first_diagonal(hack) && a.offsets[d - 1] >= offset)
    return fmt::format("dia: offsets[{}] = {} follows {}; offsets ascend strictly{}", d, offset, a.offsets[d - 1],
                       a.hack_offsets ? " in each hack" : "");
  if (offset <= -std::int64_t{a.rows} || offset >= a.cols)
    return fmt::format("dia: offsets[{}] = {} lies outside {} to {}", d, offset, 1 - std::int64_t{a.rows}, a.cols - 1);
  for (std::int64_t r = 0; r < a.hack_rows; ++r) {
    const std::int64_t row = first + r, col = row + offset;
    if ((row >= a.rows || col < 0 || col >= a.cols) && !(a.values[d * a.hack_rows + r] == T(0)))
      return fmt::format("dia: values[{}] of diagonal {} lies outside the matrix and is not 0", d * a.hack_rows + r,
                         offset);
  }
  return {};
}

template <class T>
std::string fault_of_hack(const DiaView<const T>& a, std::int64_t hack) {
  const auto h = static_cast<std::int32_t>(hack);
  for (std::int64_t d = a.first_diagonal(h); d < a.end_diagonal(h); ++d)
    if (std::string fault = fault_of_diagonal(a, h, d); !fault.empty()) return fault;
  return {};
}

void validate_offsets(std::span<const std::int64_t> offsets, std::int64_t diagonals) {
  if (offsets.front() != 0)
    throw InvalidArgument(fmt::format("dia: hack_offsets[0] is {}, 0 was expected", offsets.front()));
  for (std::size_t h = 0; h + 1 < offsets.size(); ++h)
    if (offsets[h + 1] < offsets[h])
      throw InvalidArgument(fmt::format("dia: hack_offsets[{}] is {} after {}; offsets never decrease", h + 1,
                                        offsets[h + 1], offsets[h]));
  if (offsets.back() != diagonals)
    throw InvalidArgument(fmt::format("dia: hack_offsets[{}] is {}, {} was expected (the number of diagonals)",
                                      offsets.size() - 1, offsets.back(), diagonals));
}

}  // namespace

template <class T>
Dia<T>::Dia(std::int64_t rows, std::int64_t cols, std::int64_t nnz, Array<std::int32_t> offsets, Array<T> values)
    : MatrixShape("dia", rows, cols), nnz_(nnz), offsets_(std::move(offsets)), values_(std::move(values)) {
  require_size("dia: values", values_.size(), offsets_.size() * stride());
}

template <class T>
Dia<T>::Dia(std::int64_t rows, std::int64_t cols, std::int64_t nnz, std::int32_t hack_rows,
            Array<std::int64_t> hack_offsets, Array<std::int32_t> offsets, Array<T> values)
    : MatrixShape("hdia", rows, cols),
      hack_rows_(hack_rows),
      nnz_(nnz),
      hack_offsets_(std::move(hack_offsets)),
      offsets_(std::move(offsets)),
      values_(std::move(values)) {
  require_range("hdia: hack_rows", hack_rows, 1, std::numeric_limits<std::int32_t>::max());
  require_size("hdia: hack_offsets", hack_offsets_.size(), detail::ceil_div(rows, hack_rows) + 1);
  require_size("hdia: values", values_.size(), offsets_.size() * hack_rows);
}

template <class T>
void validate(const Dia<T>& A) {
  if (A.hack_rows()) validate_offsets(A.hack_offsets().host(), A.diagonals());
  const Context ctx = Context::host();
  const auto a = A.view(ctx.host_tag());
  const std::int64_t hacks = detail::ceil_div(a.rows, a.hack_rows);
  const std::int64_t hack =
      first_fault(ctx.host_tag(), hacks, [&](std::int64_t h) { return !fault_of_hack(a, h).empty(); });
  if (hack < hacks) throw InvalidArgument(fault_of_hack(a, hack));
  const auto values = A.values().host();
  const std::int64_t found = std::ssize(values) - std::ranges::count(values, T(0));
  if (found > A.nnz()) throw InvalidArgument(fmt::format("dia: nnz is {}, but {} entries are not 0", A.nnz(), found));
}

template <class T>
struct DiaInstances {
  static constexpr auto list = instance<void(const Dia<T>&)>(validate);
};
KRILL_INSTANTIATE(Dia);
KRILL_INSTANTIATE(DiaInstances);

}  // namespace krill

// A matrix whose format was chosen at run time.
#pragma once
#include <variant>

#include "sparse/formats/blocked_ell.hpp"
#include "sparse/formats/bsr.hpp"
#include "sparse/formats/coo.hpp"
#include "sparse/formats/csc.hpp"
#include "sparse/formats/csr.hpp"
#include "sparse/formats/dia.hpp"
#include "sparse/formats/hyb.hpp"
#include "sparse/formats/sell.hpp"

namespace krill {

/// One of the formats, with the scalar type fixed: public functions and operators visit it. Bsr is also the type of
/// GEBSR, Sell that of HLL, Dia that of HDIA.
template <class T>
using AnyMatrix = std::variant<Csr<T, std::int32_t>, Csr<T, std::int64_t>, Coo<T>, CooAos<T>, Csc<T>, Bsr<T>, Bsrx<T>,
                               Gebsc<T>, Ell<T>, Sell<T>, Hyb<T>, Dia<T>, BlockedEll<T>>;

/// For templates that serve some of the formats.
template <class Matrix, class... Formats>
concept OneOf = (std::is_same_v<Matrix, Formats> || ...);

template <class T>
std::int32_t rows(const AnyMatrix<T>& A) {
  return std::visit([](const auto& a) { return a.rows(); }, A);
}
template <class T>
std::int32_t cols(const AnyMatrix<T>& A) {
  return std::visit([](const auto& a) { return a.cols(); }, A);
}
/// Stored entries; each format says what it counts.
template <class T>
std::int64_t nnz(const AnyMatrix<T>& A) {
  return std::visit([](const auto& a) { return a.nnz(); }, A);
}
/// The format of a matrix; bsr stands for gebsr, too, and sell for hll.
template <class T>
Format format_of(const AnyMatrix<T>& A) {
  return std::visit([](const auto& a) { return a.format(); }, A);
}
/// Bytes of the format's arrays, each counted once.
template <class T>
std::size_t bytes(const AnyMatrix<T>& A) {
  return std::visit([](const auto& a) { return a.bytes(); }, A);
}

}  // namespace krill

// A matrix whose format was chosen at run time.
#pragma once
#include <variant>

#include "krill/sparse/formats/coo.hpp"
#include "krill/sparse/formats/csr.hpp"

namespace krill {

/// One of the formats, with the scalar type fixed: doors and operators visit it.
template <class T>
using AnyMatrix = std::variant<Csr<T, std::int32_t>, Csr<T, std::int64_t>, Coo<T>>;

template <class T>
std::int32_t rows(const AnyMatrix<T>& A) {
  return std::visit([](const auto& a) { return a.rows(); }, A);
}
template <class T>
std::int32_t cols(const AnyMatrix<T>& A) {
  return std::visit([](const auto& a) { return a.cols(); }, A);
}
template <class T>
std::int64_t nnz(const AnyMatrix<T>& A) {
  return std::visit([](const auto& a) { return a.nnz(); }, A);
}

}  // namespace krill

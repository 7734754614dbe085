// Arrays of memory that is there, on the side of a tag.
#pragma once
#include <type_traits>

#include "sparse/core/array.hpp"
#include "sparse/core/context.hpp"

namespace krill::detail {

/// As Array::borrow_host(); of const memory the array is only to be read.
template <class T>
Array<std::remove_const_t<T>> borrow(const Host&, T* memory, std::int64_t size, const char* name) {
  return Array<std::remove_const_t<T>>::borrow_host(memory, size, name);
}
/// As Array::borrow_device().
template <class T>
Array<std::remove_const_t<T>> borrow(const Cuda& where, T* memory, std::int64_t size, const char* name) {
  return Array<std::remove_const_t<T>>::borrow_device(where.device, memory, size, name);
}

}  // namespace krill::detail

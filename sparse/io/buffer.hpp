// Vectors for large data that is about to be overwritten: their memory is not cleared first.
#pragma once
#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#include "sparse/core/huge_pages.hpp"

namespace krill {

/// Leaves what resize() adds uninitialised, so that the threads that fill it also touch it first, and asks the system
/// for huge pages: page faults took a third of the time of reading a matrix.
template <class T>
struct UninitializedAllocator {
  using value_type = T;  // NOLINT(readability-identifier-naming): the standard's name

  UninitializedAllocator() = default;
  template <class U>
  UninitializedAllocator(const UninitializedAllocator<U>&) {}

  T* allocate(std::size_t n) {
    const std::size_t bytes = n * sizeof(T);
    void* memory = ::operator new(bytes, alignment(bytes));
    host_memory::prefer_huge_pages(memory, bytes);
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) { ::operator delete(memory, alignment(n * sizeof(T))); }

  template <class U, class... Args>
  void construct([[maybe_unused]] U* at, Args&&... args) {
    static_assert(std::is_trivially_copyable_v<U>);  // such an object lives as soon as its memory does
    if constexpr (sizeof...(Args) > 0) ::new (static_cast<void*>(at)) U(std::forward<Args>(args)...);
  }
  friend bool operator==(UninitializedAllocator, UninitializedAllocator) { return true; }

 private:
  static std::align_val_t alignment(std::size_t bytes) {
    return std::align_val_t{bytes >= host_memory::huge_page ? host_memory::huge_page : alignof(std::max_align_t)};
  }
};

template <class T>
using Buffer = std::vector<T, UninitializedAllocator<T>>;

}  // namespace krill

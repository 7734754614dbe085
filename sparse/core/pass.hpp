// What works entry by entry is written once, as a pass, and compiled twice: by g++ for the host, by nvcc for CUDA.
//
//   struct Pass {
//     using Sum = ...;                          // what entry() adds up: a number, a small struct, or NoSum
//     constexpr bool begin();                   // loads scalars into members; false: nothing happens
//     constexpr Sum entry(std::int64_t i) const;  // reads and writes index i of its vectors, returns its part
//     constexpr void finish(const Sum&) const;  // once, after every entry, with the whole sum (not for NoSum)
//   };
//
// A room has its passes in one header, x_passes.hpp, with the two declarations below in force, and lists them there;
// x_passes.cpp compiles the list with pass_host.hpp and x_passes.cu with pass_cuda.cuh.
#pragma once
#include <cstdint>
#include <tuple>

#include "sparse/core/context.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

/// The Sum of a pass that adds nothing up; it has no finish().
struct NoSum {
  constexpr NoSum& operator+=(NoSum) { return *this; }
};

/// Stores a word into which other threads may be storing the same at the same time.
template <class Word>
constexpr void store_relaxed(Word& at, Word value) {
#ifdef __CUDA_ARCH__
  at = value;
#else
  __atomic_store_n(&at, value, __ATOMIC_RELAXED);
#endif
}

/// Loads a word into which other threads may be storing.
template <class Word>
constexpr Word load_relaxed(const Word& at) {
#ifdef __CUDA_ARCH__
  return *const_cast<const volatile Word*>(&at);
#else
  return __atomic_load_n(&at, __ATOMIC_RELAXED);
#endif
}

/// Runs begin(), entry(i) for every i in [0, n), and finish(sum of what entry returned). Repeatable bitwise.
template <class Pass>
void run_pass(const Host&, std::int64_t n, Pass);
template <class Pass>
void run_pass(const Cuda&, std::int64_t n, Pass);

/// run_pass of each Pass on a backend: what a list of passes consists of (instantiate.hpp).
template <class Where, class... Pass>
constexpr std::tuple passes{instance<void(const Where&, std::int64_t, Pass)>(run_pass)...};

}  // namespace krill

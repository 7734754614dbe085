// Work in order without a grid that is resident: blocks take turns as they start, and values say themselves that they
// are there.
#pragma once
#include <cstdint>
#include <cstring>

#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

/// A counter from which blocks take numbers as they start. The device decides which block gets which number, but all
/// lower numbers are with blocks that run already, so a wait for their results ends. (blockIdx does not promise that.)
struct Turns {
  unsigned* taken;  ///< zero when a kernel starts

  void begin(const Cuda& cuda) const { check(cudaMemsetAsync(taken, 0, sizeof(unsigned), cuda.stream)); }

  /// The block's number, the same in all its threads, which all call this.
  __device__ unsigned next() const {
    __shared__ unsigned mine;
    if (threadIdx.x == 0) mine = atomicAdd(taken, 1u);
    __syncthreads();
    return mine;
  }
};

/// A counter in the frame's memory, set to zero in the order of the stream.
inline Turns take_turns(const Cuda& cuda, Frame& frame) {
  const Turns turns{frame.take<unsigned>(1)};
  turns.begin(cuda);
  return turns;
}

/// Stores a word that other blocks wait for. Relaxed: it orders no other loads and stores.
template <class Word>
__device__ void publish_word(Word* at, Word word) {
  if constexpr (sizeof(Word) == 4)
    asm volatile("st.relaxed.gpu.global.b32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
  else
    asm volatile("st.relaxed.gpu.global.b64 [%0], %1;" ::"l"(at), "l"(word) : "memory");
}

/// Loads a word that another block may be storing, from L2; leaves `word` as it is unless `wanted`. The load is
/// predicated, with no branch, so that many looks are under way at once.
template <class Word>
__device__ void look_at_word(Word& word, const Word* at, bool wanted = true) {
  if constexpr (sizeof(Word) == 4)
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.relaxed.gpu.global.b32 %0, [%1];\n}"
                 : "+r"(word)
                 : "l"(at), "r"(static_cast<unsigned>(wanted))
                 : "memory");
  else
    asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %2, 0;\n@p ld.relaxed.gpu.global.b64 %0, [%1];\n}"
                 : "+l"(word)
                 : "l"(at), "r"(static_cast<unsigned>(wanted))
                 : "memory");
}

/// The same between threads of a block, in shared memory.
__device__ inline void publish_in_block(std::int32_t* at, std::int32_t word) {
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(at));
  asm volatile("st.relaxed.cta.shared.b32 [%0], %1;" ::"r"(place), "r"(word) : "memory");
}
__device__ inline std::int32_t look_in_block(const std::int32_t* at) {
  std::int32_t word;
  const auto place = static_cast<unsigned>(__cvta_generic_to_shared(at));
  asm volatile("ld.relaxed.cta.shared.b32 %0, [%1];" : "=r"(word) : "r"(place) : "memory");
  return word;
}

/// A value of T in memory that is its own flag: until it is published, each of its words (of 4 or 8 bytes, which one
/// store writes whole) holds a NaN with a bit pattern of our own. A computed word with that very pattern is published
/// as another NaN, so that no wait lasts for ever.
template <class T>
struct Awaited {
  using Word = std::conditional_t<sizeof(T) == 4, std::uint32_t, unsigned long long>;
  static constexpr int words = sizeof(T) / sizeof(Word);
  static constexpr std::uint32_t pattern = 0xfff8deadu;
  static constexpr Word absent = sizeof(Word) == 4 ? pattern : static_cast<Word>(0xfff8deadfff8deadull);
  static constexpr Word other_nan = sizeof(Word) == 4 ? 0xfff8deaeu : static_cast<Word>(0xfff8deaefff8deaeull);

  Word word[words];

  __device__ static Awaited none() {
    Awaited value;
#pragma unroll
    for (Word& w : value.word) w = absent;
    return value;
  }
  __device__ bool is_there() const {
    bool there = true;
#pragma unroll
    for (const Word& w : word) there &= w != absent;  // no branch
    return there;
  }
  /// Loads again the words that were missing, if `wanted`.
  __device__ void look(const T* at, bool wanted) {
#pragma unroll
    for (int w = 0; w < words; ++w)
      look_at_word(word[w], reinterpret_cast<const Word*>(at) + w, wanted & (word[w] == absent));
  }
  __device__ T value() const {
    T result;
    memcpy(&result, word, sizeof result);
    return result;
  }
  __device__ static void publish(T* at, T value) {
    Awaited mine;
    memcpy(mine.word, &value, sizeof value);
#pragma unroll
    for (int w = 0; w < words; ++w)
      publish_word(reinterpret_cast<Word*>(at) + w, mine.word[w] == absent ? other_nan : mine.word[w]);
  }
  __device__ static void clear(T* at) {
#pragma unroll
    for (int w = 0; w < words; ++w) reinterpret_cast<Word*>(at)[w] = absent;
  }
};

}  // namespace krill::detail

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

/// The same of 16 bytes, whose words are loaded each for itself. `at` is a multiple of 16 bytes.
__device__ inline void look_at_words(std::uint32_t (&word)[4], const std::uint32_t* at, bool wanted) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %5, 0;\n@p ld.relaxed.gpu.global.v4.b32 {%0, %1, %2, %3}, [%4];\n}"
               : "+r"(word[0]), "+r"(word[1]), "+r"(word[2]), "+r"(word[3])
               : "l"(at), "r"(static_cast<unsigned>(wanted))
               : "memory");
}
__device__ inline void look_at_words(unsigned long long (&word)[2], const unsigned long long* at, bool wanted) {
  asm volatile("{\n.reg .pred p;\nsetp.ne.u32 p, %3, 0;\n@p ld.relaxed.gpu.global.v2.b64 {%0, %1}, [%2];\n}"
               : "+l"(word[0]), "+l"(word[1])
               : "l"(at), "r"(static_cast<unsigned>(wanted))
               : "memory");
}

/// Stores 16 bytes that other blocks wait for, whose words count each for itself. `at` is a multiple of 16 bytes.
__device__ inline void publish_words(std::uint32_t* at, const std::uint32_t (&word)[4]) {
  asm volatile("st.relaxed.gpu.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(at), "r"(word[0]), "r"(word[1]),
               "r"(word[2]), "r"(word[3])
               : "memory");
}
__device__ inline void publish_words(unsigned long long* at, const unsigned long long (&word)[2]) {
  asm volatile("st.relaxed.gpu.global.v2.b64 [%0], {%1, %2};" ::"l"(at), "l"(word[0]), "l"(word[1]) : "memory");
}

/// Has the line of memory brought into L2, whether it is there or not.
__device__ inline void prefetch_to_l2(const void* at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }

/// A word that threads of a block wait for, in shared memory.
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

/// Values of T that lie side by side, and are looked at 16 bytes at a time where there are as many.
template <class T, int count>
struct AwaitedValues {
  using Word = typename Awaited<T>::Word;
  static constexpr int words = count * Awaited<T>::words, at_once = 16 / sizeof(Word);
  static constexpr bool whole = words % at_once == 0;
  static constexpr int parts = whole ? words / at_once : words;

  Word part[parts][words / parts];

  __device__ static AwaitedValues none() {
    AwaitedValues values;
#pragma unroll
    for (auto& words_of_part : values.part)
#pragma unroll
      for (Word& w : words_of_part) w = Awaited<T>::absent;
    return values;
  }
  __device__ bool is_there() const {
    bool there = true;
#pragma unroll
    for (int p = 0; p < parts; ++p) there &= has(p);  // no branch
    return there;
  }
  /// Loads again the parts that were missing, if `wanted`. `at` is a multiple of 16 bytes where there are as many.
  __device__ void look(const T* at, bool wanted) {
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      const Word* const from = reinterpret_cast<const Word*>(at) + p * (words / parts);
      if constexpr (whole)
        look_at_words(part[p], from, wanted & !has(p));
      else
        look_at_word(part[p][0], from, wanted & !has(p));
    }
  }
  __device__ T value(int i) const {
    T results[count];
    memcpy(results, part, sizeof results);
    return results[i];
  }
  /// As that of Awaited, for all of them. `at` as for look().
  __device__ static void publish(T* at, const T (&values)[count]) {
    AwaitedValues mine;
    memcpy(mine.part, values, sizeof values);
#pragma unroll
    for (int p = 0; p < parts; ++p) {
#pragma unroll
      for (Word& w : mine.part[p])
        if (w == Awaited<T>::absent) w = Awaited<T>::other_nan;
      Word* const to = reinterpret_cast<Word*>(at) + p * (words / parts);
      if constexpr (whole)
        publish_words(to, mine.part[p]);
      else
        publish_word(to, mine.part[p][0]);
    }
  }

 private:
  __device__ bool has(int p) const {
    bool there = true;
#pragma unroll
    for (const Word& w : part[p]) there &= w != Awaited<T>::absent;
    return there;
  }
};

}  // namespace krill::detail

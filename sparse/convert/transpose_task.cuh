// What the kernels of the transposition by buckets share.
//
//   histogram   how many entries each bucket gets, and which buckets are hot (transpose_histogram.cuh)
//   partition   entries go to their bucket, a range of neighboring columns, in any order (transpose_partition.cuh)
//   buckets     a block sorts a bucket in shared memory by column, row, place in the row (transpose_buckets.cuh)
//
// The order in which entries arrive in their bucket differs from run to run, the result does not: no two entries agree
// in all three. Buckets too large for shared memory are hot: their entries take no part in the partition, but are
// listed in order and radix-sorted by column. So columns of many entries, and power laws, cost the radix sort of their
// own entries and no more.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "sparse/core/pass_cuda.cuh"

namespace krill::detail {

/// Values as bits: NoPayload, unsigned, uint2 or uint4. What a transposition needs to know of them is their size.
struct NoPayload {};
template <class Payload>
inline constexpr int payload_bytes = std::is_empty_v<Payload> ? 0 : sizeof(Payload);

/// What was fastest of several sizes with values of 8 bytes on an H200 (their times were not kept; docs/performance.md
/// has those of this one, CSR to CSC), where two blocks share a multiprocessor. Values of 16 bytes take twice the room.
struct CapacityTuning {
  static constexpr int entries = 4096, wide_entries = 2048;  ///< that a bucket holds at most; of more than 8 bytes
  static constexpr double fill = 0.8;                        ///< of that, on average
  static constexpr unsigned max_columns = 2048;              ///< of a bucket. Not varied.
};
template <class Payload>
inline constexpr int bucket_capacity =
    payload_bytes<Payload> > 8 ? CapacityTuning::wide_entries : CapacityTuning::entries;

struct PartitionTuning {
  static constexpr int flight = 8;   ///< entries of a thread in flight. Not varied.
  static constexpr int bins = 1024;  ///< by which a block sorts its entries. Not varied.
  /// Threads of a block, and blocks that share a multiprocessor: what shared memory and registers allow.
  template <class Payload>
  static constexpr int threads = payload_bytes<Payload> > 8 ? 128 : 256;
  template <class Payload>
  static constexpr int blocks = payload_bytes<Payload> > 8 ? 5 : 3;
  /// Rows of a chunk, in its lengths, up to which a warp goes along rows and not along entries. Not varied.
  static constexpr int max_rows_of_chunk = 4;
};
inline constexpr int partition_chunk = 32 * PartitionTuning::flight;  ///< consecutive entries of a warp

/// Numbers of entries and places: of the width of the offsets.
template <class Offset>
using count_t = std::conditional_t<sizeof(Offset) == 8, unsigned long long, unsigned>;

/// A transposition with values as bits.
template <class Payload, class Offset>
struct BitTranspose {
  std::int32_t rows, cols;
  std::int64_t nnz;
  const Offset* row_offsets;
  const std::int32_t* col_indices;
  const Payload* values;  ///< null: each entry's own number
  std::int32_t base;
  unsigned flip;  ///< what the last word of a value is xor-ed with: conjugation
  Offset* out_row_offsets;
  std::int32_t* out_col_indices;
  Payload* out_values;

  /// The value of entry k.
  __device__ Payload payload(count_t<Offset> k) const {
    Payload bits{};
    if constexpr (std::is_same_v<Payload, unsigned>) {
      bits = values ? __ldcs(values + k) ^ flip : static_cast<unsigned>(k);
    } else if constexpr (std::is_same_v<Payload, uint2>) {
      if (values || sizeof(Offset) == 4) {
        bits = __ldcs(values + k);
        bits.y ^= flip;
      } else {
        memcpy(&bits, &k, sizeof k);
      }
    } else if constexpr (std::is_same_v<Payload, uint4>) {
      bits = __ldcs(values + k);
      bits.w ^= flip;
    }
    return bits;
  }
};

/// The columns in buckets of `width` neighboring ones.
struct Buckets {
  unsigned width, inverse;  ///< inverse: 2^32 / width, rounded down
  int tie_bits;             ///< of a word, beside a number below width
  std::int32_t cols, count;

  /// Buckets of `entries` entries, if all columns had as many.
  static Buckets of(std::int32_t cols, std::int64_t nnz, double entries) {
    Buckets buckets{};
    const double width = entries * cols / static_cast<double>(nnz);
    buckets.width = static_cast<unsigned>(std::clamp(width, 1.0, double{CapacityTuning::max_columns}));
    buckets.inverse = static_cast<unsigned>(std::min((1ull << 32) / buckets.width, 0xffffffffull));
    buckets.tie_bits = 31;
    while ((1u << (32 - buckets.tie_bits)) < buckets.width) --buckets.tie_bits;
    buckets.cols = cols;
    buckets.count = static_cast<std::int32_t>((std::int64_t{cols} + buckets.width - 1) / buckets.width);
    return buckets;
  }

  /// The bucket of a column and the column's number in it. The product is the quotient or one less.
  __device__ unsigned of(unsigned col, unsigned& local) const {
    unsigned bucket = __umulhi(col, inverse);
    local = col - bucket * width;
    if (local >= width) {
      ++bucket;
      local -= width;
    }
    return bucket;
  }
};

/// An entry on its way into its bucket. low: the number of its column in the bucket, above its place in its row.
template <class Payload>
struct alignas(16) Record {
  unsigned low;
  std::int32_t row;
  Payload payload;
};
template <>
struct alignas(8) Record<NoPayload> {
  unsigned low;
  std::int32_t row;

  Record() = default;
  __host__ __device__ constexpr Record(unsigned its_low, std::int32_t its_row, NoPayload)
      : low(its_low), row(its_row) {}
};

/// What fits a record and is moved by one instruction.
template <class Payload>
using record_word_t = std::conditional_t<payload_bytes<Payload> == 0, uint2, uint4>;
template <class Payload>
inline constexpr int record_words = sizeof(Record<Payload>) / sizeof(record_word_t<Payload>);

template <class Payload>
__device__ void store_record(Record<Payload>* to, const Record<Payload>& record) {
  record_word_t<Payload> words[record_words<Payload>];
  memcpy(words, &record, sizeof record);
#pragma unroll
  for (int w = 0; w < record_words<Payload>; ++w) reinterpret_cast<record_word_t<Payload>*>(to)[w] = words[w];
}
template <class Payload>
__device__ Record<Payload> load_record(const Record<Payload>* from) {
  record_word_t<Payload> words[record_words<Payload>];
#pragma unroll
  for (int w = 0; w < record_words<Payload>; ++w)
    words[w] = __ldcs(reinterpret_cast<const record_word_t<Payload>*>(from) + w);
  Record<Payload> record;
  memcpy(&record, words, sizeof record);
  return record;
}

/// The entries of hot buckets in the order of the matrix.
template <class Payload>
struct HotEntries {
  const unsigned* mask;        ///< a bit a bucket
  const std::int32_t* before;  ///< of each chunk: hot entries in those before it
  std::int32_t count;
  std::int32_t *cols, *rows, *numbers;  ///< numbers: 0, 1, ...
  Payload* payloads;
};

/// The result of the partition.
template <class Payload, class Offset>
struct Partition {
  const count_t<Offset>* starts;   ///< where a bucket begins, in the records as in the result; one more at the end
  const Record<Payload>* records;  ///< of hot buckets they are not there
  HotEntries<Payload> hot;
  const count_t<Offset>* hot_gaps;  ///< a bucket's entries that are not hot and lie before it
};

}  // namespace krill::detail

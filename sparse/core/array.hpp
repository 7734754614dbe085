// One logical array, mirrored on demand between host and device.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "sparse/core/context.hpp"
#include "sparse/core/types.hpp"

namespace krill {

namespace detail {

/// A captured loop works on addresses: no array is told when its graph runs again. So an array that was used inside a
/// loop (the tag has a skip then) is watched. Each launch of a loop's graph is counted, and a host copy older than the
/// last one is fetched anew where the loop writes the array.
void count_loop_launch();
/// Arrays that loops read and whose device copies the host has made stale: a graph may not run before they are fetched.
std::int64_t stale_in_loops();

/// The bytes behind an Array: a host copy, a device copy, and which of them is current.
class MirroredMemory {
 public:
  MirroredMemory() = default;
  MirroredMemory(std::size_t bytes, const char* name) : bytes_(bytes), name_(name) {}
  /// Takes over host memory that `owner` keeps alive.
  MirroredMemory(std::shared_ptr<void> owner, std::size_t bytes, const char* name);
  /// What a mirror borrows: memory on the host, or on a device.
  struct Borrowed {
    void* memory;
    int device;  ///< host, or the device's number
    std::size_t alignment;
    bool read_only;
    static constexpr int host = -1;
  };
  MirroredMemory(const Borrowed&, std::size_t bytes, const char* name);
  MirroredMemory(MirroredMemory&& other) noexcept { swap(other); }
  MirroredMemory& operator=(MirroredMemory&& other) noexcept {
    MirroredMemory taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~MirroredMemory();

  const void* read(Host) const { return fetch_host(); }
  const void* read(const Cuda& where) const { return fetch_device(where); }
  void* write(Host);
  void* write(const Cuda& where);
  void* update(Host where) { return fetch_host(), write(where); }
  void* update(const Cuda& where) { return fetch_device(where), write(where); }

  const void* fetch_host() const;
  /// Brings borrowed memory up to date.
  void sync(const Host&) const;
  void sync(const Cuda& where) const;
  std::size_t device_bytes() const { return device_ ? bytes_ : 0; }
  const char* name() const { return name_; }

 private:
  void swap(MirroredMemory& other) noexcept;
  void* reserve_host() const;
  void* reserve_device(const Cuda& where) const;
  void* fetch_device(const Cuda& where) const;
  void leave_other_device(const Cuda& where) const;
  void require_writable() const;
  void note_use(const Cuda& where, bool writes) const;
  void mark_stale(bool stale) const;

  enum class Lender : unsigned char { none, host, device };

  std::size_t bytes_ = 0;
  const char* name_ = "array";
  mutable std::shared_ptr<void> host_;
  mutable void* device_ = nullptr;
  mutable int device_index_ = 0;
  mutable std::uint64_t stream_id_ = 0;  // in this stream's order the device copy is written
  mutable bool host_current_ = false, device_current_ = false;
  mutable bool in_loop_ = false, written_in_loop_ = false;  // once used so, always watched
  mutable bool counted_stale_ = false;                      // in stale_in_loops()
  mutable std::uint64_t host_seen_ = 0;                     // launches of loops before the host copy was fetched
  Lender lender_ = Lender::none;                            // whose memory is the caller's
  bool read_only_ = false;
};

}  // namespace detail

/// Copies bytes between two places on the tag's side.
void copy_bytes(const Host&, void* to, const void* from, std::size_t bytes);
void copy_bytes(const Cuda&, void* to, const void* from, std::size_t bytes);

/// Owns a host and/or a device copy of `size` entries and knows which is current: data crosses only when the side that
/// is asked for is stale. The contents of a new array are unspecified. Transfers and allocations are counted, and raise
/// InvalidArgument inside a stream capture, naming the array. Its memory goes back in the order of the stream that used
/// it last: a graph that holds its address has to be done by then. One thread at a time.
///
/// An array may borrow the caller's memory instead, on the host or on a device. It never moves or frees it; the other
/// side is a copy of its own, made when it is asked for. Writes on the memory's own side are in place. After writes on
/// the other side sync() brings the memory up to date, and nothing else does: the destructor copies nothing. Whoever
/// changes borrowed host memory beside Krill says so by edit(), for a device may hold a copy. The memory has to stay as
/// long as the array, and as long as plans and graphs that were made of it run.
template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  /// `name` must live as long as the array; messages use it.
  explicit Array(std::int64_t size = 0, const char* name = "array")
      : size_(size), bytes_(static_cast<std::size_t>(size) * sizeof(T), name) {}
  /// Takes the vector over without a copy.
  explicit Array(std::vector<T> values, const char* name = "array") : size_(std::ssize(values)) {
    auto owner = std::make_shared<std::vector<T>>(std::move(values));
    bytes_ = detail::MirroredMemory(std::shared_ptr<void>(owner, owner->data()), owner->size() * sizeof(T), name);
  }
  Array(std::initializer_list<T> values) : Array(std::vector<T>(values)) {}
  Array(Array&&) noexcept = default;
  Array& operator=(Array&&) noexcept = default;

  /// The caller's memory on the host. Of const memory every write raises InvalidArgument. Raises InvalidArgument where
  /// the address is no multiple of alignof(T).
  static Array borrow_host(T* memory, std::int64_t size, const char* name = "array") {
    return Array({memory, detail::MirroredMemory::Borrowed::host, alignof(T), false}, size, name);
  }
  static Array borrow_host(const T* memory, std::int64_t size, const char* name = "array") {
    return Array({const_cast<T*>(memory), detail::MirroredMemory::Borrowed::host, alignof(T), true}, size, name);
  }
  /// The caller's memory on that device, or managed memory. It is used in the order of the stream of the context that
  /// asks for it: what the caller has written to it must be done, or stand in that stream before
  /// (Context::cuda({.stream = s}) takes the caller's), and so must be done what Krill has enqueued before the caller
  /// reads it from another stream or the memory ends. Raises InvalidArgument where the memory is not that device's or
  /// its address is no multiple of device_alignment, and where a context of another device asks for it.
  static Array borrow_device(int device, T* memory, std::int64_t size, const char* name = "array") {
    return Array({memory, device, device_alignment, false}, size, name);
  }
  static Array borrow_device(int device, const T* memory, std::int64_t size, const char* name = "array") {
    return Array({const_cast<T*>(memory), device, device_alignment, true}, size, name);
  }
  /// As CUDA's own types have it: kernels load std::complex<float> by words of 8 bytes. What they load by 16 bytes they
  /// load in parts where it lies elsewhere.
  static constexpr std::size_t device_alignment = is_complex<T> ? 8 : alignof(T);
  /// Brings borrowed memory up to date after writes on the other side: a copy in the order of the context's stream,
  /// with a wait where the memory is the host's. Nothing where it is up to date, or the array's own. Memory of a device
  /// takes a context of that device.
  void sync(Context& ctx) const {
    ctx.dispatch([&](const auto& where) { bytes_.sync(where); });
  }

  /// A copy of the contents, made on the host.
  Array clone() const { return Array(std::vector<T>(host().begin(), host().end()), bytes_.name()); }

  std::int64_t size() const { return size_; }
  const char* name() const { return bytes_.name(); }
  std::size_t device_bytes() const { return bytes_.device_bytes(); }

  // What a kernel gets: a pointer on the side that its tag names.
  /// Contents wanted.
  template <class Where>
  const kernel_t<T>* read(const Where& where) const {
    return static_cast<const kernel_t<T>*>(bytes_.read(where));
  }
  /// Contents replaced whole.
  template <class Where>
  kernel_t<T>* write(const Where& where) {
    return static_cast<kernel_t<T>*>(bytes_.write(where));
  }
  /// Contents wanted and changed.
  template <class Where>
  kernel_t<T>* update(const Where& where) {
    return static_cast<kernel_t<T>*>(bytes_.update(where));
  }
  /// For y = ... + beta y: write where beta is a host zero, so that old contents are not even fetched, else update.
  template <class Where, class S>
  kernel_t<T>* output(const Where& where, const S& beta) {
    return beta.is_host_zero() ? write(where) : update(where);
  }

  /// The contents on the host; waits for the device where it wrote last.
  std::span<const T> host() const {
    return {static_cast<const T*>(bytes_.fetch_host()), static_cast<std::size_t>(size_)};
  }
  /// The same, to be changed; the device copy is stale from then on.
  std::span<T> edit() { return {static_cast<T*>(bytes_.update(Host{})), static_cast<std::size_t>(size_)}; }

 private:
  Array(const detail::MirroredMemory::Borrowed& borrowed, std::int64_t size, const char* name)
      : size_(size), bytes_(borrowed, static_cast<std::size_t>(size) * sizeof(T), name) {}

  std::int64_t size_ = 0;
  detail::MirroredMemory bytes_;
};

/// Raises InvalidArgument where two operands are the same array: "spmv: x and y must not be the same array".
template <class T, class U>
void require_disjoint(std::string_view what, const Array<T>& a, const Array<U>& b) {
  if (static_cast<const void*>(&a) == static_cast<const void*>(&b))
    throw InvalidArgument(std::string(what) + " must not be the same array");
}

/// What a kernel gets of a Scalar: the value itself, or where it lies on the kernel's side.
template <class T>
struct ScalarView {
  T value{};
  const T* at = nullptr;
  constexpr T operator()() const { return at ? *at : value; }
};

/// A factor of an operation (alpha, beta): a value, or an array of one entry that may lie on the host or the device
/// and is read when the kernel runs.
template <class T>
class Scalar {
 public:
  Scalar(T value) : value_(value) {}
  template <class R>
  requires(!std::is_same_v<R, T> && std::is_arithmetic_v<R>) Scalar(R value) : value_(static_cast<real_t<T>>(value)) {}
  Scalar(const Array<T>& one_entry) : array_(&one_entry) { require_size("scalar", one_entry.size(), 1); }

  template <class Where>
  ScalarView<kernel_t<T>> read(const Where& where) const {
    if (array_) return {{}, array_->read(where)};
    return {std::bit_cast<kernel_t<T>>(value_), nullptr};
  }
  bool is_host_zero() const { return !array_ && value_ == T(0); }

 private:
  T value_{};
  const Array<T>* array_ = nullptr;
};
}  // namespace krill

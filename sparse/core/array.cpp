#include "sparse/core/array.hpp"

#include <fmt/format.h>

#include <atomic>
#include <new>

#include "sparse/core/huge_pages.hpp"
#include "sparse/core/memory_use.hpp"

namespace krill {

void copy_bytes(const Host&, void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) std::memcpy(to, from, bytes);
}
void copy_bytes(const Cuda& where, void* to, const void* from, std::size_t bytes) {
  if (bytes > 0) device::copy(where, to, from, bytes);
}

namespace detail {
namespace {

constexpr auto alignment = std::align_val_t(64);

std::atomic<std::uint64_t> loop_launches{0};
std::atomic<std::int64_t> stale_arrays{0};

}  // namespace

void count_loop_launch() { ++loop_launches; }
std::int64_t stale_in_loops() { return stale_arrays; }

MirroredMemory::MirroredMemory(std::shared_ptr<void> owner, std::size_t bytes, const char* name)
    : bytes_(bytes), name_(name), host_current_(true) {
  void* memory = owner.get();
  host_memory::add(bytes);
  host_ = std::shared_ptr<void>(memory, [kept = std::move(owner), bytes](void*) { host_memory::subtract(bytes); });
}

MirroredMemory::MirroredMemory(const Borrowed& from, std::size_t bytes, const char* name)
    : bytes_(bytes),
      name_(name),
      lender_(from.device == Borrowed::host ? Lender::host : Lender::device),
      read_only_(from.read_only) {
  if (reinterpret_cast<std::uintptr_t>(from.memory) % from.alignment != 0)
    throw InvalidArgument(fmt::format(
        "{}: the borrowed memory does not begin at a multiple of {} bytes: copy the values into an Array of its own",
        name, from.alignment));
  if (bytes > 0 && !from.memory) throw InvalidArgument(fmt::format("{}: there is no memory to borrow (null)", name));
  if (lender_ == Lender::host) {
    host_ = std::shared_ptr<void>(from.memory, [](void*) {});
    host_current_ = true;
  } else {
    if (bytes > 0) device::require_memory_of(from.device, from.memory, name);
    device_ = from.memory, device_index_ = from.device;
    device_current_ = true;
  }
}

MirroredMemory::~MirroredMemory() {
  mark_stale(false);
  if (device_ && lender_ != Lender::device) device::release(device_index_, stream_id_, device_, bytes_);
}

void MirroredMemory::swap(MirroredMemory& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(name_, other.name_);
  host_.swap(other.host_);
  std::swap(device_, other.device_);
  std::swap(device_index_, other.device_index_);
  std::swap(stream_id_, other.stream_id_);
  std::swap(host_current_, other.host_current_);
  std::swap(device_current_, other.device_current_);
  std::swap(in_loop_, other.in_loop_);
  std::swap(written_in_loop_, other.written_in_loop_);
  std::swap(counted_stale_, other.counted_stale_);
  std::swap(host_seen_, other.host_seen_);
  std::swap(lender_, other.lender_);
  std::swap(read_only_, other.read_only_);
}

void MirroredMemory::note_use(const Cuda& where, bool writes) const {
  if (!where.skip.reason) return;
  in_loop_ = true;
  written_in_loop_ = written_in_loop_ || writes;
}

void MirroredMemory::mark_stale(bool stale) const {
  if (stale == counted_stale_) return;
  stale_arrays += stale ? 1 : -1;
  counted_stale_ = stale;
}

void* MirroredMemory::write(Host) {
  require_writable();
  void* host = reserve_host();
  host_current_ = true, device_current_ = false;
  host_seen_ = loop_launches;
  mark_stale(in_loop_ && device_);
  return host;
}

void* MirroredMemory::write(const Cuda& where) {
  require_writable();
  void* device = reserve_device(where);
  if (device_current_ || stream_id_ != where.stream_id) device::wait_for(where, stream_id_);
  host_current_ = false, device_current_ = true, stream_id_ = where.stream_id;
  note_use(where, true);
  mark_stale(false);
  return device;
}

const void* MirroredMemory::fetch_host() const {
  void* host = reserve_host();
  const bool outdated = !host_current_ || (written_in_loop_ && host_seen_ != loop_launches);
  if (!outdated) return host;  // nothing is written, so that threads may read together what the host has
  if (device_current_ && bytes_ > 0) {
    Cuda writer;
    writer.device = device_index_;
    device::find_stream(stream_id_, writer);  // where it is gone, its work is done and the default stream serves
    device::copy_out(writer, host, device_, bytes_);
  }
  host_current_ = true;
  host_seen_ = loop_launches;
  return host;
}

void* MirroredMemory::fetch_device(const Cuda& where) const {
  if (device_ && device_index_ != where.device && device_current_) fetch_host();  // contents come by way of the host
  void* device = reserve_device(where);
  if (host_current_ && !device_current_ && bytes_ > 0) {
    device::forbid_in_capture(where, name_);
    device::copy_in(where, device, host_.get(), bytes_);
    if (lender_ == Lender::host)
      device::synchronize(where.stream);  // pinned memory is read later: the caller's is not ours
  } else {
    device::wait_for(where, stream_id_);
  }
  device_current_ = true;
  stream_id_ = where.stream_id;  // who waits for this stream from now on waits for the writer too
  note_use(where, false);
  mark_stale(false);
  return device;
}

void* MirroredMemory::reserve_host() const {
  if (!host_ && bytes_ > 0) {
    void* memory = ::operator new(bytes_, alignment, std::nothrow);
    if (!memory) throw OutOfMemory(name_, bytes_, 0);
    host_memory::add(bytes_);
    host_memory::prefer_huge_pages(memory, bytes_);
    host_ = std::shared_ptr<void>(memory, [bytes = bytes_](void* p) {
      host_memory::subtract(bytes);
      ::operator delete(p, alignment);
    });
  }
  return host_.get();
}

void* MirroredMemory::reserve_device(const Cuda& where) const {
  leave_other_device(where);
  if (!device_ && bytes_ > 0) {
    device::forbid_in_capture(where, name_);
    device_ = device::allocate(where, bytes_, name_);
    device_index_ = where.device, stream_id_ = where.stream_id;
  }
  return device_;
}

void MirroredMemory::leave_other_device(const Cuda& where) const {
  if (!device_ || device_index_ == where.device) return;
  if (lender_ == Lender::device)
    throw InvalidArgument(fmt::format(
        "{}: its memory is borrowed on CUDA device {} and stays there, this context runs on device {}: use a "
        "context of device {}, or a clone()",
        name_, device_index_, where.device, device_index_));
  device::release(device_index_, stream_id_, device_, bytes_);
  device_ = nullptr, device_current_ = false;
  mark_stale(false);
}

void MirroredMemory::require_writable() const {
  if (read_only_)
    throw InvalidArgument(fmt::format(
        "{}: it was borrowed as const and cannot be written: borrow it as writable, or use a clone()", name_));
}

void MirroredMemory::sync(const Host&) const {
  if (lender_ == Lender::host) fetch_host();
  if (lender_ == Lender::device && !device_current_)
    throw InvalidArgument(fmt::format(
        "{}: its memory is borrowed on CUDA device {}: sync() with a context of that device", name_, device_index_));
}

void MirroredMemory::sync(const Cuda& where) const {
  if (lender_ == Lender::host) fetch_host();
  if (lender_ == Lender::device) fetch_device(where);
}

}  // namespace detail
}  // namespace krill

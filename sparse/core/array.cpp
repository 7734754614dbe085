#include "krill/sparse/core/array.hpp"

#include <new>

#include "krill/sparse/core/memory_use.hpp"

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

}  // namespace

Mirror::Mirror(std::shared_ptr<void> owner, std::size_t bytes, const char* name)
    : bytes_(bytes), name_(name), host_current_(true) {
  void* memory = owner.get();
  host_memory::add(bytes);
  host_ = std::shared_ptr<void>(memory, [kept = std::move(owner), bytes](void*) { host_memory::subtract(bytes); });
}

Mirror::~Mirror() {
  if (device_) device::release(device_index_, stream_id_, device_);
}

void Mirror::swap(Mirror& other) noexcept {
  std::swap(bytes_, other.bytes_);
  std::swap(name_, other.name_);
  host_.swap(other.host_);
  std::swap(device_, other.device_);
  std::swap(device_index_, other.device_index_);
  std::swap(stream_id_, other.stream_id_);
  std::swap(host_current_, other.host_current_);
  std::swap(device_current_, other.device_current_);
}

void* Mirror::write(Host) {
  void* host = reserve_host();
  host_current_ = true, device_current_ = false;
  return host;
}

void* Mirror::write(const Cuda& where) {
  void* device = reserve_device(where);
  if (device_current_ || stream_id_ != where.stream_id) device::wait_for(where, stream_id_);
  host_current_ = false, device_current_ = true, stream_id_ = where.stream_id;
  return device;
}

const void* Mirror::fetch_host() const {
  void* host = reserve_host();
  if (device_current_ && !host_current_ && bytes_ > 0) {
    Cuda writer;
    writer.device = device_index_;
    device::find_stream(stream_id_, writer);  // where it is gone, its work is done and the default stream serves
    device::copy_out(writer, host, device_, bytes_);
  }
  host_current_ = true;
  return host;
}

void* Mirror::fetch_device(const Cuda& where) const {
  if (device_ && device_index_ != where.device) {  // the other device's contents come by way of the host
    fetch_host();
    device::release(device_index_, stream_id_, device_);
    device_ = nullptr, device_current_ = false;
  }
  void* device = reserve_device(where);
  if (host_current_ && !device_current_ && bytes_ > 0) {
    device::forbid_in_capture(where, name_);
    device::copy_in(where, device, host_.get(), bytes_);
  } else {
    device::wait_for(where, stream_id_);
  }
  device_current_ = true;
  stream_id_ = where.stream_id;  // who waits for this stream from now on waits for the writer too
  return device;
}

void* Mirror::reserve_host() const {
  if (!host_ && bytes_ > 0) {
    void* memory = ::operator new(bytes_, alignment, std::nothrow);
    if (!memory) throw OutOfMemory(name_, bytes_, 0);
    host_memory::add(bytes_);
    host_ = std::shared_ptr<void>(memory, [bytes = bytes_](void* p) {
      host_memory::subtract(bytes);
      ::operator delete(p, alignment);
    });
  }
  return host_.get();
}

void* Mirror::reserve_device(const Cuda& where) const {
  if (device_ && device_index_ != where.device) {
    device::release(device_index_, stream_id_, device_);
    device_ = nullptr;
  }
  if (!device_ && bytes_ > 0) {
    device::forbid_in_capture(where, name_);
    device_ = device::allocate(where, bytes_, name_);
    device_index_ = where.device, stream_id_ = where.stream_id;
  }
  return device_;
}

}  // namespace detail
}  // namespace krill

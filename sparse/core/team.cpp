#include "sparse/core/team.hpp"

#include "sparse/core/context.hpp"

namespace krill {

void Team::gather_on(const Cuda& cuda, const void* mine, void* all, std::size_t bytes) {
  std::vector<std::byte> own(bytes), everyones(bytes * static_cast<std::size_t>(size()));
  device::copy_out(cuda, own.data(), mine, bytes);
  gather(own.data(), everyones.data(), bytes);
  device::copy_in(cuda, all, everyones.data(), everyones.size());
  device::synchronize(cuda.stream);  // the memory on the host ends here
}

void Team::start_on(const Cuda& cuda, std::span<const Outgoing> out, std::span<const Incoming> in) {
  staged_ = {};
  std::vector<Outgoing> leaving;
  std::vector<Incoming> coming;
  for (const auto& [rank, bytes, size] : out) {
    std::vector<std::byte>& copy = staged_.out.emplace_back(size);
    device::copy_out(cuda, copy.data(), bytes, size);
    leaving.push_back({rank, copy.data(), size});
  }
  for (const Incoming& message : in) {
    coming.push_back({message.rank, staged_.in.emplace_back(message.size).data(), message.size});
    staged_.to.push_back(message);
  }
  start(leaving, coming);
}

void Team::finish_on(const Cuda& cuda) {
  finish();
  for (std::size_t k = 0; k < staged_.to.size(); ++k)
    device::copy_in(cuda, staged_.to[k].bytes, staged_.in[k].data(), staged_.to[k].size);
  device::synchronize(cuda.stream);  // the memory on the host ends here
  staged_ = {};
}

}  // namespace krill

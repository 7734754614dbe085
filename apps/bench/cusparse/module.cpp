// libkrill_bench_cusparse.so: cuSPARSE and cuBLAS behind the interface of cusparse_interface.hpp. Nothing else links
// them.
#include <cstring>

#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {
namespace {

const CusparseEntry* find(std::string_view kernel, KrillRivalLayout layout) {
  for (const auto entries : {products(), sums_and_products(), pruning(), sparse_vectors(), conversions(), solves(),
                             factorizations(), banded_solves(), bases(), textbook_loops()})
    for (const CusparseEntry& entry : entries)
      if (entry.kernel == kernel && entry.layout == layout) return &entry;
  return nullptr;
}

/// Runs f, with what it throws as a message: no exception crosses the interface.
template <class F>
int guarded(char* message, std::size_t size, F&& f) {
  try {
    f();
    return 0;
  } catch (const std::exception& error) {
    std::strncpy(message, error.what(), size - 1);
    message[size - 1] = '\0';
    return 1;
  }
}

const char* algorithms(const char* kernel, KrillRivalLayout layout) {
  const CusparseEntry* entry = find(kernel, layout);
  return entry ? entry->algorithms : "";
}

int open(int device, CUstream_st* stream, void** session, char* message, std::size_t size) {
  return guarded(message, size, [&] { *session = new Session(device, stream); });
}

void close(void* session) { delete static_cast<Session*>(session); }

int prepare(void* session, const KrillRivalTask* task, void** run, char* message, std::size_t size) {
  return guarded(message, size, [&] {
    const CusparseEntry* entry = find(task->kernel, task->a.layout);
    if (!entry) throw std::runtime_error(fmt::format("cuSPARSE has no {} of this layout", task->kernel));
    *run = entry->make(*static_cast<Session*>(session), *task).release();
  });
}

int run(void* work, char* message, std::size_t size) {
  return guarded(message, size, [&] { static_cast<CusparseWork*>(work)->run(); });
}

int restore(void* work, int* restored, char* message, std::size_t size) {
  return guarded(message, size, [&] { *restored = static_cast<CusparseWork*>(work)->restore(); });
}

std::int64_t workspace(const void* work) { return static_cast<const CusparseWork*>(work)->workspace(); }

void destroy(void* work) { delete static_cast<CusparseWork*>(work); }

}  // namespace
}  // namespace krill::apps::bench::cusparse

extern "C" __attribute__((visibility("default"))) const KrillRivalModule* krill_rival_module() {
  static const std::string name =
      fmt::format("cuSPARSE {}.{}.{}", CUSPARSE_VER_MAJOR, CUSPARSE_VER_MINOR, CUSPARSE_VER_PATCH);
  using namespace krill::apps::bench::cusparse;
  static const KrillRivalModule module{
      krill_rival_interface, name.c_str(), algorithms, open, close, prepare, run, restore, workspace, destroy};
  return &module;
}

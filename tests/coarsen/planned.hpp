// What a set-up takes, against what is planned.
#pragma once
#include <gtest/gtest.h>

#include <utility>

#include "sparse/core/context.hpp"
#include "sparse/core/memory_ledger.hpp"

namespace krill::test {

/// What make() keeps and takes on the way, in a context that has its workspace and operands already, against a ledger.
/// `workspace`: bytes of it that the ledger has at the start, too.
template <class Make, class Plan>
void expect_planned(Context& ctx, Make&& make, Plan&& plan, std::size_t workspace = 0) {
  make();
  ctx.synchronize();
  ctx.restart_memory_peak();
  const std::size_t before = ctx.memory_use().now;
  const auto made = make();
  ctx.synchronize();
  const MemoryUse use = ctx.memory_use();
  MemoryLedger ledger(ctx.on_cuda() ? MemoryTarget::cuda(0) : MemoryTarget::host(2));
  if (workspace > 0) ledger.scratch({workspace});
  const std::size_t empty = ledger.peak();
  const HeldMemory planned = plan(ledger, made);
  const auto kept = static_cast<double>(use.now - before), peak = static_cast<double>(use.peak - before);
  EXPECT_NEAR(static_cast<double>(planned.bytes()), kept, kept / 50);
  EXPECT_NEAR(static_cast<double>(ledger.peak() - empty), peak, peak / 10);
}

}  // namespace krill::test

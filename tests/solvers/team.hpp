// Ranks that are threads, with a share of the rows each.
#pragma once
#include "sparse/parallel/distributed.hpp"
#include "tests/support/assertions.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/thread_team.hpp"

namespace krill::test {

/// Rows for ranks, one of which has none where there are three.
inline RowPartition shares(std::int64_t n, int ranks) {
  if (ranks == 3) return RowPartition({0, n / 3, n / 3, n});
  std::vector<std::int64_t> offsets;
  for (int r = 0; r <= ranks; ++r) offsets.push_back(n * r / ranks);
  return RowPartition(std::move(offsets));
}

/// One thread on the host, for there are as many ranks.
inline Context rank_context(Backend backend) { return backend == Backend::cuda ? Context::cuda() : Context::host(1); }

/// z = M r, gathered, where make(ctx, own rows, their diagonal block, share) gives each rank its part of M, which is
/// applied twice. report: of each rank.
template <class T, class Make>
std::vector<T> applied_in_team(Backend backend, const Csr<T>& A, const RowPartition& partition, const std::vector<T>& r,
                               Make make, std::vector<PreconditionerReport>* reports = nullptr) {
  std::vector<std::vector<T>> all(static_cast<std::size_t>(partition.ranks()));
  if (reports) reports->resize(all.size());
  run_team(partition.ranks(), [&](Team& team) {
    Context ctx = rank_context(backend);
    const int me = team.rank();
    const std::int64_t begin = partition.begin(me), end = partition.end(me);
    const RowSlice<T> rows = slice_rows(A, begin, end);
    const AnyMatrix<T> block = columns_of(ctx, rows, begin, end);
    const auto M = make(ctx, rows, block, RowShare{&team, &partition});
    const Array<T> own(std::vector<T>(r.begin() + begin, r.begin() + end));
    Array<T> room(own.size());
    std::vector<T> found;
    for (int round = 0; round < 2; ++round) found = contents(M->apply(ctx, own, room));
    all[static_cast<std::size_t>(me)] = gather_rows<T>(team, partition, found);
    if (reports) (*reports)[static_cast<std::size_t>(me)] = M->report();
  });
  for (const auto& each : all) EXPECT_EQ(each, all[0]);
  return all[0];
}

}  // namespace krill::test

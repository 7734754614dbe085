#include "apps/parallel/agreement.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/case/effective.hpp"
#include "sparse/core/config.hpp"
#include "sparse/io/checksum.hpp"

namespace krill::apps {
namespace {

/// The first rank whose word differs from rank 0's; -1: none.
std::ptrdiff_t first_other(Team& team, std::string_view mine) {
  const auto all = gather_records(team, xxh64(mine));
  const auto other = std::ranges::find_if(all, [&](std::uint64_t each) { return each != all.front(); });
  return other == all.end() ? -1 : other - all.begin();
}

}  // namespace

void require_same(Team& team, const Case& settings) {
  const std::string build = fmt::format("{} {} {}", version, git_commit(), cxx_compiler);
  if (const auto r = first_other(team, build); r >= 0)
    throw InvalidArgument(
        fmt::format("rank {} runs another build of krill than rank 0; start the same program on all hosts", r));
  if (const auto r = first_other(team, written_case(settings).dump()); r >= 0)
    throw InvalidArgument(fmt::format(
        "rank {} has another case than rank 0; all ranks have to read the same file, with the same options", r));
}

void require_same(Team& team, const MatrixOrigin& origin) {
  if (const auto r = first_other(team, origin.checksum); r >= 0)
    throw InvalidArgument(fmt::format(
        "{}: rank {} has another file of this name than rank 0; all ranks have to read the same one", origin.name, r));
}

int threads_of_rank(const ProcessTeam& team) {
  const auto cores = static_cast<int>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  return std::max(1, std::min(omp_get_max_threads(), cores / team.ranks_on_host()));
}

std::string team_text(const Team& team, int threads) {
  return fmt::format("{} ranks on the host, {} thread{} each", team.size(), threads, threads == 1 ? "" : "s");
}

}  // namespace krill::apps

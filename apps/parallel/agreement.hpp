// What the processes of a solve have to have in common.
#pragma once
#include <string>

#include "apps/parallel/process_team.hpp"
#include "apps/report/record.hpp"

namespace krill::apps {

/// Raise InvalidArgument, on all ranks, which names the first one that differs from rank 0: in the version of krill or
/// in its case; in its matrix.
void require_same(Team&, const Case&);
void require_same(Team&, const MatrixOrigin&);

/// Host threads for each rank: the cores, shared by the ranks of the host, unless the launcher has bound it to fewer.
int threads_of_rank(const ProcessTeam&);

/// "4 ranks on the host, 1 thread each"
std::string team_text(const Team&, int threads);

}  // namespace krill::apps

// A folder of the user's own that has the name of one of Krill's, and Krill's headers as any user writes them.
#include <krill/solvers/pcg.hpp>
#include <krill/sparse/core/config.hpp>

#include "sparse/spmv/spmv.hpp"

static_assert(krill::version_major >= 0);

/// Krill is found by <krill/...>, and "sparse/..." is the user's.
int answer() { return sparse_of_the_user; }

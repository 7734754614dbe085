// The kernels on the path of a case.
#pragma once
#include <functional>

#include "apps/case/case.hpp"
#include "apps/verify/ledger.hpp"
#include "sparse/core/context.hpp"
#include "sparse/core/team.hpp"

namespace krill::apps::verify {

/// Loads the case's system as a solve does, and checks each kernel that the solve calls on the same data: conversion,
/// products, scaling, ordering, factorization, triangular solves, preconditioner, vector operations, the solver beside
/// a textbook's loop, and the solution by Eigen. Raises as a solve does where there is nothing to solve, and
/// InvalidArgument for 2^31 entries or more, which references do not count.
template <class T>
void verify_case(Ledger&, Context&, const Case&);

/// Of a case that the ranks of a team solve together: the products with the rows that they share, beside the reference
/// of one process; whether all ranks have the same x and report; iterations and x beside those of the same case on rank
/// 0 alone; and x by Eigen. All ranks take part in what they share, and call `shared` after it. Then rank 0 alone
/// judges; the ledgers of the others stay empty. The context, whose team it is, is this rank's own in the end. Raises
/// as verify_case() does, where a solve does not run on several ranks, and TeamFailure.
template <class T>
void verify_shared_case(Ledger&, Team&, Context&, const Case&, const std::function<void()>& shared);

}  // namespace krill::apps::verify

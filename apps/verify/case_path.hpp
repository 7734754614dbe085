// The kernels on the path of a case.
#pragma once
#include "apps/case/case.hpp"
#include "apps/verify/ledger.hpp"
#include "sparse/core/context.hpp"

namespace krill::apps::verify {

/// Loads the case's system as a solve does, and checks each kernel that the solve calls on the same data: conversion,
/// products, scaling, ordering, factorization, triangular solves, preconditioner, vector operations, the solver beside
/// a textbook's loop, and the solution by Eigen. Raises as a solve does where there is nothing to solve, and
/// InvalidArgument for 2^31 entries or more, which references do not count.
template <class T>
void verify_case(Ledger&, Context&, const Case&);

}  // namespace krill::apps::verify

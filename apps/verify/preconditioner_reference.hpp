// What a preconditioner should make of a residual.
#pragma once
#include "apps/verify/precond/reference.hpp"

namespace krill::apps::verify {

Judging judging_of(const PreconditionerOptions&);

}  // namespace krill::apps::verify

// A whole solve of a small system as one kernel.
#pragma once
#include "solvers/bicgstab_passes.hpp"
#include "solvers/loop.hpp"
#include "solvers/preconditioner.hpp"
#include "sparse/core/context.hpp"

namespace krill::detail {

/// The vectors of PCG, of size() entries each; x and r hold a guess and its residual. z is not touched where M is the
/// identity.
template <class T>
struct PcgArrays {
  Array<T>&x, &r, &z, &p, &q;
  Array<double>& rr;
};

/// The vectors of BiCGStab; y and z are not touched where M is the identity.
template <class T>
struct BicgstabArrays {
  Array<T>&x, &r, &shadow, &p, &v, &t, &y, &z;
  Array<double>& rr;
  Array<BicgstabScalars<kernel_t<T>>>& scalars;
};

/// The loop of a solver as one launch of a kernel whose blocks all stay resident: each keeps its rows of A in shared
/// memory, and barriers stand where a graph has the ends of its kernels, so an iteration takes as long as its barriers
/// (two of PCG, four or five of BiCGStab, and one for each product of M) and the latency of memory between them. The
/// steps are those of the graph's loop with scalars of each block's own, made of the same sums everywhere. Repeatable
/// bitwise; sums are added up in another order than the graph's. An empty function where that cannot be: A is not in
/// CSR with 32-bit offsets or does not fit into the shared memory of the device, M does not tell its parts, the
/// baseline is one that x takes part in.
template <class T, class Arrays>
Body persistent_loop(const Cuda&, const AnyMatrix<T>* A, const Preconditioner<T>& M, Arrays, Array<Progress>&);
template <class T, class Arrays>
Body persistent_loop(const Host&, const AnyMatrix<T>*, const Preconditioner<T>&, Arrays, Array<Progress>&) {
  return {};
}

}  // namespace krill::detail

#include <algorithm>
#include <bit>
#include <optional>

#include "solvers/bicgstab_passes.hpp"
#include "solvers/pcg_passes.hpp"
#include "solvers/persistent.hpp"
#include "solvers/persistent_parts.cuh"
#include "sparse/core/instantiate.hpp"

namespace krill::detail {
namespace {

/// The vectors as kernels see them.
template <class T>
struct PcgVectors {
  T *x, *r, *z, *p, *q;
  double* rr;
};
template <class T>
struct BicgstabVectors {
  T *x, *r, *shadow, *p, *v, *t, *y, *z;
  double* rr;
  BicgstabScalars<T>* scalars;
};

extern __shared__ __align__(16) unsigned char shared_rows[];

// Threads: one block a multiprocessor, all resident; a row of the product over `lanes` lanes, entries of vectors one a
// thread. Bytes: A once, then in an iteration 9 n values (with a diagonal 11 n), the gathers of z and p, and what M
// moves, from L2. Races: a block writes entries of its rows alone. Others read its z and p in the product with A alone,
// which the sums of the update and of the product enclose; z and p are written between the latter and the former.
template <class T>
__global__ void __launch_bounds__(PersistentTuning::threads, 1)
    pcg_kernel(PersistentGrid<T> grid, PersistentParts<T> M, PcgVectors<T> v) {
  __shared__ Progress record;
  __shared__ double rho, rho_old, rr;
  __shared__ wide_t<T> pq;
  if (threadIdx.x == 0) rho_old = 0, rho = rr = *v.rr;
  PersistentBlock<T> block(grid, shared_rows, record);
  const bool identity = M.kind == PersistentParts<T>::Kind::identity;
  const T* z = identity ? v.r : v.z;
  const ProductWithDot<T> with_dot{v.r, v.z, nullptr};  // z = M r, r'z
  if (!identity && block.running()) block.add_up(real(apply(block, M, v.r, with_dot)), PcgFirstRho{&rho});
  while (block.go_on()) {
    const PcgDirectionEntries<T> p(z, v.p, rho, rho_old);
    block.multiply(p, ProductWithDot<T, PcgDirectionEntries<T>>{p, v.q, &pq});
    PcgUpdateWithDirection<T> update{p,   M.diagonal, {&rho, &pq, v.p, v.q, v.x, v.r, &rr, &rho_old, &record},
                                     v.p, v.z,        &rho};
    if (!block.running() || !update.begin()) continue;
    PcgSums sums = block.part(update);
    if (!M.is_pointwise()) sums.rz = real(apply(block, M, v.r, with_dot));
    block.add_up(sums, update);
  }
  block.leave();
}

// As pcg_kernel. Bytes: 24 n values an iteration, the gathers of y and z, and what M moves twice. Races: as pcg_kernel;
// r is s between the halves.
template <class T>
__global__ void __launch_bounds__(PersistentTuning::threads, 1)
    bicgstab_kernel(PersistentGrid<T> grid, PersistentParts<T> M, BicgstabVectors<T> v) {
  __shared__ Progress record;
  __shared__ BicgstabScalars<T> scalars;
  __shared__ double rr;
  __shared__ wide_t<T> shadow_v, ts, tt;
  if (threadIdx.x == 0) rr = *v.rr, scalars = *v.scalars;
  PersistentBlock<T> block(grid, shared_rows, record);
  const bool identity = M.kind == PersistentParts<T>::Kind::identity;
  const T *y = identity ? v.p : v.y, *z = identity ? v.r : v.z;
  while (block.go_on()) {
    block.run(BicgstabDirection<T>{&scalars, &rr, v.r, v.v, v.p, &record});
    if (!identity) apply(block, M, v.p, PlainProduct<T>{v.y});
    block.exchange();
    block.multiply(y, ProductWithDot<T>{v.shadow, v.v, &shadow_v});
    block.run(BicgstabHalf<T>{&shadow_v, v.v, v.r, &scalars, &record});
    if (!identity) {
      apply(block, M, v.r, PlainProduct<T>{v.z});
      block.exchange();
    }
    block.multiply(z, ProductWithTwoDots<T>{v.r, v.t, &ts, &tt});
    block.run(BicgstabUpdate<T>{&ts, &tt, y, z, v.t, v.shadow, v.x, v.r, &rr, &scalars, &record});
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) *v.scalars = scalars;
  block.leave();
}

template <class T>
PcgVectors<kernel_t<T>> vectors(const Cuda& cuda, PcgArrays<T>& a) {
  return {a.x.update(cuda), a.r.update(cuda), a.z.update(cuda), a.p.update(cuda), a.q.update(cuda), a.rr.update(cuda)};
}
template <class T>
BicgstabVectors<kernel_t<T>> vectors(const Cuda& cuda, BicgstabArrays<T>& a) {
  return {a.x.update(cuda), a.r.update(cuda), a.shadow.update(cuda), a.p.update(cuda),  a.v.update(cuda),
          a.t.update(cuda), a.y.update(cuda), a.z.update(cuda),      a.rr.update(cuda), a.scalars.update(cuda)};
}

template <class T>
constexpr auto* kernel_for(const PcgArrays<T>&) {
  return pcg_kernel<kernel_t<T>>;
}
template <class T>
constexpr auto* kernel_for(const BicgstabArrays<T>&) {
  return bicgstab_kernel<kernel_t<T>>;
}

/// How the rows of a matrix are divided among blocks: a multiple of `together` rows each.
struct Division {
  int rows_per_block, blocks, lanes;
  bool one_cluster;
  std::size_t shared;  // bytes of the block with the most entries
};

template <class T>
Division division(const Csr<T>& A, int together, int blocks, bool one_cluster) {
  const int groups = (A.rows() + together - 1) / together;
  Division d{(groups + blocks - 1) / blocks * together, blocks, 1, one_cluster, 0};
  while (d.lanes < 8 && 2 * d.lanes * d.rows_per_block <= PersistentTuning::threads &&
         std::int64_t{4} * d.lanes * A.rows() <= A.nnz())
    d.lanes *= 2;
  const auto offsets = A.row_offsets().host();
  for (int block = 0; block < blocks; ++block) {
    const int first = std::min(block * d.rows_per_block, A.rows()), end = std::min(first + d.rows_per_block, A.rows());
    const auto entries =
        static_cast<std::size_t>(offsets[static_cast<std::size_t>(end)] - offsets[static_cast<std::size_t>(first)]);
    d.shared = std::max(d.shared, entries * (sizeof(T) + sizeof(std::int32_t)));
  }
  d.shared += (static_cast<std::size_t>(d.rows_per_block) + 1) * sizeof(std::int32_t);
  return d;
}

/// The launch of a division. Keeps what it points to.
class Launch {
 public:
  Launch(const Cuda& cuda, const Division& d) : configuration_{} {
    configuration_.gridDim = static_cast<unsigned>(d.blocks);
    configuration_.blockDim = PersistentTuning::threads;
    configuration_.dynamicSmemBytes = d.shared;
    configuration_.stream = cuda.stream;
    configuration_.attrs = &attribute_;
    configuration_.numAttrs = 1;
    if (d.one_cluster) {
      attribute_.id = cudaLaunchAttributeClusterDimension;
      attribute_.val.clusterDim = {static_cast<unsigned>(d.blocks), 1, 1};
    } else {
      attribute_.id = cudaLaunchAttributeCooperative;
      attribute_.val.cooperative = 1;
    }
  }
  Launch(const Launch&) = delete;
  Launch& operator=(const Launch&) = delete;
  const cudaLaunchConfig_t* operator*() const { return &configuration_; }

 private:
  cudaLaunchAttribute attribute_{};
  cudaLaunchConfig_t configuration_;
};

/// One cluster where the matrix is small enough that waits outweigh the work and a cluster holds it, else all
/// multiprocessors; nothing where the matrix does not fit there.
template <class T>
std::optional<Division> choose_division(const Cuda& cuda, const Csr<T>& A, int together, const void* kernel) {
  constexpr std::size_t of_the_kernel = 4096;  // shared memory of its scalars and sums
  const std::size_t most = max_shared(cuda);
  const auto allow = [&](const Division& d) {
    if (d.shared + of_the_kernel > most) return false;
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(d.shared)));
    return true;
  };
  const int wanted = (A.rows() + PersistentTuning::min_rows - 1) / PersistentTuning::min_rows;
  int has_clusters = 0;
  check(cudaDeviceGetAttribute(&has_clusters, cudaDevAttrClusterLaunch, cuda.device));
  if (has_clusters && A.rows() <= PersistentTuning::max_rows_of_cluster) {
    const auto blocks = static_cast<int>(std::bit_ceil(static_cast<unsigned>(wanted)));
    const Division d = division(A, together, std::min(blocks, PersistentTuning::max_cluster), true);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    int resident = 0;
    if (allow(d)) check(cudaOccupancyMaxActiveClusters(&resident, kernel, *Launch(cuda, d)));
    if (resident > 0) return d;
  }
  const Division d = division(A, together, std::min(wanted, cuda.multiprocessors), false);
  return allow(d) ? std::optional(d) : std::nullopt;
}

}  // namespace

template <class T, class Arrays>
Body persistent_loop(const Cuda& cuda, const AnyMatrix<T>* matrix, const Preconditioner<T>& M, Arrays arrays,
                     Array<Progress>& progress) {
  const auto* A = matrix ? std::get_if<Csr<T>>(matrix) : nullptr;
  if (!A || A->rows() == 0) return {};
  const auto parts = persistent_parts(cuda, *matrix, M.parts());
  if (!parts) return {};
  const auto* const kernel = reinterpret_cast<const void*>(kernel_for(arrays));
  const auto division = choose_division(cuda, *A, parts->rows_together(), kernel);
  if (!division) return {};

  using K = kernel_t<T>;
  PersistentGrid<K> grid{A->rows(),
                         division->rows_per_block,
                         division->lanes,
                         division->one_cluster,
                         A->row_offsets().read(cuda),
                         A->col_indices().read(cuda),
                         A->values().read(cuda),
                         nullptr,
                         nullptr,
                         progress.update(cuda)};
  return [&cuda, d = *division, grid, m = *parts, v = vectors(cuda, arrays), kernel]() mutable {
    Frame frame(cuda);
    grid.slots = frame.take<unsigned char>(2 * static_cast<std::size_t>(d.blocks) * persistent_slot_bytes);
    grid.arrivals = take_arrivals(cuda, frame);
    void* arguments[] = {&grid, &m, &v};
    check(cudaLaunchKernelExC(*Launch(cuda, d), kernel, arguments));
  };
}

template <class T>
struct PersistentInstances {
  template <class Arrays>
  using Loop = Body(const Cuda&, const AnyMatrix<T>*, const Preconditioner<T>&, Arrays, Array<Progress>&);
  static constexpr std::tuple list{instance<Loop<PcgArrays<T>>>(persistent_loop),
                                   instance<Loop<BicgstabArrays<T>>>(persistent_loop)};
};
KRILL_INSTANTIATE(PersistentInstances);

}  // namespace krill::detail

// Batches of systems from one layout to another: strided to interleaved and back, lines of a grid to either.
#pragma once
#include "sparse/core/instantiate.hpp"
#include "sparse/formats/banded.hpp"

namespace krill {

/// Row i of system j, from where it lies in one layout to where it lies in the other; padding of `to` stays as it is.
/// Reads and writes each entry once. Asynchronous, capturable after a first run. Raises InvalidArgument where the
/// layouts have other numbers of rows or systems, or both arrays are one; ShapeMismatch where an array has another
/// length than its layout's extent.
template <class T>
void rearrange(Context&, const BandLayout& from_layout, const Array<T>& from, const BandLayout& to_layout,
               Array<T>& to);

/// The same matrices in another layout; zeros in its padding.
template <class T>
Banded<T> rearranged(Context&, const Banded<T>&, const BandLayout&);

namespace detail {

template <class T>
struct Rearrangement {
  BandLayout from_layout, to_layout;
  const T* from;
  T* to;
};

template <class T>
void run_rearrangement(const Host&, const Rearrangement<T>&);
template <class T>
void run_rearrangement(const Cuda&, const Rearrangement<T>&);

template <class T, class Where>
struct RearrangementKernels {
  static constexpr std::tuple list{instance<void(const Where&, const Rearrangement<kernel_t<T>>&)>(run_rearrangement)};
};

}  // namespace detail
}  // namespace krill

// A sparse vector: the indices of its entries and their values.
#pragma once
#include <cstdint>

#include "sparse/formats/shape.hpp"

namespace krill {

/// What kernels see: entry k is values[k] at indices[k], counted from `base`; indices ascend strictly.
template <class T>
struct SparseVectorView {
  std::int32_t size = 0, nnz = 0;
  const std::int32_t* indices = nullptr;
  T* values = nullptr;
  IndexBase base = IndexBase::zero;

  constexpr std::int32_t index(std::int64_t k) const { return indices[k] - static_cast<std::int32_t>(base); }
};

/// A vector of `size` entries of which those at `indices` are stored; zero-based, indices ascend strictly.
template <class T>
class SparseVector {
 public:
  using Value = T;

  /// Lengths are checked here, the indices by validate(). Raises ShapeMismatch and InvalidArgument.
  SparseVector(std::int64_t size, Array<std::int32_t> indices, Array<T> values);

  std::int32_t size() const { return size_; }
  std::int32_t nnz() const { return static_cast<std::int32_t>(values_.size()); }
  std::size_t bytes() const { return detail::bytes_of(indices_, values_); }

  const Array<std::int32_t>& indices() const { return indices_; }
  const Array<T>& values() const { return values_; }
  Array<T>& values() { return values_; }

  template <class Where>
  SparseVectorView<const kernel_t<T>> view(const Where& where) const {
    return {size_, nnz(), indices_.read(where), values_.read(where)};
  }
  /// Values wanted and changed.
  template <class Where>
  SparseVectorView<kernel_t<T>> update(const Where& where) {
    return {size_, nnz(), indices_.read(where), values_.update(where)};
  }
  /// Values replaced whole.
  template <class Where>
  SparseVectorView<kernel_t<T>> write(const Where& where) {
    return {size_, nnz(), indices_.read(where), values_.write(where)};
  }

 private:
  std::int32_t size_;
  Array<std::int32_t> indices_;
  Array<T> values_;
};

/// Raises InvalidArgument that names index and value unless every index lies in the vector and is greater than the one
/// before. O(nnz), in parallel.
template <class T>
void validate(const Host&, const SparseVectorView<const T>&);
template <class T>
void validate(const SparseVector<T>&);

}  // namespace krill

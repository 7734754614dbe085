// Memory of a caller's, on the side of a context, for arrays to borrow.
#pragma once
#include <vector>

#include "sparse/formats/csr.hpp"

namespace krill::test {

template <class T>
class Lent {
 public:
  Lent(Context& ctx, std::vector<T> values) : ctx_(ctx), owner_(std::move(values), "lender") { memory(); }

  /// Where the values lie, on the side of the context.
  T* memory() {
    T* at = nullptr;
    ctx_.dispatch([&](const auto& where) {
      at = reinterpret_cast<T*>(owner_.update(where));
      if (const Cuda* cuda = where.cuda()) device_ = cuda->device;
    });
    return at;
  }
  Array<T> borrow() { return borrow(memory(), owner_.size()); }
  Array<T> borrow_const() { return borrow(static_cast<const T*>(memory()), owner_.size()); }
  /// All but the first entries.
  Array<T> borrow_from(std::int64_t first) { return borrow_part(first, owner_.size() - first); }
  Array<T> borrow_part(std::int64_t first, std::int64_t size) { return borrow(memory() + first, size); }
  /// What lies there, after all that the context has enqueued.
  std::vector<T> contents() {
    memory();
    return {owner_.host().begin(), owner_.host().end()};
  }

 private:
  template <class Pointer>
  Array<T> borrow(Pointer at, std::int64_t size) const {
    ctx_.synchronize();  // what was written is there, whichever stream asks
    if (ctx_.on_cuda()) return Array<T>::borrow_device(device_, at, size, "lent");
    return Array<T>::borrow_host(at, size, "lent");
  }

  Context& ctx_;
  Array<T> owner_;
  int device_ = 0;
};

/// The arrays of a matrix in CSR, lent.
template <class T>
struct LentCsr {
  LentCsr(Context& ctx, const Csr<T>& A)
      : cols(A.cols()),
        row_offsets(ctx, {A.row_offsets().host().begin(), A.row_offsets().host().end()}),
        col_indices(ctx, {A.col_indices().host().begin(), A.col_indices().host().end()}),
        values(ctx, {A.values().host().begin(), A.values().host().end()}) {}
  Csr<T> borrow() { return {cols, row_offsets.borrow_const(), col_indices.borrow_const(), values.borrow_const()}; }

  std::int32_t cols;
  Lent<std::int32_t> row_offsets, col_indices;
  Lent<T> values;
};

}  // namespace krill::test

#include "sparse/convert/convert.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "sparse/convert/convert_passes.hpp"
#include "sparse/convert/sort.hpp"
#include "sparse/convert/transpose.hpp"
#include "sparse/core/device.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill {

using namespace detail;

template <class T>
void copy_bits(Context& ctx, const Array<T>& from, Array<T>& to) {
  ctx.dispatch([&](const auto& where) {
    copy_bytes(where, to.write(where), from.read(where), static_cast<std::size_t>(from.size()) * sizeof(T));
  });
}

template <class T>
Array<T> copy_of(Context& ctx, const Array<T>& from) {
  Array<T> to(from.size(), from.name());
  copy_bits(ctx, from, to);
  return to;
}

template <class Offset>
std::int64_t last_offset(Context& ctx, const Array<Offset>& offsets) {
  Offset last{};
  ctx.dispatch([&](const auto& where) {
    const Offset* const at = offsets.read(where) + offsets.size() - 1;
    if (const Cuda* const cuda = where.cuda()) {
      device::forbid_in_capture(*cuda, offsets.name());
      device::copy_out(*cuda, &last, at, sizeof last);
    } else {
      last = *at;
    }
  });
  return static_cast<std::int64_t>(last);
}

template <class Offset>
void require_offsets_fit(std::int64_t nnz) {
  if (nnz > std::numeric_limits<Offset>::max())
    throw TooManyEntries(fmt::format("csr: {} entries do not fit 32-bit row offsets (at most {}); use 64-bit offsets",
                                     nnz, std::numeric_limits<Offset>::max()));
}

template <class To, class T, class Offset>
Csr<T, To> with_offsets(Context& ctx, Csr<T, Offset> A) {
  if constexpr (std::is_same_v<To, Offset>) {
    return A;
  } else {
    require_offsets_fit<To>(A.nnz());
    Array<To> offsets(A.row_offsets().size(), "csr row_offsets");
    ctx.dispatch([&](const auto& where) {
      run_pass(where, offsets.size(), ConvertOffsets<Offset, To>{A.row_offsets().read(where), offsets.write(where)});
    });
    const std::int32_t cols = A.cols();
    auto [columns, values] = std::move(A).release();
    return {cols, std::move(offsets), std::move(columns), std::move(values)};
  }
}

template <class T, class Offset>
Coo<T> to_coo(Context& ctx, const Csr<T, Offset>& A) {
  Array<std::int32_t> row_indices(A.nnz(), "coo row_indices");
  ctx.dispatch([&](const auto& where) {
    expand_offsets(where, A.rows(), A.nnz(), A.row_offsets().read(where), row_indices.write(where));
  });
  return {A.rows(), A.cols(), std::move(row_indices), copy_of(ctx, A.col_indices()), copy_of(ctx, A.values())};
}

template <class T, class Offset>
Csr<T, Offset> to_csr(Context& ctx, const Coo<T>& A) {
  require_offsets_fit<Offset>(A.nnz());
  Array<Offset> row_offsets(A.rows() + std::int64_t{1}, "csr row_offsets");
  ctx.dispatch([&](const auto& where) {
    compress_rows(where, A.rows(), A.nnz(), A.row_indices().read(where), row_offsets.write(where));
  });
  return {A.cols(), std::move(row_offsets), copy_of(ctx, A.col_indices()), copy_of(ctx, A.values())};
}

template <class T>
CooAos<T> to_coo_aos(Context& ctx, const Coo<T>& A) {
  Array<std::int32_t> indices(2 * A.nnz(), "coo_aos indices");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.nnz(), JoinPairs{A.row_indices().read(where), A.col_indices().read(where), indices.write(where)});
  });
  return {A.rows(), A.cols(), std::move(indices), copy_of(ctx, A.values())};
}

template <class T>
Coo<T> to_coo(Context& ctx, const CooAos<T>& A) {
  Array<std::int32_t> row_indices(A.nnz(), "coo row_indices"), col_indices(A.nnz(), "coo col_indices");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.nnz(), SplitPairs{A.indices().read(where), row_indices.write(where), col_indices.write(where)});
  });
  return {A.rows(), A.cols(), std::move(row_indices), std::move(col_indices), copy_of(ctx, A.values())};
}

template <class T, class Offset>
Csr<T, Offset> transpose(Context& ctx, const Csr<T, Offset>& A, Op op, Array<Offset>* permutation) {
  Array<Offset> row_offsets(A.cols() + std::int64_t{1}, "csr row_offsets");
  Array<std::int32_t> col_indices(A.nnz(), "csr col_indices");
  Array<T> values(A.nnz(), "csr values");
  if (permutation) *permutation = Array<Offset>(A.nnz(), "transpose permutation");
  ctx.dispatch([&](const auto& where) {
    csr_transpose<kernel_t<T>, Offset>(
        where, A.view(where), op == Op::adjoint,
        {A.cols(), A.rows(), A.nnz(), row_offsets.write(where), col_indices.write(where), values.write(where)},
        permutation ? permutation->write(where) : nullptr);
  });
  return {A.rows(), std::move(row_offsets), std::move(col_indices), std::move(values)};
}

HeldMemory transpose_memory(MemoryLedger& ledger, const CsrSizes& A, bool keeps_permutation) {
  HeldMemory made = csr_memory(ledger, A.transposed());
  if (keeps_permutation) made += ledger.hold(static_cast<std::size_t>(A.nnz) * A.offset);
  csr_transpose_scratch(ledger, A, keeps_permutation);
  return made;
}

// On the host a cursor for each column and part; on CUDA the records of the buckets, or the radix sort.
void detail::csr_transpose_scratch(MemoryLedger& ledger, const CsrSizes& from, bool keeps_permutation) {
  if (!ledger.on_cuda()) {
    const auto parts = static_cast<std::size_t>(ledger.threads_for(from.nnz));
    return ledger.scratch({static_cast<std::size_t>(from.cols) * from.offset * parts});
  }
  const auto entries = static_cast<std::size_t>(from.nnz);
  if (suits_buckets(from.cols, from.nnz))
    return ledger.scratch({entries * bucket_record_bytes(keeps_permutation ? from.offset : from.scalar)});
  const std::size_t indices = from.columns_bytes(), order = entries * from.offset;
  ledger.scratch({from.offsets_bytes(), indices, indices, order, keeps_permutation ? 0 : order,
                  radix_sort_scratch(from.nnz, from.cols, from.offset)});
}

template <class T, class Offset>
Csc<T> to_csc(Context& ctx, const Csr<T, Offset>& A) {
  return Csc<T>(with_offsets<std::int32_t>(ctx, transpose(ctx, A)));
}

template <class T, class Offset>
static Triangles find_triangles(Context& ctx, const Csr<T, Offset>& A) {
  Array<Triangles> found(1, "triangles");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(), FindTriangles<kernel_t<T>, Offset>{A.view(where), found.write(where)});
  });
  return found.host()[0];
}

template <class T, class Offset>
Csr<T, Offset> expand(Context& ctx, const Csr<T, Offset>& triangle, Mirror mirror) {
  require_size("expand: columns of the square matrix", triangle.cols(), triangle.rows());
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  const Triangles found = find_triangles(ctx, triangle);
  if (found.lower.value != none && found.upper.value != none)
    throw InvalidArgument(
        fmt::format("expand: row {} has an entry below the diagonal and row {} one above it; a {} "
                    "matrix is stored as one triangle",
                    found.lower.value, found.upper.value, mirror == Mirror::hermitian ? "hermitian" : "symmetric"));
  const Csr<T, Offset> other = transpose(ctx, triangle, mirror == Mirror::hermitian ? Op::adjoint : Op::transpose);
  const std::int64_t rows = triangle.rows();
  Array<Offset> counts(rows, "expand counts"), row_offsets(rows + 1, "csr row_offsets");
  ctx.dispatch([&](const auto& where) {
    run_pass(where, rows,
             CountExpanded<kernel_t<T>, Offset>{triangle.view(where), other.view(where), counts.write(where)});
    scan_counts(where, rows, counts.read(where), row_offsets.write(where));
  });
  const std::int64_t nnz = last_offset(ctx, row_offsets);
  Array<std::int32_t> col_indices(nnz, "csr col_indices");
  Array<T> values(nnz, "csr values");
  ctx.dispatch([&](const auto& where) {
    const CsrView<kernel_t<T>, Offset> out{triangle.rows(),           triangle.cols(),          nnz,
                                           row_offsets.update(where), col_indices.write(where), values.write(where)};
    run_pass(where, rows,
             FillExpanded<kernel_t<T>, Offset>{triangle.view(where), other.view(where), out, found.upper.value != none,
                                               real_t<T>(mirror == Mirror::skew_symmetric ? -1 : 1)});
  });
  return {triangle.cols(), std::move(row_offsets), std::move(col_indices), std::move(values)};
}

template <class T>
static void write_diagonal(Context& ctx, const Coo<T>& A, Array<T>& d) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, d.size(), FillZero<kernel_t<T>>{d.write(where)});
    run_pass(where, A.nnz(), CooDiagonal<kernel_t<T>>{A.view(where), d.update(where)});
  });
}

template <class T, class Offset>
static void write_diagonal(Context& ctx, const Csr<T, Offset>& A, Array<T>& d) {
  ctx.dispatch([&](const auto& where) {
    run_pass(where, d.size(), CsrDiagonal<kernel_t<T>, Offset>{A.view(where), d.write(where)});
  });
}

/// By way of CSR.
template <class Matrix, class T>
static void write_diagonal(Context& ctx, const Matrix& A, Array<T>& d) {
  write_diagonal(ctx, to_csr<T, std::int64_t>(ctx, A), d);
}

template <class T>
Array<T> diagonal(Context& ctx, const AnyMatrix<T>& A) {
  Array<T> d(std::min(rows(A), cols(A)), "diagonal");
  std::visit([&](const auto& a) { write_diagonal(ctx, a, d); }, A);
  return d;
}

template <class T>
HeldMemory diagonal_memory(MemoryLedger& ledger, Context& host, const AnyMatrix<T>& A) {
  const std::int64_t size = std::min(rows(A), cols(A));
  if (std::holds_alternative<Coo<T>>(A)) return ledger.hold<T>(size);
  return with_csr(host, A, [&](const auto& csr) {
    CsrSizes wide = CsrSizes::of(csr);
    wide.offset = sizeof(std::int64_t);
    const HeldMemory made = to_csr_memory(ledger, A, wide);
    return ledger.hold<T>(size);
  });
}

template <class T, class Matrix>
static AnyMatrix<T> narrowest_csr(Context& ctx, const Matrix& A) {
  if (A.nnz() <= std::numeric_limits<std::int32_t>::max()) return to_csr<T, std::int32_t>(ctx, A);
  return to_csr<T, std::int64_t>(ctx, A);
}

template <class T>
AnyMatrix<T> to_csr(Context& ctx, const AnyMatrix<T>& A) {
  return std::visit(
      [&]<class Matrix>(const Matrix& a) -> AnyMatrix<T> {
        if constexpr (is_csr<Matrix>)
          return a.clone();
        else
          return narrowest_csr<T>(ctx, a);
      },
      A);
}

template Array<std::uint8_t> copy_of(Context&, const Array<std::uint8_t>&);
template Array<std::int32_t> copy_of(Context&, const Array<std::int32_t>&);
template Array<std::int64_t> copy_of(Context&, const Array<std::int64_t>&);
template std::int64_t last_offset(Context&, const Array<std::int32_t>&);
template std::int64_t last_offset(Context&, const Array<std::int64_t>&);
template void require_offsets_fit<std::int32_t>(std::int64_t);
template void require_offsets_fit<std::int64_t>(std::int64_t);

template <class T, class Offset>
struct ConvertOffsetInstances {
  static constexpr std::tuple list{
      instance<Coo<T>(Context&, const Csr<T, Offset>&)>(to_coo),
      instance<Csr<T, Offset>(Context&, const Coo<T>&)>(to_csr),
      instance<Csr<T, Offset>(Context&, const Csr<T, Offset>&, Op, Array<Offset>*)>(transpose),
      instance<Csc<T>(Context&, const Csr<T, Offset>&)>(to_csc),
      instance<Csr<T, Offset>(Context&, const Csr<T, Offset>&, Mirror)>(expand)};
};
KRILL_INSTANTIATE_WITH_OFFSETS(ConvertOffsetInstances);

template <class T>
struct ConvertInstances {
  static constexpr std::tuple list{instance<void(Context&, const Array<T>&, Array<T>&)>(copy_bits),
                                   instance<Array<T>(Context&, const Array<T>&)>(copy_of),
                                   instance<CooAos<T>(Context&, const Coo<T>&)>(to_coo_aos),
                                   instance<Coo<T>(Context&, const CooAos<T>&)>(to_coo),
                                   instance<Array<T>(Context&, const AnyMatrix<T>&)>(diagonal),
                                   instance<HeldMemory(MemoryLedger&, Context&, const AnyMatrix<T>&)>(diagonal_memory),
                                   instance<AnyMatrix<T>(Context&, const AnyMatrix<T>&)>(to_csr),
                                   instance<Csr<T, std::int32_t>(Context&, Csr<T, std::int32_t>)>(with_offsets),
                                   instance<Csr<T, std::int32_t>(Context&, Csr<T, std::int64_t>)>(with_offsets),
                                   instance<Csr<T, std::int64_t>(Context&, Csr<T, std::int32_t>)>(with_offsets),
                                   instance<Csr<T, std::int64_t>(Context&, Csr<T, std::int64_t>)>(with_offsets)};
};
KRILL_INSTANTIATE(ConvertInstances);

}  // namespace krill

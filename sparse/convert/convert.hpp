// From format to format: CSR <-> COO, transposition, symmetric expansion, the diagonal.
#pragma once
#include "sparse/convert/formats.hpp"
#include "sparse/formats/csr_sizes.hpp"

namespace krill {

/// to = from, of the same size, on the context's side; unlike copy() bit for bit (NaN and infinities of complex values,
/// too) and whether or not kernels are skipped.
template <class T>
void copy_bits(Context&, const Array<T>& from, Array<T>& to);

/// The same contents, on the context's side.
template <class T>
Array<T> copy_of(Context&, const Array<T>&);

/// The last of some offsets: the number of all that they count. Waits.
template <class Offset>
std::int64_t last_offset(Context&, const Array<Offset>& offsets);

/// Raises TooManyEntries where nnz does not fit Offset.
template <class Offset>
void require_offsets_fit(std::int64_t nnz);

/// The same matrix with row offsets of the other type. Raises InvalidArgument where nnz does not fit Offset.
template <class To, class T, class Offset>
Csr<T, To> with_offsets(Context&, Csr<T, Offset> A);

/// The same matrix in coordinates. O(nnz); the column indices and values are copied.
template <class T, class Offset>
Coo<T> to_coo(Context&, const Csr<T, Offset>& A);

/// The same matrix in CSR. Raises InvalidArgument where nnz does not fit Offset.
template <class T, class Offset = std::int32_t>
Csr<T, Offset> to_csr(Context&, const Coo<T>& A);

/// op(A) as a matrix of its own. O(nnz): a stable sort of the entries by column, so the result is sorted and the same
/// in every run. Where `permutation` is given, entry k of the result is entry permutation[k] of A: values that change
/// later need only be gathered.
template <class T, class Offset>
Csr<T, Offset> transpose(Context&, const Csr<T, Offset>& A, Op op = Op::transpose,
                         Array<Offset>* permutation = nullptr);

/// What that makes, the permutation included.
HeldMemory transpose_memory(MemoryLedger&, const CsrSizes& A, bool keeps_permutation = false);

/// How the missing triangle follows from the stored one.
enum class Mirror { symmetric, skew_symmetric, hermitian };

/// The whole matrix from one stored triangle (lower or upper, with or without its diagonal). O(nnz).
/// Raises InvalidArgument, naming the entry, where both triangles hold entries.
template <class T, class Offset>
Csr<T, Offset> expand(Context&, const Csr<T, Offset>& triangle, Mirror);

/// d_i = a_ii, zero where no entry is stored; min(rows, cols) entries.
template <class T>
Array<T> diagonal(Context&, const AnyMatrix<T>& A);

template <class T>
HeldMemory diagonal_memory(MemoryLedger&, Context& host, const AnyMatrix<T>& A);

/// A in CSR: itself where it is CSR already. Offsets are 32-bit where they can be.
template <class T>
AnyMatrix<T> to_csr(Context&, const AnyMatrix<T>& A);

/// f(A in CSR), with 32-bit or 64-bit offsets.
template <class T, class F>
decltype(auto) with_csr(Context& ctx, const AnyMatrix<T>& A, F&& f) {
  return std::visit(
      [&]<class Matrix>(const Matrix& a) {
        if constexpr (is_csr<Matrix>) {
          return f(a);
        } else {
          const AnyMatrix<T> csr = to_csr(ctx, A);
          if (const auto* narrow = std::get_if<Csr<T, std::int32_t>>(&csr)) return f(*narrow);
          return f(std::get<Csr<T, std::int64_t>>(csr));
        }
      },
      A);
}

/// f(A in CSR) while a ledger holds what with_csr would have made.
template <class T, class F>
decltype(auto) with_csr_memory(MemoryLedger& ledger, Context& host, const AnyMatrix<T>& A, F&& f) {
  return with_csr(host, A, [&](const auto& csr) {
    const HeldMemory made = to_csr_memory(ledger, A, CsrSizes::of(csr));
    return f(csr);
  });
}

/// f(a) for A where it is in CSR or COO, else for A in CSR on the host: for what looks at every entry once.
template <class T, class F>
decltype(auto) visit_entries(const AnyMatrix<T>& A, F&& f) {
  return std::visit(
      [&]<class Matrix>(const Matrix& a) -> decltype(auto) {
        if constexpr (is_csr<Matrix> || std::is_same_v<Matrix, Coo<T>>) {
          return f(a);
        } else {
          Context host = Context::host();
          return f(to_csr<T, std::int64_t>(host, a));
        }
      },
      A);
}

// The kernels behind the doors, on views: pointers on the tag's side, zero-based where no view says otherwise.

/// row_indices[k] = the row of entry k; both arrays count from `base`.
template <class Offset>
void expand_offsets(const Host&, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets,
                    std::int32_t* row_indices, IndexBase base = IndexBase::zero);
template <class Offset>
void expand_offsets(const Cuda&, std::int32_t rows, std::int64_t nnz, const Offset* row_offsets,
                    std::int32_t* row_indices, IndexBase base = IndexBase::zero);

/// row_offsets[i] = the number of entries in rows before i, so zero-based, from sorted row indices counted from `base`.
template <class Offset>
void compress_rows(const Host&, std::int32_t rows, std::int64_t nnz, const std::int32_t* row_indices,
                   Offset* row_offsets, IndexBase base = IndexBase::zero);
template <class Offset>
void compress_rows(const Cuda&, std::int32_t rows, std::int64_t nnz, const std::int32_t* row_indices,
                   Offset* row_offsets, IndexBase base = IndexBase::zero);

/// out = the transpose of a (conjugated where asked), zero-based; `permutation` may be null. The rows of `a` need not
/// be sorted and may hold a column several times: entries of a column stay in the order in which they are stored.
/// On CUDA it may wait for the device once, unless it has to be `asynchronous`, which is slower for large matrices.
/// Only then may `a` have a tail: arrays that are longer than its offsets say, with columns a.cols there. Scratch on
/// CUDA: about nnz (3 sizeof Offset + 12) bytes; where it waits, what transpose.hpp says.
template <class T, class Offset>
void csr_transpose(const Host&, const CsrView<const T, Offset>& a, bool conjugate, const CsrView<T, Offset>& out,
                   Offset* permutation, bool asynchronous = false);
template <class T, class Offset>
void csr_transpose(const Cuda&, const CsrView<const T, Offset>& a, bool conjugate, const CsrView<T, Offset>& out,
                   Offset* permutation, bool asynchronous = false);

/// offsets[0] = 0 and offsets[i + 1] = counts[0] + ... + counts[i].
template <class Offset>
void scan_counts(const Host&, std::int64_t n, const Offset* counts, Offset* offsets);
template <class Offset>
void scan_counts(const Cuda&, std::int64_t n, const Offset* counts, Offset* offsets);

}  // namespace krill

#include "sparse/scale/scaling.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"
#include "sparse/scale/scaling_passes.hpp"
#include "sparse/vector/vector.hpp"

namespace krill {

using namespace detail;
namespace {

constexpr int ruiz_rounds = 10;  // a norm of 2^k becomes 2^(k / 1024)

using Norms = Array<double>;

/// The factors in double, and what they are divided by, round after round.
class Factors {
 public:
  Factors(Context& ctx, std::int32_t size) : rows(size, "row factors"), cols(size, "column factors"), ctx_(ctx) {
    fill(ctx, 1.0, rows);
    fill(ctx, 1.0, cols);
  }

  template <class T, class Offset>
  void row_maxima(const Csr<T, Offset>& A, const Norms& of_rows, const Norms& of_cols, Norms& norms) {
    ctx_.dispatch([&](const auto& where) {
      run_pass(
          where, A.rows(),
          RowMaxima<kernel_t<T>, Offset>{A.view(where), of_rows.read(where), of_cols.read(where), norms.write(where)});
    });
  }
  void divide(const Norms& norms, Norms& factors, Array<FirstRow>& fault) {
    ctx_.dispatch([&](const auto& where) {
      run_pass(where, norms.size(), DivideByRoots{norms.read(where), factors.update(where), fault.write(where)});
    });
  }

  Norms rows, cols;

 private:
  Context& ctx_;
};

/// Raises InvalidArgument where there was a fault. `what` the norms are of; not said for the diagonal.
void require_norms(ScalingMethod method, std::string_view what, const Array<FirstRow>& fault, const Norms& norms) {
  const std::int32_t i = fault.host()[0].row;
  if (i >= norms.size()) return;
  const bool zero = norms.host()[static_cast<std::size_t>(i)] == 0;
  const auto name = scaling_method_names[static_cast<std::size_t>(method)];
  if (method == ScalingMethod::diagonal)
    throw InvalidArgument(fmt::format("scaling diagonal: a({0}, {0}) is {1} (rows and columns count from 0); {2}", i,
                                      zero ? "0 or missing" : "not finite",
                                      zero ? "use scaling ruiz" : "every entry must be finite"));
  throw InvalidArgument(fmt::format("scaling {}: {} {} (counted from 0) {}", name, what, i,
                                    zero ? "without an entry that is not 0: the matrix is singular; use scaling none"
                                         : "with an entry that is not finite; every entry must be finite"));
}

template <class R>
Array<R> rounded(Context& ctx, const Norms& factors, const char* name) {
  Array<R> out(factors.size(), name);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, factors.size(), RoundFactors<R>{factors.read(where), out.write(where)});
  });
  return out;
}

template <class T>
void scale_vector(Context& ctx, std::string_view what, const Array<real_t<T>>& factors, const Array<T>& in,
                  Array<T>& out, bool divide) {
  require_size(fmt::format("{}: the vector", what), in.size(), factors.size());
  require_size(fmt::format("{}: the result", what), out.size(), factors.size());
  require_disjoint(fmt::format("{}: the vector and the result", what), in, out);
  ctx.dispatch([&](const auto& where) {
    run_pass(where, factors.size(),
             ScaleVector<kernel_t<T>>{factors.read(where), in.read(where), out.write(where), divide});
  });
}

}  // namespace

template <class T>
Scaling<T>::Scaling(Context& ctx, const Csr<T, std::int32_t>& A, ScalingMethod method) {
  find(ctx, A, method);
}
template <class T>
Scaling<T>::Scaling(Context& ctx, const Csr<T, std::int64_t>& A, ScalingMethod method) {
  find(ctx, A, method);
}

template <class T>
template <class Offset>
void Scaling<T>::find(Context& ctx, const Csr<T, Offset>& A, ScalingMethod method) {
  require_size("scaling: columns of the matrix", A.cols(), A.rows());
  const std::int32_t size = A.rows();
  if (method == ScalingMethod::negative) {
    rows_ = Array<real_t<T>>(size, "row factors"), cols_ = Array<real_t<T>>(size, "column factors");
    fill(ctx, real_t<T>(-1), rows_);
    fill(ctx, real_t<T>(1), cols_);
    return;
  }
  Factors factors(ctx, size);
  Norms norms(size, "norms of rows"), col_norms(size, "norms of columns");
  Array<FirstRow> fault(1, "fault"), col_fault(1, "fault");
  if (method == ScalingMethod::diagonal) {
    ctx.dispatch([&](const auto& where) {
      run_pass(where, size, DiagonalModuli<kernel_t<T>, Offset>{A.view(where), norms.write(where)});
    });
    factors.divide(norms, factors.rows, fault);
    require_norms(method, "", fault, norms);
  } else {
    const Csr<T, Offset> transposed = transpose(ctx, A);
    const bool ruiz = method == ScalingMethod::ruiz;
    for (int round = 0; round < (ruiz ? ruiz_rounds : 1); ++round) {
      factors.row_maxima(A, factors.rows, factors.cols, norms);
      factors.row_maxima(transposed, factors.cols, factors.rows, col_norms);
      if (ruiz) {
        factors.divide(norms, factors.rows, fault);
        factors.divide(col_norms, factors.cols, col_fault);
      } else {
        ctx.dispatch([&](const auto& where) {
          run_pass(where, size, TakeGreater{norms.update(where), col_norms.read(where)});
        });
        factors.divide(norms, factors.rows, fault);
      }
      if (round > 0) continue;  // what can be divided once can be divided again
      require_norms(method, ruiz ? "row" : "row and column", fault, norms);
      if (ruiz) require_norms(method, "column", col_fault, col_norms);
    }
  }
  rows_ = rounded<real_t<T>>(ctx, factors.rows, "row factors");
  cols_ = rounded<real_t<T>>(ctx, method == ScalingMethod::ruiz ? factors.cols : factors.rows, "column factors");
}

template <class T>
HeldMemory Scaling<T>::memory(MemoryLedger& ledger, const CsrSizes& A, ScalingMethod method) {
  if (method != ScalingMethod::negative) {
    const HeldMemory factors = ledger.hold<double>(2 * std::int64_t{A.rows});
    const HeldMemory norms = ledger.hold<double>(2 * std::int64_t{A.rows});
    const HeldMemory transposed = method == ScalingMethod::diagonal ? HeldMemory() : transpose_memory(ledger, A);
  }
  return ledger.hold<real_t<T>>(2 * std::int64_t{A.rows});
}

template <class T>
void Scaling<T>::scale_rhs(Context& ctx, const Array<T>& b, Array<T>& scaled) const {
  scale_vector(ctx, "scale_rhs", rows_, b, scaled, false);
}
template <class T>
void Scaling<T>::scale_solution(Context& ctx, const Array<T>& x, Array<T>& scaled) const {
  scale_vector(ctx, "scale_solution", cols_, x, scaled, true);
}
template <class T>
void Scaling<T>::unscale_solution(Context& ctx, const Array<T>& scaled, Array<T>& x) const {
  scale_vector(ctx, "unscale_solution", cols_, scaled, x, false);
}

template <class T, class Offset>
Scaled<T, Offset>::Scaled(Context& ctx, const Csr<T, Offset>& A, const Scaling<T>& scaling)
    : matrix_(A.cols(), copy_of(ctx, A.row_offsets()), copy_of(ctx, A.col_indices()),
              Array<T>(A.nnz(), "scaled values")) {
  update(ctx, A, scaling);
}

template <class T, class Offset>
void Scaled<T, Offset>::update(Context& ctx, const Csr<T, Offset>& A, const Scaling<T>& scaling) {
  require_size("scaled: rows of the matrix", A.rows(), scaling.size());
  require_size("scaled: columns of the matrix", A.cols(), scaling.size());
  require_size("scaled: entries of the matrix", A.nnz(), matrix_.nnz());
  ctx.dispatch([&](const auto& where) {
    run_pass(where, A.rows(),
             ScaleEntries<kernel_t<T>, Offset>{A.view(where), scaling.rows().read(where), scaling.cols().read(where),
                                               matrix_.values().write(where)});
  });
}

KRILL_INSTANTIATE(Scaling);
KRILL_INSTANTIATE_WITH_OFFSETS(Scaled);

}  // namespace krill

#include "krill/apps/plan/sizes.hpp"

#include "krill/solvers/precond/isai_form.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/core/instantiate.hpp"

namespace krill::apps {
namespace {

/// Whether the triangles of a factor, or of A, are solved by level, lower and upper.
bool by_level(const PreconditionerOptions& options, bool on_cuda) {
  const auto exact = [&](bool natural, bool automatic) { return automatic ? on_cuda : !natural; };
  return std::visit(
      [&](const auto& o) {
        if constexpr (requires { o.solve.method; })
          return exact(o.solve.method == TriangularSolve::natural, o.solve.method == TriangularSolve::automatic);
        else if constexpr (requires { o.triangular_solve; })
          return exact(o.triangular_solve == TriangularMethod::natural,
                       o.triangular_solve == TriangularMethod::automatic);
        else
          return false;
      },
      options);
}

template <class... Options>
bool is_one_of(const PreconditionerOptions& options) {
  return (std::holds_alternative<Options>(options) || ...);
}

/// By the analysis itself, without values.
template <class T, class Offset>
InverseSizes count_inverse(Context& host, const Csr<T, Offset>& A, const IsaiOptions& o) {
  constexpr std::int32_t lanes = 32;
  const InverseForm form = inverse_form(host, o, A);
  const auto inverse = SparseInverse<T, Offset>::analyze(host, A, form, o.most_entries);
  InverseSizes sizes{form == InverseForm::factored, inverse.matrix().nnz(), inverse.longest_row(), 0};
  const auto offsets = inverse.matrix().row_offsets().host();
  for (std::size_t row = 0; row + 1 < offsets.size(); ++row) sizes.long_rows += offsets[row + 1] - offsets[row] > lanes;
  return sizes;
}

}  // namespace

MatrixSizes MatrixSizes::lowered() const {
  MatrixSizes low = *this;
  low.scalar /= 2, low.real /= 2;
  return low;
}

template <class T>
MatrixSizes count_sizes(Context& host, const AnyMatrix<T>& A, const PreconditionerOptions& options, bool on_cuda) {
  return with_csr(host, A, [&]<class Offset>(const Csr<T, Offset>& csr) {
    MatrixSizes sizes;
    sizes.rows = csr.rows(), sizes.nnz = csr.nnz();
    sizes.scalar = sizeof(T), sizes.real = sizeof(real_t<T>), sizes.offset = sizeof(Offset);
    const bool levels = by_level(options, on_cuda);
    if (is_one_of<GaussSeidelOptions, SsorOptions, Ilu0Options, Ic0Options, Bilu0Options, Bic0Options, Parilu0Options,
                  Paric0Options>(options)) {
      sizes.lower = count_triangle(host, csr, Fill::lower, levels, on_cuda);
      sizes.upper = count_triangle(host, csr, Fill::upper, levels, on_cuda);
    }
    if (on_cuda && is_one_of<Ilu0Options, Ic0Options, Bilu0Options, Bic0Options>(options))
      sizes.items = count_items(host, csr, is_one_of<Ic0Options, Bic0Options>(options));
    if (const auto* isai = std::get_if<IsaiOptions>(&options)) sizes.inverse = count_inverse(host, csr, *isai);
    return sizes;
  });
}

#define INSTANTIATE(T) \
  template MatrixSizes count_sizes(Context&, const AnyMatrix<T>&, const PreconditionerOptions&, bool);
KRILL_FOR_SCALARS(INSTANTIATE)
#undef INSTANTIATE

}  // namespace krill::apps

// cuBLAS on vectors of one type, with scalars on the host.
#pragma once
#include <complex>

#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {

/// Scalars on the host, in the order of ScalarTypes.
using HostScalars = std::tuple<float, double, std::complex<float>, std::complex<double>>;

/// Vectors of n values. Dots and norms wait.
template <std::size_t type>
class Blas {
 public:
  using T = std::tuple_element_t<type, HostScalars>;
  using Real = std::conditional_t<type % 2 == 0, float, double>;
  using Wide = std::conditional_t<(type < 2), double, std::complex<double>>;

  Blas(const Session& session, std::int64_t n) : session_(session), n_(as_int(n, "cuBLAS")) {}

  Wide dot(const T* x, const T* y) const {
    T result{};
    check(cublasDotcEx(blas(), n_, x, data, 1, y, data, 1, &result, data, data), "cublasDotcEx");
    return Wide(result);
  }
  double norm(const T* x) const {
    Real result = 0;
    check(cublasNrm2Ex(blas(), n_, x, data, 1, &result, real, real), "cublasNrm2Ex");
    return result;
  }
  /// y += a x
  void axpy(Wide a, const T* x, T* y) const {
    const T factor(a);
    check(cublasAxpyEx(blas(), n_, &factor, data, x, data, 1, y, data, 1, data), "cublasAxpyEx");
  }
  void scale(Wide a, T* x) const {
    const T factor(a);
    check(cublasScalEx(blas(), n_, &factor, data, x, data, 1, data), "cublasScalEx");
  }
  /// y = d x, entry by entry.
  void multiply(const T* d, const T* x, T* y) const {
    constexpr auto functions = std::make_tuple(cublasSdgmm, cublasDdgmm, cublasCdgmm, cublasZdgmm);
    check(std::get<type>(functions)(blas(), CUBLAS_SIDE_LEFT, n_, 1, own(x), n_, own(d), 1, own(y), n_), "cublasXdgmm");
  }
  /// y = a V x + b y, or y = a V^H x + b y, of the first `columns` vectors of V, `stride` apart.
  void multiply_basis(bool adjoint, Wide a, const T* V, std::int64_t stride, int columns, const T* x, Wide b,
                      T* y) const {
    constexpr auto functions = std::make_tuple(cublasSgemv, cublasDgemv, cublasCgemv, cublasZgemv);
    const T alpha(a), beta(b);
    check(std::get<type>(functions)(blas(), adjoint ? CUBLAS_OP_C : CUBLAS_OP_N, n_, columns, own(&alpha), own(V),
                                    static_cast<int>(stride), own(x), 1, own(&beta), own(y), 1),
          "cublasXgemv");
  }
  /// The same of `many` vectors x and y, one after the other.
  void multiply_basis(bool adjoint, Wide a, const T* V, std::int64_t stride, int columns, int many, const T* x, Wide b,
                      T* y) const {
    constexpr auto functions = std::make_tuple(cublasSgemm, cublasDgemm, cublasCgemm, cublasZgemm);
    const T alpha(a), beta(b);
    const int rows = adjoint ? columns : n_, inner = adjoint ? n_ : columns;
    check(std::get<type>(functions)(blas(), adjoint ? CUBLAS_OP_C : CUBLAS_OP_N, CUBLAS_OP_N, rows, many, inner,
                                    own(&alpha), own(V), static_cast<int>(stride), own(x), inner, own(&beta), own(y),
                                    rows),
          "cublasXgemm");
  }
  /// y_j = v_j^H x_j, of vectors `stride` apart.
  void column_dots(const T* V, std::int64_t stride, int columns, const T* x, std::int64_t x_stride, T* y) const {
    constexpr auto functions = std::make_tuple(cublasSgemvStridedBatched, cublasDgemvStridedBatched,
                                               cublasCgemvStridedBatched, cublasZgemvStridedBatched);
    const T one(1), zero(0);
    check(std::get<type>(functions)(blas(), CUBLAS_OP_C, n_, 1, own(&one), own(V), n_, stride, own(x), 1, x_stride,
                                    own(&zero), own(y), 1, 1, columns),
          "cublasXgemvStridedBatched");
  }
  void copy(const T* from, T* to, std::int64_t count) const {
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(count) * sizeof(T), cudaMemcpyDefault, session_.stream()),
          "cudaMemcpyAsync");
  }
  void clear(T* x) const {
    check(cudaMemsetAsync(x, 0, static_cast<std::size_t>(n_) * sizeof(T), session_.stream()), "cudaMemsetAsync");
  }
  void wait() const { check(cudaStreamSynchronize(session_.stream()), "cudaStreamSynchronize"); }
  int size() const { return n_; }

 private:
  using Own = std::tuple_element_t<type, ScalarTypes>;
  static constexpr cudaDataType data = type == 0   ? CUDA_R_32F
                                       : type == 1 ? CUDA_R_64F
                                       : type == 2 ? CUDA_C_32F
                                                   : CUDA_C_64F;
  static constexpr cudaDataType real = type % 2 == 0 ? CUDA_R_32F : CUDA_R_64F;
  static const Own* own(const T* x) { return reinterpret_cast<const Own*>(x); }
  static Own* own(T* x) { return reinterpret_cast<Own*>(x); }
  cublasHandle_t blas() const { return session_.blas(); }

  const Session& session_;
  int n_;
};

}  // namespace krill::apps::bench::cusparse

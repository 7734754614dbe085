// The rival on the same machine: cuSPARSE's CSR product, best of its two algorithms, and the textbook loop of conjugate
// gradients on cuSPARSE and cuBLAS with its scalars read by the host. bench_rival, beside bench_solve cuda.
#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cusparse.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "sparse/io/generate.hpp"

using namespace krill;

namespace {

void ok(int status, const char* what) {
  if (status != 0) throw std::runtime_error(fmt::format("{} failed with status {}", what, status));
}

double ms_of(int repeats, const std::function<void()>& work) {
  work();
  ok(cudaDeviceSynchronize(), "warm-up");
  double best = 1e300;
  for (int round = 0; round < 5; ++round) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < repeats; ++i) work();
    ok(cudaDeviceSynchronize(), "work");
    const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
    best = std::min(best, passed.count() / repeats);
  }
  return best;
}

class Rival {
 public:
  explicit Rival(const Csr<double>& A) : n_(A.rows()) {
    Context ctx = Context::cuda();
    ctx.dispatch([&](const auto& where) {
      const auto a = A.view(where);
      ok(cusparseCreateCsr(&A_, a.rows, a.cols, a.nnz, const_cast<int*>(a.row_offsets), const_cast<int*>(a.col_indices),
                           const_cast<double*>(a.values), CUSPARSE_INDEX_32I, CUSPARSE_INDEX_32I,
                           CUSPARSE_INDEX_BASE_ZERO, CUDA_R_64F),
         "cusparseCreateCsr");
    });
    ctx.synchronize();
    ok(cusparseCreate(&sparse_), "cusparseCreate");
    ok(cublasCreate(&blas_), "cublasCreate");
    for (double** v : {&x_, &r_, &p_, &q_}) {
      ok(cudaMalloc(reinterpret_cast<void**>(v), sizeof(double) * static_cast<std::size_t>(n_)), "cudaMalloc");
      ok(cudaMemset(*v, 0, sizeof(double) * static_cast<std::size_t>(n_)), "cudaMemset");
    }
    ok(cusparseCreateDnVec(&p_vec_, n_, p_, CUDA_R_64F), "cusparseCreateDnVec");
    ok(cusparseCreateDnVec(&q_vec_, n_, q_, CUDA_R_64F), "cusparseCreateDnVec");
  }

  /// The faster of the two algorithms, after its preprocessing.
  double spmv_ms() {
    double best = 1e300;
    for (const auto algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
      prepare(algorithm);
      const double ms = ms_of(100, [&] { multiply(); });
      if (ms < best) best = ms, best_algorithm_ = algorithm;
    }
    prepare(best_algorithm_);
    return best;
  }

  /// {iterations, ms an iteration} to 1e-8 with b = 1.
  std::pair<int, double> cg() {
    const std::vector<double> ones(static_cast<std::size_t>(n_), 1.0);
    int iterations = 0;
    double best = 1e300;
    for (int run = 0; run < 2; ++run) {
      const std::size_t bytes = ones.size() * sizeof(double);
      ok(cudaMemset(x_, 0, bytes), "cudaMemset");
      for (double* v : {r_, p_}) ok(cudaMemcpy(v, ones.data(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
      ok(cudaDeviceSynchronize(), "upload");
      const auto start = std::chrono::steady_clock::now();
      double rr = dot(r_, r_);
      const double target = 1e-16 * rr;
      for (iterations = 0; rr > target && iterations < 5000; ++iterations) {
        multiply();
        const double alpha = rr / dot(p_, q_), minus = -alpha;
        ok(cublasDaxpy(blas_, n_, &alpha, p_, 1, x_, 1), "cublasDaxpy");
        ok(cublasDaxpy(blas_, n_, &minus, q_, 1, r_, 1), "cublasDaxpy");
        const double next = dot(r_, r_), beta = next / rr, one = 1;
        rr = next;
        ok(cublasDscal(blas_, n_, &beta, p_, 1), "cublasDscal");
        ok(cublasDaxpy(blas_, n_, &one, r_, 1, p_, 1), "cublasDaxpy");
      }
      ok(cudaDeviceSynchronize(), "cg");
      const std::chrono::duration<double, std::milli> passed = std::chrono::steady_clock::now() - start;
      best = std::min(best, passed.count() / iterations);
    }
    return {iterations, best};
  }

 private:
  void prepare(cusparseSpMVAlg_t algorithm) {
    algorithm_ = algorithm;
    std::size_t bytes = 0;
    ok(cusparseSpMV_bufferSize(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, A_, p_vec_, &zero_, q_vec_, CUDA_R_64F,
                               algorithm, &bytes),
       "cusparseSpMV_bufferSize");
    ok(cudaFree(buffer_), "cudaFree");
    ok(cudaMalloc(&buffer_, std::max<std::size_t>(bytes, 1)), "cudaMalloc");
    ok(cusparseSpMV_preprocess(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, A_, p_vec_, &zero_, q_vec_, CUDA_R_64F,
                               algorithm, buffer_),
       "cusparseSpMV_preprocess");
  }
  void multiply() {
    ok(cusparseSpMV(sparse_, CUSPARSE_OPERATION_NON_TRANSPOSE, &one_, A_, p_vec_, &zero_, q_vec_, CUDA_R_64F,
                    algorithm_, buffer_),
       "cusparseSpMV");
  }
  double dot(const double* a, const double* b) {
    double result = 0;
    ok(cublasDdot(blas_, n_, a, 1, b, 1, &result), "cublasDdot");
    return result;
  }

  int n_;
  double one_ = 1, zero_ = 0;
  cusparseHandle_t sparse_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  cusparseSpMatDescr_t A_ = nullptr;
  cusparseDnVecDescr_t p_vec_ = nullptr, q_vec_ = nullptr;
  cusparseSpMVAlg_t algorithm_ = CUSPARSE_SPMV_CSR_ALG1, best_algorithm_ = CUSPARSE_SPMV_CSR_ALG1;
  double *x_ = nullptr, *r_ = nullptr, *p_ = nullptr, *q_ = nullptr;
  void* buffer_ = nullptr;  // the process ends with its one set of cases: nothing is handed back
};

void run(const char* name, const GeneratorOptions& options) {
  const AnyMatrix<double> any = generate<double>(options);
  Rival rival(std::get<Csr<double>>(any));
  const double spmv = rival.spmv_ms();
  const auto [iterations, cg] = rival.cg();
  fmt::print("{:10} cuSPARSE SpMV {:.4f} ms; textbook CG {} iterations, {:.4f} ms each\n", name, spmv, iterations, cg);
}

}  // namespace

int main() try {
  run("p3d256", Poisson3dOptions{256, 0, 0});
  run("p3d128", Poisson3dOptions{128, 0, 0});
  run("p2d1024", Poisson2dOptions{1024, 0});
  run("p3d27", Poisson3dOptions{27, 0, 0});
  return 0;
} catch (const std::exception& e) {
  return fmt::print(stderr, "bench_rival: {}\n", e.what()), 3;
}

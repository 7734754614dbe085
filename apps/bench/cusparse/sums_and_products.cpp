// Products and sums of sparse matrices.
#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {
namespace {

constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;

/// C without entries.
KrillRivalMatrix not_yet_known(KrillRivalMatrix c) {
  c.nnz = 0, c.col_indices = nullptr, c.values = nullptr;
  return c;
}

std::size_t bytes_of(KrillRivalScalar scalar) {
  constexpr std::size_t bytes[] = {4, 8, 8, 16};
  return bytes[scalar];
}

/// A product with its descriptors.
struct SpgemmCall {
  const CusparseScalar zero_value = 0;
  cusparseHandle_t handle;
  const void *one, *zero;
  KrillRivalScalar scalar;
  cudaDataType type;
  Workspace own[3];
  KrillRivalMatrix result;
  cusparseSpGEMMAlg_t algorithm;
  SparseDescriptor a, b, c;
  cusparseSpGEMMDescr_t plan = nullptr;

  SpgemmCall(cusparseHandle_t handle, const void* one, const KrillRivalTask& task, cusparseSpGEMMAlg_t algorithm)
      : handle(handle),
        one(one),
        zero(zero_value.in(task.scalar)),
        scalar(task.scalar),
        type(data_type(task.scalar)),
        result(with_offsets(task.result)),
        algorithm(algorithm),
        a(task.a, task.scalar),
        b(task.b, task.scalar),
        c(not_yet_known(result), task.scalar) {
    check(cusparseSpGEMM_createDescr(&plan), "cusparseSpGEMM_createDescr");
  }
  ~SpgemmCall() { cusparseSpGEMM_destroyDescr(plan); }
  SpgemmCall(const SpgemmCall&) = delete;
  SpgemmCall& operator=(const SpgemmCall&) = delete;

  KrillRivalMatrix with_offsets(KrillRivalMatrix m) {
    if (!m.offsets) m.offsets = own[0].reserve((static_cast<std::size_t>(m.rows) + 1) * sizeof(std::int32_t));
    return m;
  }

  /// C gets the caller's arrays, which are as large as the search has found; where there are none, arrays of its own.
  void show_arrays() {
    std::int64_t rows = 0, cols = 0, nnz = 0;
    check(cusparseSpMatGetSize(c, &rows, &cols, &nnz), "cusparseSpMatGetSize");
    if (!result.values) {
      const auto entries = static_cast<std::size_t>(nnz);
      result.nnz = nnz;
      result.col_indices = static_cast<std::int32_t*>(own[1].reserve(entries * sizeof(std::int32_t)));
      result.values = own[2].reserve(entries * bytes_of(scalar));
    }
    if (nnz != result.nnz) throw std::runtime_error(fmt::format("C has {} entries, not {}", nnz, result.nnz));
    check(cusparseCsrSetPointers(c, output(result.offsets), output(result.col_indices), output(result.values)),
          "cusparseCsrSetPointers");
  }
};

/// All of it: estimates, products, and C in the caller's arrays.
class Spgemm final : public CusparseWork {
 public:
  Spgemm(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task), algorithm_(algorithm_of(task.algorithm)) {}

  void run() override {
    SpgemmCall p(handle(), one(), task_, algorithm_);
    buffers_[0].with("cusparseSpGEMM_workEstimation", [&](std::size_t* bytes, void* memory) {
      return cusparseSpGEMM_workEstimation(p.handle, op, op, p.one, p.a, p.b, p.zero, p.c, p.type, p.algorithm, p.plan,
                                           bytes, memory);
    });
    if (algorithm_ == CUSPARSE_SPGEMM_ALG1) {
      buffers_[1].with("cusparseSpGEMM_compute",
                       [&](std::size_t* bytes, void* memory) { return compute(p, bytes, memory); });
    } else {
      std::size_t bytes = 0;
      buffers_[2].with("cusparseSpGEMM_estimateMemory", [&](std::size_t* estimate, void* memory) {
        return cusparseSpGEMM_estimateMemory(p.handle, op, op, p.one, p.a, p.b, p.zero, p.c, p.type, p.algorithm,
                                             p.plan, chunk, estimate, memory, &bytes);
      });
      void* const memory = buffers_[1].reserve(bytes);
      check(compute(p, &bytes, memory), "cusparseSpGEMM_compute");
    }
    p.show_arrays();
    check(cusparseSpGEMM_copy(p.handle, op, op, p.one, p.a, p.b, p.zero, p.c, p.type, p.algorithm, p.plan),
          "cusparseSpGEMM_copy");
  }
  std::int64_t workspace() const override { return size_of(buffers_); }

 private:
  static constexpr float chunk = 0.2F;  // of the products that ALG3 has at a time
  static cusparseSpGEMMAlg_t algorithm_of(std::string_view name) {
    if (name == "ALG2") return CUSPARSE_SPGEMM_ALG2;
    if (name == "ALG3") return CUSPARSE_SPGEMM_ALG3;
    return CUSPARSE_SPGEMM_ALG1;
  }
  static cusparseStatus_t compute(SpgemmCall& p, std::size_t* bytes, void* memory) {
    return cusparseSpGEMM_compute(p.handle, op, op, p.one, p.a, p.b, p.zero, p.c, p.type, p.algorithm, p.plan, bytes,
                                  memory);
  }

  cusparseSpGEMMAlg_t algorithm_;
  Workspace buffers_[3];
};

/// With a pattern that has been found.
class SpgemmValues final : public CusparseWork {
 public:
  SpgemmValues(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task), p_(handle(), one(), task_, CUSPARSE_SPGEMM_DEFAULT) {
    buffers_[0].with("cusparseSpGEMMreuse_workEstimation", [&](std::size_t* bytes, void* memory) {
      return cusparseSpGEMMreuse_workEstimation(p_.handle, op, op, p_.a, p_.b, p_.c, p_.algorithm, p_.plan, bytes,
                                                memory);
    });
    std::size_t bytes[3] = {};
    const auto count = [&](void* first, void* second, void* third) {
      check(cusparseSpGEMMreuse_nnz(p_.handle, op, op, p_.a, p_.b, p_.c, p_.algorithm, p_.plan, &bytes[0], first,
                                    &bytes[1], second, &bytes[2], third),
            "cusparseSpGEMMreuse_nnz");
    };
    count(nullptr, nullptr, nullptr);
    count(buffers_[1].reserve(bytes[0]), buffers_[2].reserve(bytes[1]), buffers_[3].reserve(bytes[2]));
    p_.show_arrays();
    buffers_[4].with("cusparseSpGEMMreuse_copy", [&](std::size_t* size, void* memory) {
      return cusparseSpGEMMreuse_copy(p_.handle, op, op, p_.a, p_.b, p_.c, p_.algorithm, p_.plan, size, memory);
    });
  }
  void run() override {
    check(cusparseSpGEMMreuse_compute(p_.handle, op, op, p_.one, p_.a, p_.b, p_.zero, p_.c, p_.type, p_.algorithm,
                                      p_.plan),
          "cusparseSpGEMMreuse_compute");
  }
  std::int64_t workspace() const override { return size_of(buffers_); }
  const KrillRivalMatrix& product() const { return p_.result; }
  /// Of the product, where it is in memory of its own.
  std::int64_t product_bytes() const { return size_of(p_.own); }

 private:
  SpgemmCall p_;
  Workspace buffers_[5];
};

/// C (A B) as two products; the inner one in memory of its own.
template <class Product>
class TripleProduct final : public CusparseWork {
 public:
  TripleProduct(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task),
        search_(session, inner(task, {})),
        inner_(session, inner(task, search_.product())),
        outer_(session, outer(task, search_.product())) {}
  void run() override {
    inner_.run();
    outer_.run();
  }
  /// The inner product counts; what was done to learn its size does not.
  std::int64_t workspace() const override { return search_.product_bytes() + inner_.workspace() + outer_.workspace(); }

 private:
  static KrillRivalTask inner(KrillRivalTask task, const KrillRivalMatrix& product) {
    task.result = product;
    task.result.layout = krill_rival_csr, task.result.rows = task.a.rows, task.result.cols = task.b.cols;
    return task;
  }
  static KrillRivalTask outer(KrillRivalTask task, const KrillRivalMatrix& product) {
    task.a = task.c, task.b = product;
    task.result.cols = product.cols;
    return task;
  }

  SpgemmValues search_;
  Product inner_, outer_;
};

/// Its count of entries, and its columns and values.
template <bool with_count>
class Csrgeam final : public CusparseWork {
 public:
  Csrgeam(const Session& session, const KrillRivalTask& task) : CusparseWork(session, task) {
    check(cusparseCreateMatDescr(&descriptor_), "cusparseCreateMatDescr");
    with_functions([&](auto bytes_of, auto) {
      std::size_t bytes = 0;
      check(bytes_of(&bytes), "cusparseXcsrgeam2_bufferSizeExt");
      workspace_.reserve(bytes);
    });
    count();
  }
  ~Csrgeam() override { cusparseDestroyMatDescr(descriptor_); }

  void run() override {
    if constexpr (with_count) count();
    with_functions([&](auto, auto add) { check(add(), "cusparseXcsrgeam2"); });
  }
  std::int64_t workspace() const override { return workspace_.size(); }

 private:
  static constexpr const char* name = "cusparseXcsrgeam2";

  void count() {
    const KrillRivalMatrix &a = task_.a, &b = task_.b;
    int entries = 0;
    check(
        cusparseXcsrgeam2Nnz(handle(), static_cast<int>(a.rows), static_cast<int>(a.cols), descriptor_,
                             as_int(a.nnz, name), int_offsets(a, name), a.col_indices, descriptor_, as_int(b.nnz, name),
                             int_offsets(b, name), b.col_indices, descriptor_, offsets(), &entries, workspace_.get()),
        "cusparseXcsrgeam2Nnz");
    if (entries != task_.result.nnz)
      throw std::runtime_error(fmt::format("C has {} entries, not {}", entries, task_.result.nnz));
  }

  /// f(function for the size of the workspace, function for the sum)
  template <class F>
  void with_functions(F&& f) {
    switch (task_.scalar) {
      case krill_rival_float32:
        return with<float>(cusparseScsrgeam2_bufferSizeExt, cusparseScsrgeam2, f);
      case krill_rival_float64:
        return with<double>(cusparseDcsrgeam2_bufferSizeExt, cusparseDcsrgeam2, f);
      case krill_rival_complex64:
        return with<cuComplex>(cusparseCcsrgeam2_bufferSizeExt, cusparseCcsrgeam2, f);
      case krill_rival_complex128:
        return with<cuDoubleComplex>(cusparseZcsrgeam2_bufferSizeExt, cusparseZcsrgeam2, f);
    }
  }
  template <class T, class Size, class Sum, class F>
  void with(Size size, Sum sum, F&& f) {
    const KrillRivalMatrix &a = task_.a, &b = task_.b, &c = task_.result;
    const auto call = [&](auto function, auto... last) {
      const auto* factor = static_cast<const T*>(one());
      return function(handle(), static_cast<int>(a.rows), static_cast<int>(a.cols), factor, descriptor_,
                      as_int(a.nnz, name), static_cast<const T*>(a.values), int_offsets(a, name), a.col_indices, factor,
                      descriptor_, as_int(b.nnz, name), static_cast<const T*>(b.values), int_offsets(b, name),
                      b.col_indices, descriptor_, static_cast<T*>(output(c.values)), offsets(), output(c.col_indices),
                      last...);
    };
    f([&](std::size_t* bytes) { return call(size, bytes); }, [&] { return call(sum, workspace_.get()); });
  }
  int* offsets() const { return output(int_offsets(task_.result, name)); }

  cusparseMatDescr_t descriptor_ = nullptr;
  Workspace workspace_;
};

constexpr CusparseEntry entries[] = {
    {"spgemm", krill_rival_csr, "ALG1 ALG2 ALG3", make_work<Spgemm>},
    {"spgemm_values", krill_rival_csr, "SpGEMMreuse", make_work<SpgemmValues>},
    {"triple_product", krill_rival_csr, "ALG1 ALG2 ALG3", make_work<TripleProduct<Spgemm>>},
    {"triple_product_values", krill_rival_csr, "SpGEMMreuse", make_work<TripleProduct<SpgemmValues>>},
    {"spgeam", krill_rival_csr, "csrgeam2", make_work<Csrgeam<true>>},
    {"spgeam_values", krill_rival_csr, "csrgeam2", make_work<Csrgeam<false>>},
};

}  // namespace

std::span<const CusparseEntry> sums_and_products() { return entries; }

}  // namespace krill::apps::bench::cusparse

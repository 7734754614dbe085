// The loops of the textbook: products and triangular solves by cuSPARSE, vectors by cuBLAS, scalars on the host, which
// waits for each dot.
#include <cmath>
#include <functional>

#include "apps/bench/cusparse/blas.hpp"

namespace krill::apps::bench::cusparse {
namespace {

/// y = A x for any x and y, by the quicker of cuSPARSE's algorithms.
class TextbookProduct {
 public:
  TextbookProduct(const Session& session, const KrillRivalTask& task, const void* x, void* y)
      : session_(session),
        scalar_(task.scalar),
        a_(task.a, task.scalar),
        x_(task.a.cols, x, task.scalar),
        y_(task.a.rows, y, task.scalar) {
    float best = std::numeric_limits<float>::max();
    cusparseSpMVAlg_t quicker = CUSPARSE_SPMV_CSR_ALG1;
    for (const cusparseSpMVAlg_t algorithm : {CUSPARSE_SPMV_CSR_ALG1, CUSPARSE_SPMV_CSR_ALG2}) {
      prepare(algorithm);
      multiply(x, y);
      if (const float ms = time(x, y); ms < best) best = ms, quicker = algorithm;
    }
    prepare(quicker);
  }

  void multiply(const void* x, void* y) {
    check(cusparseDnVecSetValues(x_, output(x)), "cusparseDnVecSetValues");
    check(cusparseDnVecSetValues(y_, y), "cusparseDnVecSetValues");
    check(cusparseSpMV(session_.handle(), op, one_.in(scalar_), a_, x_, zero_.in(scalar_), y_, data_type(scalar_),
                       algorithm_, workspace_.get()),
          "cusparseSpMV");
  }

 private:
  static constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  void prepare(cusparseSpMVAlg_t algorithm) {
    algorithm_ = algorithm;
    std::size_t bytes = 0;
    check(cusparseSpMV_bufferSize(session_.handle(), op, one_.in(scalar_), a_, x_, zero_.in(scalar_), y_,
                                  data_type(scalar_), algorithm, &bytes),
          "cusparseSpMV_bufferSize");
    check(cusparseSpMV_preprocess(session_.handle(), op, one_.in(scalar_), a_, x_, zero_.in(scalar_), y_,
                                  data_type(scalar_), algorithm, workspace_.reserve(bytes)),
          "cusparseSpMV_preprocess");
  }
  float time(const void* x, void* y) {
    cudaEvent_t begin = nullptr, end = nullptr;
    check(cudaEventCreate(&begin), "cudaEventCreate");
    check(cudaEventCreate(&end), "cudaEventCreate");
    check(cudaEventRecord(begin, session_.stream()), "cudaEventRecord");
    for (int turn = 0; turn < 10; ++turn) multiply(x, y);
    check(cudaEventRecord(end, session_.stream()), "cudaEventRecord");
    check(cudaEventSynchronize(end), "cudaEventSynchronize");
    float ms = 0;
    check(cudaEventElapsedTime(&ms, begin, end), "cudaEventElapsedTime");
    cudaEventDestroy(begin), cudaEventDestroy(end);
    return ms;
  }

  const Session& session_;
  KrillRivalScalar scalar_;
  CusparseScalar one_ = 1, zero_ = 0;
  SparseDescriptor a_;
  VectorDescriptor x_, y_;
  Workspace workspace_;
  cusparseSpMVAlg_t algorithm_ = CUSPARSE_SPMV_CSR_ALG1;
};

/// A triangle of `task`, solved for any b and x.
class TextbookTriangle {
 public:
  TextbookTriangle(const Session& session, const KrillRivalTask& task, const void* b, void* x)
      : session_(session), scalar_(task.scalar), a_(task), b_(task.a.rows, b, scalar_), x_(task.a.rows, x, scalar_) {
    check(cusparseSpSV_createDescr(&state_), "cusparseSpSV_createDescr");
    std::size_t bytes = 0;
    check(cusparseSpSV_bufferSize(session_.handle(), op, one_.in(scalar_), a_, b_, x_, data_type(scalar_), algorithm,
                                  state_, &bytes),
          "cusparseSpSV_bufferSize");
    check(cusparseSpSV_analysis(session_.handle(), op, one_.in(scalar_), a_, b_, x_, data_type(scalar_), algorithm,
                                state_, workspace_.reserve(bytes)),
          "cusparseSpSV_analysis");
  }
  ~TextbookTriangle() { cusparseSpSV_destroyDescr(state_); }
  TextbookTriangle(const TextbookTriangle&) = delete;
  TextbookTriangle& operator=(const TextbookTriangle&) = delete;

  void solve(const void* b, void* x) {
    check(cusparseDnVecSetValues(b_, output(b)), "cusparseDnVecSetValues");
    check(cusparseDnVecSetValues(x_, x), "cusparseDnVecSetValues");
    check(
        cusparseSpSV_solve(session_.handle(), op, one_.in(scalar_), a_, b_, x_, data_type(scalar_), algorithm, state_),
        "cusparseSpSV_solve");
  }

 private:
  static constexpr auto op = CUSPARSE_OPERATION_NON_TRANSPOSE;
  static constexpr auto algorithm = CUSPARSE_SPSV_ALG_DEFAULT;
  const Session& session_;
  KrillRivalScalar scalar_;
  CusparseScalar one_ = 1;
  TriangleDescriptor a_;
  VectorDescriptor b_, x_;
  Workspace workspace_;
  cusparseSpSVDescr_t state_ = nullptr;
};

/// The factor of csrilu02 and its two triangles.
class TextbookIlu0 {
 public:
  TextbookIlu0(const Session& session, KrillRivalTask task, std::size_t value_bytes, const void* b, void* x)
      : middle_(static_cast<std::size_t>(task.a.rows) * value_bytes) {
    values_.reserve(static_cast<std::size_t>(task.a.nnz) * value_bytes);
    task.result.values = values_.get();
    for (const CusparseEntry& entry : factorizations())
      if (entry.kernel == "ilu0") (factor_ = entry.make(session, task))->run();
    task.a.values = values_.get();
    task.upper = 0, task.unit_diagonal = 1;
    lower_ = std::make_unique<TextbookTriangle>(session, task, b, middle());
    task.upper = 1, task.unit_diagonal = 0;
    upper_ = std::make_unique<TextbookTriangle>(session, task, middle(), x);
  }
  void solve(const void* b, void* x) {
    lower_->solve(b, middle());
    upper_->solve(middle(), x);
  }

 private:
  void* middle() { return room_.reserve(middle_); }
  std::size_t middle_;
  Workspace values_, room_;
  std::unique_ptr<CusparseWork> factor_;
  std::unique_ptr<TextbookTriangle> lower_, upper_;
};

/// What the three methods share: x from 0, r = b, and z = M r. `vectors`: of the method's own.
template <std::size_t type>
class Textbook {
 public:
  using B = Blas<type>;
  using T = typename B::T;
  using Wide = typename B::Wide;

  Textbook(const Session& session, const KrillRivalTask& task, std::int64_t vectors)
      : blas_(session, task.a.rows), n_(task.a.rows) {
    const std::string_view preconditioner = task.algorithm;
    memory_.reserve(static_cast<std::size_t>((vectors + 3) * n_) * sizeof(T));
    b_ = static_cast<const T*>(task.x), x_ = at(0), r_ = at(1), z_ = at(2);
    product_ = std::make_unique<TextbookProduct>(session, task, r_, z_);
    if (preconditioner == "jacobi") inverse_ = static_cast<const T*>(task.inverse_diagonal);
    if (preconditioner == "ilu0") ilu_ = std::make_unique<TextbookIlu0>(session, task, sizeof(T), r_, z_);
    max_iterations_ = task.max_iterations, relative_ = task.threshold;
  }

 protected:
  T* at(std::int64_t vector) { return static_cast<T*>(memory_.get()) + vector * n_; }
  T* own(std::int64_t vector) { return at(3 + vector); }
  void start() {
    blas_.clear(x_);
    blas_.copy(b_, r_, n_);
    residual_ = blas_.norm(r_);
    target_ = relative_ * residual_;
    done_ = 0;
  }
  bool goes_on() const { return residual_ > target_ && done_ < max_iterations_; }
  int outcome() const { return residual_ <= target_ ? done_ : -1; }
  void multiply(const T* x, T* y) { product_->multiply(x, y); }
  /// M r, in z or r itself.
  const T* precondition(const T* r, T* z) {
    if (!inverse_ && !ilu_) return r;
    if (inverse_)
      blas_.multiply(inverse_, r, z);
    else
      ilu_->solve(r, z);
    return z;
  }

  B blas_;
  std::int64_t n_;
  const T* b_ = nullptr;
  T *x_ = nullptr, *r_ = nullptr, *z_ = nullptr;
  double residual_ = 0, target_ = 0;
  int done_ = 0, max_iterations_ = 0;

 private:
  Workspace memory_;
  std::unique_ptr<TextbookProduct> product_;
  const T* inverse_ = nullptr;
  std::unique_ptr<TextbookIlu0> ilu_;
  double relative_ = 0;
};

/// Hestenes and Stiefel (1952).
template <std::size_t type>
class TextbookPcg : Textbook<type> {
  using Base = Textbook<type>;
  using typename Base::T, typename Base::Wide;

 public:
  TextbookPcg(const Session& session, const KrillRivalTask& task) : Base(session, task, 2) {}
  int solve() {
    auto& blas = this->blas_;
    T *p = this->own(0), *q = this->own(1), *r = this->r_;
    this->start();
    const T* z = this->precondition(r, this->z_);
    blas.copy(z, p, this->n_);
    Wide rz = blas.dot(r, z);
    while (this->goes_on()) {
      this->multiply(p, q);
      const Wide alpha = rz / blas.dot(p, q);
      blas.axpy(alpha, p, this->x_);
      blas.axpy(-alpha, q, r);
      this->residual_ = blas.norm(r), ++this->done_;
      z = this->precondition(r, this->z_);
      const Wide before = rz;
      rz = z == r ? Wide(this->residual_ * this->residual_) : blas.dot(r, z);
      blas.scale(rz / before, p);
      blas.axpy(1, z, p);
    }
    return this->outcome();
  }
};

/// Van der Vorst (1992).
template <std::size_t type>
class TextbookBicgstab : Textbook<type> {
  using Base = Textbook<type>;
  using typename Base::T, typename Base::Wide;

 public:
  TextbookBicgstab(const Session& session, const KrillRivalTask& task) : Base(session, task, 5) {}
  int solve() {
    auto& blas = this->blas_;
    T *shadow = this->own(0), *p = this->own(1), *v = this->own(2), *t = this->own(3), *y_room = this->own(4),
      *r = this->r_;
    this->start();
    blas.copy(r, shadow, this->n_);
    blas.copy(r, p, this->n_);
    Wide rho(this->residual_ * this->residual_);
    while (this->goes_on()) {
      const T* y = this->precondition(p, y_room);
      this->multiply(y, v);
      const Wide alpha = rho / blas.dot(shadow, v);
      blas.axpy(-alpha, v, r);  // s
      const T* z = this->precondition(r, this->z_);
      this->multiply(z, t);
      const Wide omega = blas.dot(t, r) / blas.dot(t, t);
      blas.axpy(alpha, y, this->x_);
      blas.axpy(omega, z, this->x_);
      blas.axpy(-omega, t, r);
      this->residual_ = blas.norm(r), ++this->done_;
      const Wide before = rho;
      rho = blas.dot(shadow, r);
      blas.axpy(-omega, v, p);
      blas.scale(rho / before * alpha / omega, p);
      blas.axpy(1, r, p);
    }
    return this->outcome();
  }
};

/// Saad and Schultz (1986), preconditioned from the right; classical Gram-Schmidt twice by gemv.
template <std::size_t type>
class TextbookGmres : Textbook<type> {
  using Base = Textbook<type>;
  using typename Base::T, typename Base::Wide;

 public:
  TextbookGmres(const Session& session, const KrillRivalTask& task)
      : Base(session, task, task.restart + std::int64_t{1}),
        m_(task.restart),
        R_(static_cast<std::size_t>(m_) * static_cast<std::size_t>(m_ + 1)),
        g_(static_cast<std::size_t>(m_) + 1),
        sine_(g_.size()),
        cosine_(g_.size()),
        sums_(2 * g_.size()) {
    small_.reserve(sums_.size() * sizeof(T));
  }
  int solve() {
    this->start();
    while (this->goes_on()) {
      const int columns = cycle();
      add_step(columns);
      this->multiply(this->x_, this->r_);  // r = b - A x
      this->blas_.scale(-1, this->r_);
      this->blas_.axpy(1, this->b_, this->r_);
      this->residual_ = this->blas_.norm(this->r_);
    }
    return this->outcome();
  }

 private:
  Wide& entry(int i, int j) {
    return R_[static_cast<std::size_t>(j) * static_cast<std::size_t>(m_ + 1) + static_cast<std::size_t>(i)];
  }
  static Wide conjugate(Wide a) {
    if constexpr (type < 2)
      return a;
    else
      return std::conj(a);
  }

  int cycle() {
    auto& blas = this->blas_;
    blas.copy(this->r_, this->own(0), this->n_);
    blas.scale(1 / this->residual_, this->own(0));
    std::fill(g_.begin(), g_.end(), Wide(0));
    g_[0] = this->residual_;
    int j = 0;
    for (; j < m_ && this->goes_on(); ++j) {
      T* const w = this->own(j + 1);
      this->multiply(this->precondition(this->own(j), this->z_), w);
      orthogonalize(j, w);
      const double length = blas.norm(w);
      entry(j + 1, j) = length;
      blas.scale(1 / length, w);
      rotate(j);
      this->residual_ = std::abs(g_[static_cast<std::size_t>(j) + 1]), ++this->done_;
    }
    return j;
  }
  void orthogonalize(int j, T* w) {
    auto& blas = this->blas_;
    T* const small = static_cast<T*>(small_.get());
    for (int sweep = 0; sweep < 2; ++sweep) {
      blas.multiply_basis(true, 1, this->own(0), this->n_, j + 1, w, 0, small + sweep * (m_ + 1));
      blas.multiply_basis(false, -1, this->own(0), this->n_, j + 1, small + sweep * (m_ + 1), 1, w);
    }
    blas.copy(small, sums_.data(), static_cast<std::int64_t>(sums_.size()));
    blas.wait();
    for (int i = 0; i <= j; ++i)
      entry(i, j) = Wide(sums_[static_cast<std::size_t>(i)]) + Wide(sums_[static_cast<std::size_t>(m_ + 1 + i)]);
  }
  void rotate(int j) {
    const auto turn = [&](std::size_t k, Wide& a, Wide& b) {
      const Wide first = cosine_[k] * a + sine_[k] * b;
      b = cosine_[k] * b - conjugate(sine_[k]) * a;
      a = first;
    };
    for (int i = 0; i < j; ++i) turn(static_cast<std::size_t>(i), entry(i, j), entry(i + 1, j));
    const Wide a = entry(j, j), b = entry(j + 1, j);  // b is real
    const double size = std::hypot(std::abs(a), std::abs(b));
    const auto k = static_cast<std::size_t>(j);
    cosine_[k] = size > 0 ? std::abs(a) / size : 1;
    sine_[k] = size > 0 ? (std::abs(a) > 0 ? a / std::abs(a) : Wide(1)) * conjugate(b) / size : Wide(0);
    turn(k, entry(j, j), entry(j + 1, j));
    turn(k, g_[k], g_[k + 1]);
  }
  /// x += M V y with R y = g.
  void add_step(int columns) {
    std::vector<T> y(static_cast<std::size_t>(columns));
    for (int i = columns - 1; i >= 0; --i) {
      Wide sum = g_[static_cast<std::size_t>(i)];
      for (int k = i + 1; k < columns; ++k) sum -= entry(i, k) * Wide(y[static_cast<std::size_t>(k)]);
      y[static_cast<std::size_t>(i)] = T(sum / entry(i, i));
    }
    if (columns == 0) return;
    auto& blas = this->blas_;
    T* const small = static_cast<T*>(small_.get());
    blas.copy(y.data(), small, columns);
    blas.multiply_basis(false, 1, this->own(0), this->n_, columns, small, 0, this->r_);
    blas.axpy(1, this->precondition(this->r_, this->z_), this->x_);
    blas.wait();  // y goes
  }

  int m_;
  std::vector<Wide> R_, g_, sine_;
  std::vector<double> cosine_;
  std::vector<T> sums_;
  Workspace small_;
};

/// A method in the type of the task.
template <template <std::size_t> class Method>
class TextbookWork final : public CusparseWork {
 public:
  TextbookWork(const Session& session, const KrillRivalTask& task) : CusparseWork(session, task) {
    with_type([&]<std::size_t type>() {
      auto method = std::make_shared<Method<type>>(session, task);
      solve_ = [method] { return method->solve(); };
    });
  }
  void run() override { *task_.iterations = solve_(); }

 private:
  std::function<int()> solve_;
};

constexpr CusparseEntry entries[] = {
    {"pcg", krill_rival_csr, "none jacobi ilu0", make_work<TextbookWork<TextbookPcg>>},
    {"gmres", krill_rival_csr, "none jacobi ilu0", make_work<TextbookWork<TextbookGmres>>},
    {"bicgstab", krill_rival_csr, "none jacobi ilu0", make_work<TextbookWork<TextbookBicgstab>>},
};

}  // namespace

std::span<const CusparseEntry> textbook_loops() { return entries; }

}  // namespace krill::apps::bench::cusparse

#include <cholmod.h>

#include <algorithm>
#include <cmath>
#include <new>

#include "sparse/direct/complete_factors.hpp"

namespace krill {
namespace {

/// Parameters and workspace of CHOLMOD.
struct CholmodCommon {
  CholmodCommon() {
    cholmod_l_start(&common);
    common.print = 0;
    common.nmethods = 1;
    common.method[0].ordering = CHOLMOD_NATURAL;
    common.postorder = 1;  // which fills in as much, and has greater blocks
    common.supernodal = CHOLMOD_SUPERNODAL;
  }
  ~CholmodCommon() { cholmod_l_finish(&common); }
  CholmodCommon(const CholmodCommon&) = delete;
  CholmodCommon& operator=(const CholmodCommon&) = delete;

  cholmod_common common;
};

template <class T>
class Cholmod final : public CompleteFactors<T> {
 public:
  explicit Cholmod(const ColumnMatrix<T>& upper) {
    facts_.library = "CHOLMOD";
    const auto n = static_cast<std::size_t>(upper.size());
    is_negative_ = n > 0 && std::real(upper.values[static_cast<std::size_t>(upper.begins[1]) - 1]) < 0;
    std::vector<SuiteSparse_long> begins(upper.begins.begin(), upper.begins.end()),
        rows(upper.rows.begin(), upper.rows.end());
    std::vector<T> values = upper.values;
    if (is_negative_) std::ranges::transform(values, values.begin(), std::negate<>());
    cholmod_sparse B{};
    B.nrow = B.ncol = n;
    B.nzmax = values.size();
    B.p = begins.data(), B.i = rows.data(), B.x = values.data();
    B.stype = 1;
    B.itype = CHOLMOD_LONG, B.xtype = is_complex<T> ? CHOLMOD_COMPLEX : CHOLMOD_REAL, B.dtype = CHOLMOD_DOUBLE;
    B.sorted = B.packed = 1;
    factors_.reset(cholmod_l_analyze(&B, &common_));
    if (!factors_) throw std::bad_alloc();
    cholmod_l_factorize(&B, factors_.get(), &common_);
    if (common_.status == CHOLMOD_NOT_POSDEF) return;
    if (common_.status < 0) throw std::bad_alloc();
    facts_.is_definite = true;
    facts_.pivots.resize(n);
    const auto* const columns = static_cast<const SuiteSparse_long*>(factors_->Perm);
    for_blocks([&](SuiteSparse_long first, SuiteSparse_long width, SuiteSparse_long height, const T* block) {
      facts_.entries += width * height - width * (width - 1) / 2;
      for (SuiteSparse_long j = 0; j < width; ++j)
        facts_.pivots[static_cast<std::size_t>(columns[first + j])] = std::norm(block[j * height + j]);
    });
  }
  bool is_definite() const { return facts_.is_definite; }
  void solve(std::span<T> v) const override {
    cholmod_dense b{};
    b.nrow = b.nzmax = b.d = v.size(), b.ncol = 1;
    b.x = v.data();
    b.xtype = is_complex<T> ? CHOLMOD_COMPLEX : CHOLMOD_REAL, b.dtype = CHOLMOD_DOUBLE;
    cholmod_dense* x = cholmod_l_solve(CHOLMOD_A, factors_.get(), &b, &common_);
    if (!x) throw std::bad_alloc();
    const auto* const found = static_cast<const T*>(x->x);
    std::transform(found, found + v.size(), v.begin(), [&](const T& entry) { return is_negative_ ? -entry : entry; });
    cholmod_l_free_dense(&x, &common_);
  }
  void solve_adjoint(std::span<T> v) const override { solve(v); }

 private:
  using CompleteFactors<T>::facts_;
  struct Free {
    cholmod_common* common;
    void operator()(cholmod_factor* made) const { cholmod_l_free_factor(&made, common); }
  };

  /// use(first column, columns, rows, entries by columns): dense blocks, whose upper triangle means nothing.
  template <class Use>
  void for_blocks(const Use& use) const {
    const cholmod_factor& L = *factors_;
    const auto* const firsts = static_cast<const SuiteSparse_long*>(L.super);
    const auto* const heights = static_cast<const SuiteSparse_long*>(L.pi);
    const auto* const places = static_cast<const SuiteSparse_long*>(L.px);
    for (std::size_t s = 0; s < L.nsuper; ++s)
      use(firsts[s], firsts[s + 1] - firsts[s], heights[s + 1] - heights[s], static_cast<const T*>(L.x) + places[s]);
  }

  mutable CholmodCommon parameters_;
  cholmod_common& common_ = parameters_.common;
  std::unique_ptr<cholmod_factor, Free> factors_{nullptr, Free{&common_}};
  bool is_negative_ = false;
};

}  // namespace

template <class T>
std::unique_ptr<CompleteFactors<T>> cholmod_llt(const ColumnMatrix<T>& upper) {
  auto made = std::make_unique<Cholmod<T>>(upper);
  if (!made->is_definite()) return nullptr;
  return made;
}

template std::unique_ptr<CompleteFactors<double>> cholmod_llt(const ColumnMatrix<double>&);
template std::unique_ptr<CompleteFactors<std::complex<double>>> cholmod_llt(const ColumnMatrix<std::complex<double>>&);

}  // namespace krill

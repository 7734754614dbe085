#include <klu.h>

#include <new>

#include "sparse/direct/complete_factors.hpp"

namespace krill {
namespace {

template <class T>
class Klu final : public CompleteFactors<T> {
 public:
  Klu(const ColumnMatrix<T>& B, double threshold) : size_(B.size()) {
    klu_defaults(&common_);
    common_.tol = threshold;
    common_.scale = 0;
    // It takes them as pointers to what may change, and leaves them alone.
    auto* const begins = const_cast<std::int32_t*>(B.begins.data());
    auto* const rows = const_cast<std::int32_t*>(B.rows.data());
    auto* const values = reinterpret_cast<double*>(const_cast<T*>(B.values.data()));
    facts_.library = "KLU";
    symbolic_.reset(klu_analyze(size_, begins, rows, &common_));
    if (!symbolic_) throw std::bad_alloc();
    if constexpr (is_complex<T>)
      numeric_.reset(klu_z_factor(begins, rows, values, symbolic_.get(), &common_));
    else
      numeric_.reset(klu_factor(begins, rows, values, symbolic_.get(), &common_));
    if (common_.status == KLU_SINGULAR) {
      facts_.zero_column = common_.singular_col;
      return;
    }
    if (!numeric_) throw std::bad_alloc();
    facts_.pivots.resize(static_cast<std::size_t>(size_));
    for (std::int32_t k = 0; k < size_; ++k)
      facts_.pivots[static_cast<std::size_t>(symbolic_->Q[k])] = std::abs(static_cast<const T*>(numeric_->Udiag)[k]);
    facts_.entries = std::int64_t{numeric_->lnz} + numeric_->unz + numeric_->nzoff - size_;
  }
  void solve(std::span<T> v) const override {
    if constexpr (is_complex<T>)
      klu_z_solve(symbolic_.get(), numeric_.get(), size_, 1, reinterpret_cast<double*>(v.data()), &common_);
    else
      klu_solve(symbolic_.get(), numeric_.get(), size_, 1, v.data(), &common_);
  }
  void solve_adjoint(std::span<T> v) const override {
    if constexpr (is_complex<T>)
      klu_z_tsolve(symbolic_.get(), numeric_.get(), size_, 1, reinterpret_cast<double*>(v.data()), 1, &common_);
    else
      klu_tsolve(symbolic_.get(), numeric_.get(), size_, 1, v.data(), &common_);
  }

 private:
  using CompleteFactors<T>::facts_;
  struct FreeSymbolic {
    klu_common* common;
    void operator()(klu_symbolic* made) const { klu_free_symbolic(&made, common); }
  };
  struct FreeNumeric {
    klu_common* common;
    void operator()(klu_numeric* made) const {
      is_complex<T> ? klu_z_free_numeric(&made, common) : klu_free_numeric(&made, common);
    }
  };

  std::int32_t size_;
  mutable klu_common common_;
  std::unique_ptr<klu_symbolic, FreeSymbolic> symbolic_{nullptr, FreeSymbolic{&common_}};
  std::unique_ptr<klu_numeric, FreeNumeric> numeric_{nullptr, FreeNumeric{&common_}};
};

}  // namespace

template <class T>
std::unique_ptr<CompleteFactors<T>> klu(const ColumnMatrix<T>& B, double threshold) {
  return std::make_unique<Klu<T>>(B, threshold);
}

template std::unique_ptr<CompleteFactors<double>> klu(const ColumnMatrix<double>&, double);
template std::unique_ptr<CompleteFactors<std::complex<double>>> klu(const ColumnMatrix<std::complex<double>>&, double);

}  // namespace krill

// Incomplete factorizations and colorings.
#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {
namespace {

class ColorInfo {
 public:
  ColorInfo() { check(cusparseCreateColorInfo(&info_), "cusparseCreateColorInfo"); }
  ~ColorInfo() { cusparseDestroyColorInfo(info_); }
  ColorInfo(const ColorInfo&) = delete;
  ColorInfo& operator=(const ColorInfo&) = delete;
  operator cusparseColorInfo_t() const { return info_; }

 private:
  cusparseColorInfo_t info_ = nullptr;
};

/// The colors and the order of the rows that they give.
class CsrColor final : public CusparseWork {
 public:
  CsrColor(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task), nnz_(as_int(task.a.nnz, "cusparseXcsrcolor")) {
    check(cusparseCreateMatDescr(&descriptor_), "cusparseCreateMatDescr");
    order_.reserve(static_cast<std::size_t>(task.a.rows) * sizeof(int));
  }
  ~CsrColor() override { cusparseDestroyMatDescr(descriptor_); }

  void run() override {
    switch (task_.scalar) {
      case krill_rival_float32:
        return color<float, float>(cusparseScsrcolor);
      case krill_rival_float64:
        return color<double, double>(cusparseDcsrcolor);
      case krill_rival_complex64:
        return color<cuComplex, float>(cusparseCcsrcolor);
      case krill_rival_complex128:
        return color<cuDoubleComplex, double>(cusparseZcsrcolor);
    }
  }

 private:
  template <class T, class Real, class Function>
  void color(Function function) {
    const KrillRivalMatrix& a = task_.a;
    const Real fraction = 1;
    int colors = 0;
    const ColorInfo info;
    check(function(handle(), static_cast<int>(a.rows), nnz_, descriptor_, static_cast<const T*>(a.values),
                   int_offsets(a, "cusparseXcsrcolor"), a.col_indices, &fraction, &colors,
                   output(task_.result.row_indices), static_cast<int*>(order_.get()), info),
          "cusparseXcsrcolor");
  }

  int nnz_;
  Workspace order_;
  cusparseMatDescr_t descriptor_ = nullptr;
};

// Factorizations of the old interface, the only ones that there are; a function for each scalar type.
struct Ilu0Functions {
  using Info = csrilu02Info_t;
  static constexpr auto create = cusparseCreateCsrilu02Info;
  static constexpr auto destroy = cusparseDestroyCsrilu02Info;
  static constexpr auto sizes = std::make_tuple(cusparseScsrilu02_bufferSize, cusparseDcsrilu02_bufferSize,
                                                cusparseCcsrilu02_bufferSize, cusparseZcsrilu02_bufferSize);
  static constexpr auto analyses = std::make_tuple(cusparseScsrilu02_analysis, cusparseDcsrilu02_analysis,
                                                   cusparseCcsrilu02_analysis, cusparseZcsrilu02_analysis);
  static constexpr auto numerics =
      std::make_tuple(cusparseScsrilu02, cusparseDcsrilu02, cusparseCcsrilu02, cusparseZcsrilu02);
};
struct Ic0Functions {
  using Info = csric02Info_t;
  static constexpr auto create = cusparseCreateCsric02Info;
  static constexpr auto destroy = cusparseDestroyCsric02Info;
  static constexpr auto sizes = std::make_tuple(cusparseScsric02_bufferSize, cusparseDcsric02_bufferSize,
                                                cusparseCcsric02_bufferSize, cusparseZcsric02_bufferSize);
  static constexpr auto analyses = std::make_tuple(cusparseScsric02_analysis, cusparseDcsric02_analysis,
                                                   cusparseCcsric02_analysis, cusparseZcsric02_analysis);
  static constexpr auto numerics =
      std::make_tuple(cusparseScsric02, cusparseDcsric02, cusparseCcsric02, cusparseZcsric02);
};

/// A factorization, the copy of the values included, which it overwrites; with `only_analysis`, what comes before.
template <class Functions, bool only_analysis>
class FactorizationWork final : public CusparseWork {
 public:
  FactorizationWork(const Session& session, const KrillRivalTask& task)
      : CusparseWork(session, task),
        rows_(as_int(task.a.rows, "an incomplete factorization")),
        nnz_(as_int(task.a.nnz, "an incomplete factorization")),
        offsets_(int_offsets(task.a, "an incomplete factorization")) {
    check(cusparseCreateMatDescr(&descriptor_), "cusparseCreateMatDescr");
    create();
    reset_values();
    int bytes = 0;
    with_type([&]<std::size_t type>() {
      check(std::get<type>(Functions::sizes)(handle(), rows_, nnz_, descriptor_, values<type>(), offsets_,
                                             task_.a.col_indices, info_, &bytes),
            "size of the workspace of a factorization");
    });
    workspace_.reserve(static_cast<std::size_t>(bytes));
    analyse();
  }
  ~FactorizationWork() override {
    if constexpr (!only_analysis) Functions::destroy(info_);
    cusparseDestroyMatDescr(descriptor_);
  }
  void run() override {
    if constexpr (only_analysis) {
      create();  // the old one stays until the end: cuSPARSE 12.6 frees twice where nothing was factored with it
      return analyse();
    }
    reset_values();
    with_type([&]<std::size_t type>() {
      check(std::get<type>(Functions::numerics)(handle(), rows_, nnz_, descriptor_, values<type>(), offsets_,
                                                task_.a.col_indices, info_, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                                                workspace_.get()),
            "factorization");
    });
  }

 private:
  template <std::size_t type>
  auto* values() const {
    return static_cast<std::tuple_element_t<type, ScalarTypes>*>(output(task_.result.values));
  }
  void create() { check(Functions::create(&info_), "info of a factorization"); }
  void analyse() {
    with_type([&]<std::size_t type>() {
      check(std::get<type>(Functions::analyses)(handle(), rows_, nnz_, descriptor_, values<type>(), offsets_,
                                                task_.a.col_indices, info_, CUSPARSE_SOLVE_POLICY_USE_LEVEL,
                                                workspace_.get()),
            "analysis of a factorization");
    });
  }
  void reset_values() {
    with_type([&]<std::size_t type>() {
      copy(values<type>(), task_.a.values, sizeof(*values<type>()) * static_cast<std::size_t>(nnz_));
    });
  }

  int rows_, nnz_;
  const int* offsets_;
  cusparseMatDescr_t descriptor_ = nullptr;
  typename Functions::Info info_ = nullptr;
  Workspace workspace_;
};

constexpr CusparseEntry entries[] = {
    {"ilu0", krill_rival_csr, "csrilu02", make_work<FactorizationWork<Ilu0Functions, false>>},
    {"ilu0_analysis", krill_rival_csr, "csrilu02", make_work<FactorizationWork<Ilu0Functions, true>>},
    {"ic0", krill_rival_csr, "csric02", make_work<FactorizationWork<Ic0Functions, false>>},
    {"ic0_analysis", krill_rival_csr, "csric02", make_work<FactorizationWork<Ic0Functions, true>>},
    {"color", krill_rival_csr, "csrcolor", make_work<CsrColor>},
};

}  // namespace

std::span<const CusparseEntry> factorizations() { return entries; }

}  // namespace krill::apps::bench::cusparse

// Entries above a threshold, in CSR.
#include "apps/bench/cusparse/work.hpp"

namespace krill::apps::bench::cusparse {
namespace {

constexpr const char* name = "pruning of CSR";

/// A and C as the functions take them.
template <class T>
struct Operands {
  int rows, cols, nnz;
  const T* values;
  const int *offsets, *columns;
  T* c_values;
  int *c_offsets, *c_columns;

  explicit Operands(const KrillRivalTask& task)
      : rows(as_int(task.a.rows, name)),
        cols(as_int(task.a.cols, name)),
        nnz(as_int(task.a.nnz, name)),
        values(static_cast<const T*>(task.a.values)),
        offsets(int_offsets(task.a, name)),
        columns(task.a.col_indices),
        c_values(static_cast<T*>(output(task.result.values))),
        c_offsets(output(int_offsets(task.result, name))),
        c_columns(output(task.result.col_indices)) {}
};

/// Counts the entries of C, then writes them into the caller's arrays.
class Pruning : public CusparseWork {
 public:
  Pruning(const Session& session, const KrillRivalTask& task) : CusparseWork(session, task) {
    check(cusparseCreateMatDescr(&descriptor_), "cusparseCreateMatDescr");
  }
  ~Pruning() override { cusparseDestroyMatDescr(descriptor_); }

 protected:
  void require_count(int entries) const {
    if (entries != task_.result.nnz)
      throw std::runtime_error(fmt::format("C has {} entries, not {}", entries, task_.result.nnz));
  }
  [[noreturn]] static void refuse_complex() {
    throw std::runtime_error(fmt::format("{} takes real numbers alone", name));
  }

  cusparseMatDescr_t descriptor_ = nullptr;
  Workspace workspace_;
};

class PruneCsr final : public Pruning {
 public:
  using Pruning::Pruning;
  void run() override {
    if (task_.scalar == krill_rival_float64)
      prune<double>(cusparseDpruneCsr2csr_bufferSizeExt, cusparseDpruneCsr2csrNnz, cusparseDpruneCsr2csr);
    else if (task_.scalar == krill_rival_float32)
      prune<float>(cusparseSpruneCsr2csr_bufferSizeExt, cusparseSpruneCsr2csrNnz, cusparseSpruneCsr2csr);
    else
      refuse_complex();
  }

 private:
  template <class T, class Size, class Count, class Fill>
  void prune(Size size, Count count, Fill fill) {
    const Operands<T> o(task_);
    const T threshold = static_cast<T>(task_.threshold);
    const auto call = [&](auto function, auto... last) {
      check(function(handle(), o.rows, o.cols, o.nnz, descriptor_, o.values, o.offsets, o.columns, &threshold,
                     descriptor_, last...),
            "cusparseXpruneCsr2csr");
    };
    if (!workspace_.get()) {
      std::size_t bytes = 0;
      call(size, o.c_values, o.c_offsets, o.c_columns, &bytes);
      workspace_.reserve(bytes);
    }
    int entries = 0;
    call(count, o.c_offsets, &entries, workspace_.get());
    require_count(entries);
    call(fill, o.c_values, o.c_offsets, o.c_columns, workspace_.get());
  }
};

class PruneByPercentage final : public Pruning {
 public:
  PruneByPercentage(const Session& session, const KrillRivalTask& task) : Pruning(session, task) {
    check(cusparseCreatePruneInfo(&info_), "cusparseCreatePruneInfo");
  }
  ~PruneByPercentage() override { cusparseDestroyPruneInfo(info_); }
  void run() override {
    if (task_.scalar == krill_rival_float64)
      prune<double>(cusparseDpruneCsr2csrByPercentage_bufferSizeExt, cusparseDpruneCsr2csrNnzByPercentage,
                    cusparseDpruneCsr2csrByPercentage);
    else if (task_.scalar == krill_rival_float32)
      prune<float>(cusparseSpruneCsr2csrByPercentage_bufferSizeExt, cusparseSpruneCsr2csrNnzByPercentage,
                   cusparseSpruneCsr2csrByPercentage);
    else
      refuse_complex();
  }

 private:
  template <class T, class Size, class Count, class Fill>
  void prune(Size size, Count count, Fill fill) {
    const Operands<T> o(task_);
    const auto call = [&](auto function, auto... last) {
      check(function(handle(), o.rows, o.cols, o.nnz, descriptor_, o.values, o.offsets, o.columns,
                     static_cast<float>(task_.threshold), descriptor_, last...),
            "cusparseXpruneCsr2csrByPercentage");
    };
    if (!workspace_.get()) {
      std::size_t bytes = 0;
      call(size, o.c_values, o.c_offsets, o.c_columns, info_, &bytes);
      workspace_.reserve(bytes);
    }
    int entries = 0;
    call(count, o.c_offsets, &entries, info_, workspace_.get());
    require_count(entries);
    call(fill, o.c_values, o.c_offsets, o.c_columns, info_, workspace_.get());
  }

  pruneInfo_t info_ = nullptr;
};

/// The other routine for the same work, with counts of rows between its two steps.
class Compress final : public Pruning {
 public:
  using Pruning::Pruning;
  void run() override {
    if (task_.scalar == krill_rival_float64)
      compress<double>(cusparseDnnz_compress, cusparseDcsr2csr_compress);
    else if (task_.scalar == krill_rival_float32)
      compress<float>(cusparseSnnz_compress, cusparseScsr2csr_compress);
    else
      refuse_complex();
  }

 private:
  template <class T, class Count, class Fill>
  void compress(Count count, Fill fill) {
    const Operands<T> o(task_);
    const T threshold = static_cast<T>(task_.threshold);
    auto* const counts = static_cast<int*>(workspace_.reserve(static_cast<std::size_t>(o.rows) * sizeof(int)));
    int entries = 0;
    check(count(handle(), o.rows, descriptor_, o.values, o.offsets, counts, &entries, threshold),
          "cusparseXnnz_compress");
    require_count(entries);
    check(fill(handle(), o.rows, o.cols, descriptor_, o.values, o.columns, o.offsets, o.nnz, counts, o.c_values,
               o.c_columns, o.c_offsets, threshold),
          "cusparseXcsr2csr_compress");
  }
};

std::unique_ptr<CusparseWork> make_prune(const Session& session, const KrillRivalTask& task) {
  if (std::string_view(task.algorithm) == "csr2csr_compress") return make_work<Compress>(session, task);
  return make_work<PruneCsr>(session, task);
}

constexpr CusparseEntry entries[] = {
    {"prune", krill_rival_csr, "pruneCsr2csr csr2csr_compress", make_prune},
    {"prune_percentage", krill_rival_csr, "pruneCsr2csrByPercentage", make_work<PruneByPercentage>},
};

}  // namespace

std::span<const CusparseEntry> pruning() { return entries; }

}  // namespace krill::apps::bench::cusparse

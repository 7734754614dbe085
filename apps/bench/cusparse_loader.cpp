// cuSPARSE as the rival on CUDA: opens the module and hands it views of Krill's arrays.
#include <dlfcn.h>
#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <sstream>
#include <utility>

#include "apps/bench/cusparse_interface.hpp"
#include "apps/bench/rival.hpp"
#include "apps/support/module_places.hpp"
#include "sparse/convert/convert.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps::bench {
namespace {

constexpr const char* module_name = "libkrill_bench_cusparse.so";

[[noreturn]] void refuse(const std::string& reason, std::string_view remedy) {
  throw InvalidArgument(fmt::format("--compare cusparse: {}\n  {}", reason, remedy));
}

const KrillRivalModule& open_module() {
  std::string looked;
  for (const auto& place : module_places(module_name)) {
    looked += (looked.empty() ? "" : ", ") + place.parent_path().string();
    if (!std::filesystem::exists(place)) continue;
    void* library = dlopen(place.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!library)
      refuse(
          fmt::format("{} cannot be opened: {}", place.string(), dlerror()),
          "cuSPARSE comes with the CUDA Toolkit; where it lies in a folder of its own, name that in LD_LIBRARY_PATH");
    const auto entry = reinterpret_cast<decltype(&krill_rival_module)>(dlsym(library, krill_rival_entry));
    const KrillRivalModule* module = entry ? entry() : nullptr;
    if (!module || module->interface != krill_rival_interface)
      refuse(fmt::format("{} belongs to another version of krill", place.string()),
             "build both together: cmake --build BUILD --target krill krill_bench_cusparse");
    return *module;
  }
  refuse(fmt::format("{} is missing; looked in {}", module_name, looked),
         "build it where the CUDA Toolkit has cuSPARSE (cmake -D KRILL_BENCH_CUSPARSE=ON), and put it beside the "
         "program; or leave out --compare");
}

const KrillRivalModule& module() {
  static const KrillRivalModule& opened = open_module();
  return opened;
}

void check_rival(int failed, const std::array<char, 512>& message) {
  if (failed) throw Error(message.data());
}

template <class T>
constexpr KrillRivalScalar scalar() {
  if constexpr (is_complex<T>)
    return sizeof(T) == 8 ? krill_rival_complex64 : krill_rival_complex128;
  else
    return sizeof(T) == 4 ? krill_rival_float32 : krill_rival_float64;
}

// What the module gets of a format: a layout and an overload for each that cuSPARSE has.
template <class Matrix>
inline constexpr KrillRivalLayout layout_of = krill_rival_none;
template <class T, class Offset>
inline constexpr KrillRivalLayout layout_of<Csr<T, Offset>> = krill_rival_csr;
template <class T>
inline constexpr KrillRivalLayout layout_of<Coo<T>> = krill_rival_coo;
template <class T>
inline constexpr KrillRivalLayout layout_of<Csc<T>> = krill_rival_csc;
template <class T>
inline constexpr KrillRivalLayout layout_of<Sell<T>> = krill_rival_sell;
template <class T>
inline constexpr KrillRivalLayout layout_of<Bsr<T>> = krill_rival_bsr;
template <class T>
inline constexpr KrillRivalLayout layout_of<BlockedEll<T>> = krill_rival_blocked_ell;

template <class Matrix, class Where>
KrillRivalMatrix rival_view(const Matrix&, const Where&) {
  return {};
}
template <class T, class Offset, class Where>
KrillRivalMatrix rival_view(const Csr<T, Offset>& A, const Where& where) {
  const auto a = A.view(where);
  return {.layout = krill_rival_csr,
          .offset_bytes = sizeof(Offset),
          .rows = a.rows,
          .cols = a.cols,
          .nnz = a.nnz,
          .offsets = a.row_offsets,
          .col_indices = a.col_indices,
          .values = a.values};
}
template <class T, class Where>
KrillRivalMatrix rival_view(const Coo<T>& A, const Where& where) {
  const auto a = A.view(where);
  return {.layout = krill_rival_coo,
          .rows = a.rows,
          .cols = a.cols,
          .nnz = a.nnz,
          .row_indices = a.row_indices,
          .col_indices = a.col_indices,
          .values = a.values};
}

template <class T, class Where>
KrillRivalMatrix rival_view(const Csc<T>& A, const Where& where) {
  const auto a = A.transposed().view(where);
  return {.layout = krill_rival_csc,
          .rows = A.rows(),
          .cols = A.cols(),
          .nnz = a.nnz,
          .offsets = a.row_offsets,
          .row_indices = a.col_indices,
          .values = a.values};
}
template <class T, class Where>
KrillRivalMatrix rival_view(const Sell<T>& A, const Where& where) {
  const auto a = A.view(where);
  return {.layout = krill_rival_sell,
          .offset_bytes = sizeof(std::int64_t),
          .slice_rows = a.slice_rows,
          .rows = a.rows,
          .cols = a.cols,
          .nnz = A.nnz(),
          .stored = A.values().size(),
          .offsets = a.slice_offsets,
          .col_indices = a.col_indices,
          .values = a.values};
}
template <class T, class Where>
KrillRivalMatrix rival_view(const Bsr<T>& A, const Where& where) {
  const auto a = A.view(where);
  return {.layout = krill_rival_bsr,
          .block_dim = a.blocks.row_dim,
          .blocks_column_major = a.blocks.order == BlockOrder::column_major,
          .rows = a.rows,
          .cols = a.cols,
          .nnz = A.nnz(),
          .stored = A.nnz(),
          .offsets = a.row_begins,
          .col_indices = a.col_indices,
          .values = a.values};
}

template <class T, class Where>
KrillRivalMatrix rival_view(const Banded<T>& A, const Where& where) {
  const auto a = A.view(where);
  return {.layout = krill_rival_bands,
          .rows = a.layout.rows,
          .bands = {a.ds, a.dl, a.d, a.du, a.dw},
          .batch = a.layout.batch};
}

template <class T, class Where>
KrillRivalMatrix rival_view(const CsrBatch<T>& A, const Where& where) {
  const auto a = A.view(where);
  return {.layout = krill_rival_csr,
          .rows = a.rows,
          .cols = a.cols,
          .nnz = a.nnz,
          .offsets = a.row_offsets,
          .col_indices = a.col_indices,
          .values = a.values,
          .batch = A.count(),
          .offsets_stride = A.offsets_stride(),
          .values_stride = A.values_stride()};
}

template <class T, class Where>
KrillRivalMatrix rival_view(SparseVector<T>& x, const Where& where) {
  const auto view = x.update(where);
  return {.layout = krill_rival_vector,
          .rows = view.size,
          .nnz = view.nnz,
          .col_indices = view.indices,
          .values = view.values};
}

template <class T, class Where>
KrillRivalMatrix rival_view(const Dense<T>& D, const Where& where) {
  return {.layout = krill_rival_dense, .rows = D.rows(), .cols = D.cols(), .values = D.view(where).values};
}

template <class T, class Where>
KrillRivalMatrix rival_view(const BlockedEll<T>& A, const Where& where) {
  const auto a = A.view(where);
  return {.layout = krill_rival_blocked_ell,
          .block_dim = a.block_dim,
          .ell_cols = a.ell_cols,
          .rows = a.rows,
          .cols = a.cols,
          .nnz = A.nnz(),
          .col_indices = a.col_indices,
          .values = a.values};
}

/// What the task has in the place of A.
template <class T, class Where>
KrillRivalMatrix rival_operand(const Task<T>& task, const Where& where) {
  if (task.bands) return rival_view(*task.bands, where);
  if (task.batch) return rival_view(*task.batch, where);
  if (task.vector) return rival_view(*task.vector, where);
  if (task.stacked)
    return {.layout = krill_rival_basis,
            .rows = task.stacked->rows,
            .cols = task.stacked->columns,
            .values = task.stacked->values,
            .values_stride = task.stacked->stride};
  if (task.half) return task.half->csr ? rival_view(*task.half->csr, where) : rival_view(*task.half->blocks, where);
  return std::visit([&](const auto& a) { return rival_view(a, where); }, *task.A);
}
template <class T>
KrillRivalLayout layout_of_operand(const Task<T>& task) {
  if (task.bands) return krill_rival_bands;
  if (task.batch) return krill_rival_csr;
  if (task.vector) return krill_rival_vector;
  if (task.stacked) return krill_rival_basis;
  if (task.half) return task.half->csr ? krill_rival_csr : krill_rival_blocked_ell;
  return std::visit([]<class Matrix>(const Matrix&) { return layout_of<Matrix>; }, *task.A);
}

/// The result of a conversion from `a`, in the task's arrays.
template <class T, class Where>
KrillRivalMatrix rival_result(const Task<T>& task, const KrillRivalMatrix& a, const Where& where) {
  KrillRivalMatrix out{.rows = a.rows, .cols = a.cols, .nnz = a.nnz};
  if (task.offsets) out.offsets = task.offsets->write(where);
  if (task.indices) out.row_indices = task.indices->write(where);
  if (task.values) out.values = task.values->write(where);
  if (task.kernel == "csr2csc") out.layout = krill_rival_csc;
  if (task.kernel == "csr2coo") out.layout = krill_rival_coo;
  if (task.kernel == "coo2csr") out.layout = krill_rival_csr;
  if (task.B || task.kernel.starts_with("prune")) {
    out.layout = krill_rival_csr, out.nnz = task.values->size();
    out.rows = task.offsets->size() - 1;
    out.col_indices = std::exchange(out.row_indices, nullptr);
  }
  return out;
}

class ModuleRun final : public RivalRun {
 public:
  ModuleRun(void* session, const KrillRivalTask& task) {
    check_rival(module().prepare(session, &task, &run_, message_.data(), message_.size()), message_);
  }
  ~ModuleRun() override { module().destroy(run_); }
  ModuleRun(const ModuleRun&) = delete;
  ModuleRun& operator=(const ModuleRun&) = delete;
  void operator()() override { check_rival(module().run(run_, message_.data(), message_.size()), message_); }
  bool restore() override {
    int restored = 0;
    check_rival(module().restore(run_, &restored, message_.data(), message_.size()), message_);
    return restored != 0;
  }
  std::optional<std::int64_t> workspace() const override {
    const std::int64_t bytes = module().workspace(run_);
    return bytes < 0 ? std::nullopt : std::optional(bytes);
  }

 private:
  void* run_ = nullptr;
  std::array<char, 512> message_{};
};

/// The textbook's loop for a system.
template <class T>
class ModuleSolve final : public SolveRun {
 public:
  ModuleSolve(Context& ctx, void* session, const SolveTask<T>& task)
      : variant_(fmt::format("textbook {}, {}", task.solver, task.preconditioner)) {
    const std::string solver(task.solver), preconditioner(task.preconditioner);
    KrillRivalTask given{.kernel = solver.c_str(), .algorithm = preconditioner.c_str(), .scalar = scalar<T>()};
    given.threshold = task.relative, given.max_iterations = task.max_iterations, given.restart = task.restart;
    given.iterations = &iterations_;
    if (preconditioner == "jacobi") {
      inverse_.emplace(krill::diagonal(ctx, task.A));
      for (T& entry : inverse_->edit()) entry = T(1) / entry;
    }
    ctx.dispatch([&](const auto& where) {
      given.a = std::visit([&](const auto& a) { return rival_view(a, where); }, task.A);
      given.x = task.b.read(where);
      if (inverse_) given.inverse_diagonal = inverse_->read(where);
    });
    run_ = std::make_unique<ModuleRun>(session, given);
  }
  void operator()() override { (*run_)(); }
  std::string variant() const override { return variant_; }
  std::optional<int> iterations() const override {
    if (iterations_ < 0) return {};
    return iterations_;
  }

 private:
  std::string variant_;
  std::optional<Array<T>> inverse_;
  std::int32_t iterations_ = -1;
  std::unique_ptr<ModuleRun> run_;
};

template <class T>
class CusparseRival final : public Rival<T> {
 public:
  explicit CusparseRival(Context& ctx) {
    ctx.dispatch([&](const auto& where) {
      if (const Cuda* cuda = where.cuda()) {
        std::array<char, 512> message{};
        check_rival(module().open(cuda->device, cuda->stream, &session_, message.data(), message.size()), message);
      }
    });
  }
  ~CusparseRival() override { module().close(session_); }
  CusparseRival(const CusparseRival&) = delete;
  CusparseRival& operator=(const CusparseRival&) = delete;

  std::string name() const override { return module().name; }

  std::vector<std::string> algorithms(const Task<T>& task) const override {
    if (task.bands ? task.bands->layout().padded()
                   : !task.A && !task.batch && !task.vector && !task.half && !task.stacked)
      return {};
    if (const auto* blocks = task.half ? task.half->blocks : nullptr)
      if (blocks->rows() % blocks->block_dim() || blocks->cols() % blocks->block_dim()) return {};
    // cuSPARSE multiplies whole blocks: x and y would have to be padded
    if (const auto* bsr = task.A ? std::get_if<Bsr<T>>(task.A) : nullptr)
      if (bsr->rows() % bsr->blocks().row_dim || bsr->cols() % bsr->blocks().col_dim) return {};
    std::istringstream words(module().algorithms(std::string(task.kernel).c_str(), layout_of_operand(task)));
    std::vector<std::string> names;
    for (std::string word; words >> word;) names.push_back(word);
    return names;
  }

  std::unique_ptr<RivalRun> prepare(Context& ctx, const std::string& algorithm, const Task<T>& task) const override {
    const std::string kernel(task.kernel);
    KrillRivalTask given{.kernel = kernel.c_str(), .algorithm = algorithm.c_str(), .scalar = scalar<T>()};
    given.columns = task.columns, given.by_rows = task.by_rows;
    given.x_stride = task.x_stride, given.threshold = task.threshold;
    given.upper = task.triangle.fill == Fill::upper;
    given.unit_diagonal = task.triangle.diagonal == Diagonal::unit;
    ctx.dispatch([&](const auto& where) {
      given.a = rival_operand(task, where);
      if (task.B) given.b = std::visit([&](const auto& b) { return rival_view(b, where); }, *task.B);
      if (task.R) given.c = std::visit([&](const auto& r) { return rival_view(r, where); }, *task.R);
      if (task.D) given.b = rival_view(*task.D, where);
      given.result = rival_result(task, given.a, where);
      if (task.x) given.x = task.x->read(where);
      if (task.y) given.y = task.y->update(where);
      if (task.half) given.half = 1, given.x = task.half->x->read(where), given.y = task.half->y->update(where);
    });
    return std::make_unique<ModuleRun>(session_, given);
  }

  std::unique_ptr<SolveRun> prepare_solve(Context& ctx, const SolveTask<T>& task) const override {
    if (!std::holds_alternative<Csr<T>>(task.A)) return nullptr;
    std::istringstream words(module().algorithms(std::string(task.solver).c_str(), krill_rival_csr));
    for (std::string word; words >> word;)
      if (word == task.preconditioner) return std::make_unique<ModuleSolve<T>>(ctx, session_, task);
    return nullptr;
  }

 private:
  void* session_ = nullptr;
};

}  // namespace

void require_cusparse_module() { module(); }

template <class T>
std::unique_ptr<Rival<T>> make_cusparse_rival(Context& ctx) {
  return std::make_unique<CusparseRival<T>>(ctx);
}

template <class T>
struct CusparseLoaderInstances {
  static constexpr auto list = instance<std::unique_ptr<Rival<T>>(Context&)>(make_cusparse_rival);
};
KRILL_INSTANTIATE(CusparseLoaderInstances);

}  // namespace krill::apps::bench

#include "krill/apps/plan/plan.hpp"

#include <fmt/format.h>

#include <optional>

#include "krill/apps/case/type_name.hpp"
#include "krill/apps/case/with_scalar.hpp"
#include "krill/apps/linear_system.hpp"
#include "krill/apps/plan/memory_model.hpp"
#include "krill/apps/refusal.hpp"
#include "krill/solvers/precond/block_dim.hpp"
#include "krill/sparse/convert/convert.hpp"
#include "krill/sparse/io/host_memory.hpp"
#include "krill/sparse/spmv/automatic.hpp"

namespace krill::apps {
namespace {

using Held = Ledger::Held;

/// The blocks that a preconditioner would take, and A with the zeros that fill them up.
struct Blocks {
  std::int32_t dim = 1;
  std::size_t bsr = 0;
  MatrixSizes filled;
};

template <class T>
Blocks blocks_of(Context& host, const AnyMatrix<T>& A, const PreconditionerOptions& options, bool on_cuda) {
  if (const auto* o = std::get_if<BlockJacobiOptions>(&options))
    return {choose_block_dim(host, o->block_dim, most_block_jacobi_dim, A, 8).dim, 0, {}};
  const int wanted = std::visit(
      [](const auto& o) {
        if constexpr (requires { o.block_dim; })
          return o.block_dim;
        else
          return -1;
      },
      options);
  if (wanted < 0) return {};
  Blocks found{choose_block_dim(host, wanted, largest_block_dim, A).dim, 0, {}};
  const AnyMatrix<T> bsr = with_csr(host, A, [&](const auto& csr) {
    return AnyMatrix<T>(to_bsr(host, csr, Blocking{found.dim, found.dim}));
  });
  found.bsr = bytes(bsr);
  found.filled = count_sizes(host, to_csr(host, bsr), options, on_cuda);
  return found;
}

/// The second form of an automatic product, and the vectors that it is timed with.
template <class T>
std::optional<FormEstimate> second_form(Context& host, const AnyMatrix<T>& A, Format format, bool on_cuda) {
  if (format != Format::automatic) return {};
  FormEstimate form = with_csr(host, A, [&](const auto& csr) { return estimate_form(host, csr, on_cuda); });
  if (form.method == "csr") return {};
  return form;
}

bool is_converted(const Case& c) { return c.format != Format::csr && c.format != Format::automatic; }

/// The run, step by step, as a ledger sees it.
template <class T>
class Rehearsal {
 public:
  /// A: in CSR, with the zeros that the format of the case stores; bytes: of that format.
  Rehearsal(Context& host, MemoryPlan& plan, const AnyMatrix<T>& A, std::size_t bytes,
            const MatrixProperties& properties)
      : host_(host),
        plan_(plan),
        A_(A),
        bytes_(bytes),
        c_(plan.settings),
        ledger_(plan.for_cuda),
        model_(ledger_, plan.for_cuda, host.threads()),
        m_(count_sizes(host, A, c_.preconditioner, plan.for_cuda)) {
    m_.symmetric_pattern = properties.symmetric_pattern;
    plain_ = m_;
    plain_.nnz = properties.nnz;
  }

  void run() {
    ledger_.begin("start");
    Held matrix = model_.csr(plain_), original;
    // To CUDA b and x come when they are first needed.
    const bool manufactured = std::holds_alternative<ManufacturedRhs>(c_.rhs), late = plan_.for_cuda && !manufactured;
    const std::size_t of_vectors = vector() * (manufactured ? 3 : 2);
    Held vectors = ledger_.hold(late ? 0 : of_vectors);
    const Held transformed = model_.transformation(plain_, c_.scaling, c_.ordering, matrix, original);
    if (is_converted(c_)) model_.conversion(plain_, c_.format, bytes_, matrix);
    const Held products = make_products();
    Held preconditioner = make_preconditioner();
    ledger_.begin("solve");
    preconditioner += model_.first_use();
    if (late) vectors = ledger_.hold(of_vectors);
    Held around = ledger_.hold(vector() * vectors_around());
    if (original.bytes() > 0) around += model_.tiles(m_);  // of the products that judge
    const Held solver = model_.solver(c_.solver, m_, !std::holds_alternative<NoPreconditioner>(c_.preconditioner));
    part("matrix", is_converted(c_) ? format_name() : "csr", matrix);
    part("original matrix", "for the residual that decides", original);
    part("products", products_, products);
    part("preconditioner", std::string(type_name(c_.preconditioner)), preconditioner);
    part("solver", std::string(type_name(c_.solver)), solver);
    part("vectors", "b, x and what is known", vectors);
    part("transformation", "factors and orders, vectors of the other system", transformed, around);
    plan_.parts.push_back({"workspace", "of kernels; it stays", ledger_.workspace()});
    for (const auto& each : plan_.parts) plan_.during_solve += each.bytes;
    plan_.peak = ledger_.peak(), plan_.phase_of_peak = ledger_.phase_of_peak();
  }

 private:
  std::size_t vector() const { return m_.n() * m_.scalar; }
  std::string format_name() const { return std::string(format_names[static_cast<std::size_t>(c_.format)]); }

  Held make_products() {
    ledger_.begin("products");
    ledger_.scratch({1});
    if (is_converted(c_)) return model_.products(plain_, c_.format);
    Held kept = model_.tiles(m_);
    if (const auto form = second_form(host_, A_, c_.format, plan_.for_cuda)) {
      const Held timed = ledger_.hold(2 * vector());
      kept += ledger_.hold(form->bytes);
      products_ = form->method + ", a copy, if it is quicker than csr";
    } else {
      products_ = "in place";
    }
    return kept;
  }

  Held make_preconditioner() {
    ledger_.begin("preconditioner");
    const Held entries = is_converted(c_) ? model_.csr_of_format(m_, c_.format, c_.preconditioner) : Held();
    const Blocks blocks = blocks_of(host_, A_, c_.preconditioner, plan_.for_cuda);
    return model_.preconditioner(c_.preconditioner, m_, blocks.filled, blocks.bsr, blocks.dim);
  }

  /// Vectors that a transformed solve keeps beside b and x: those of the other system; with a scaling, a solution and a
  /// residual of the original one.
  std::size_t vectors_around() const {
    if (!std::holds_alternative<NoScaling>(c_.scaling)) return 4;
    return std::holds_alternative<NaturalOrdering>(c_.ordering) ? 0 : 2;
  }

  template <class... Helds>
  void part(const char* name, std::string what, const Helds&... held) {
    if (const std::size_t bytes = (held.bytes() + ...); bytes > 0)
      plan_.parts.push_back({name, std::move(what), bytes});
  }

  Context& host_;
  MemoryPlan& plan_;
  const AnyMatrix<T>& A_;
  std::size_t bytes_;
  const Case& c_;
  Ledger ledger_;
  MemoryModel model_;
  MatrixSizes m_, plain_;  // with the zeros that the format stores, and without
  std::string products_ = "in place";
};

/// The matrix that is solved with: its pattern decides about levels and blocks.
template <class T>
AnyMatrix<T> transformed(Context& host, const Case& c, AnyMatrix<T> A) {
  TransformationReport report;
  Timings timings;
  Transformation<T> made(host, c, A, report, timings);
  std::optional<AnyMatrix<T>> matrix = made.take_matrix();
  return matrix.has_value() ? std::move(*matrix) : std::move(A);
}

template <class T>
void plan_for(MemoryPlan& plan) {
  Context host = Context::host(plan.settings.threads);
  Timings timings;
  SourceMatrix<T> source = load_matrix<T>(host, plan.settings.matrix, timings);
  const MatrixProperties& m = source.properties;
  plan.choices = choose_for(plan.settings, m, plan.for_cuda);
  require_suitable(source.origin.name, plan.settings, source.A, m);
  plan.matrix = fmt::format("{}, {} rows, {} entries", source.origin.name, m.rows, m.nnz);
  constexpr std::size_t triplet = 2 * sizeof(std::int32_t) + sizeof(T);
  plan.reading =
      bytes(source.A) +
      (std::holds_alternative<MatrixFile>(plan.settings.matrix) ? static_cast<std::size_t>(m.nnz) * triplet : 0);
  AnyMatrix<T> A = transformed(host, plan.settings, std::move(source.A));
  std::size_t in_format = bytes(A);
  if (is_converted(plan.settings)) {
    const AnyMatrix<T> other = to_format(host, std::move(A), plan.settings.format, plan.settings.layout);
    in_format = bytes(other);
    A = to_csr(host, other);
  }
  Rehearsal<T>(host, plan, A, in_format, m).run();
}

}  // namespace

MemoryPlan plan_memory(const Case& c) {
  MemoryPlan plan;
  plan.settings = c;
  plan.for_cuda = c.backend == Backend::cuda || (c.backend == Backend::automatic && device::count() > 0);
  with_scalar(resolve_precision(c), [&]<class T>(T) { plan_for<T>(plan); });
  if (!plan.for_cuda)
    plan.free = available_memory();
  else if (c.device < device::count())
    plan.free = device::free_memory(c.device);
  return plan;
}

std::string plan_text(const MemoryPlan& plan) {
  std::string text = fmt::format("{}: {}\nmemory on {}\n\n", plan.settings.name, plan.matrix,
                                 plan.for_cuda ? "the CUDA device" : "the host");
  for (const auto& [key, why] : plan.choices) text += fmt::format("  {}: auto is {}\n", key, why);
  if (!plan.choices.empty()) text += "\n";
  for (const auto& [name, what, bytes] : plan.parts)
    text += fmt::format("  {:<16} {:>10}  {}\n", name, human_bytes(bytes), what);
  text += fmt::format("  {:<16} {:>10}\n", "in the solve", human_bytes(plan.during_solve));
  text += fmt::format("  {:<16} {:>10}  in the {}\n", "peak", human_bytes(plan.peak), plan.phase_of_peak);
  if (plan.free > 0) text += fmt::format("  {:<16} {:>10}  at present\n", "free", human_bytes(plan.free));
  text += fmt::format("  {:<16} {:>10}  on the host, about, while the matrix is read\n", "reading",
                      human_bytes(plan.reading));
  if (plan.free > 0 && plan.peak > plan.free)
    text += fmt::format(
        "\nwarning: the peak is {} more than is free; a preconditioner without factors (jacobi, chebyshev), float32, a "
        "shorter restart or format csr take less\n",
        human_bytes(plan.peak - plan.free));
  return text;
}

nlohmann::ordered_json plan_json(const MemoryPlan& plan) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const auto& [name, what, bytes] : plan.parts)
    parts.push_back({{"name", name}, {"what", what}, {"bytes", bytes}});
  return {{"name", plan.settings.name},
          {"matrix", plan.matrix},
          {"backend", plan.for_cuda ? "cuda" : "host"},
          {"parts", parts},
          {"solve_bytes", plan.during_solve},
          {"peak_bytes", plan.peak},
          {"phase_of_peak", plan.phase_of_peak},
          {"reading_bytes", plan.reading},
          {"free_bytes", plan.free}};
}

}  // namespace krill::apps

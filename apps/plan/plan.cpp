#include "apps/plan/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "apps/case/steps.hpp"
#include "apps/case/with_scalar.hpp"
#include "apps/plan/machine_file.hpp"
#include "apps/report/rank_parts.hpp"
#include "apps/support/exit_code.hpp"
#include "apps/support/terminal.hpp"
#include "apps/system/linear_system.hpp"
#include "apps/system/own_rows.hpp"
#include "apps/system/partition_file.hpp"
#include "solvers/method/refusal.hpp"
#include "solvers/method/type_name.hpp"
#include "solvers/precond/isai_form.hpp"
#include "solvers/precond/preconditioner.hpp"
#include "solvers/solver.hpp"
#include "solvers/system/team_stages.hpp"
#include "sparse/convert/to_format.hpp"
#include "sparse/io/host_memory.hpp"
#include "sparse/spmv/plan.hpp"

namespace krill::apps {
namespace {

bool is_converted(const Case& c) { return c.format != Format::csr && c.format != Format::automatic; }

MemoryTarget target_of(const MemoryPlan& plan, const Context& host) {
  return plan.for_cuda ? MemoryTarget::cuda(plan.settings.device) : MemoryTarget::host(host.threads());
}

/// Of each rank, entries of vectors that come from other hosts or go there, whichever is more. O(nnz log ranks).
template <class T, class Offset>
std::vector<std::int64_t> between_hosts(const Csr<T, Offset>& A, const RowPartition& partition, int ranks_a_host) {
  const auto ranks = static_cast<std::size_t>(partition.ranks());
  std::vector<std::int64_t> come(ranks), go(ranks);
  if (partition.ranks() <= ranks_a_host) return come;
  for (int r = 0; r < partition.ranks(); ++r) {
    const int first = r / ranks_a_host * ranks_a_host, end = std::min(first + ranks_a_host, partition.ranks());
    const std::int64_t begin_row = partition.begin(first), end_row = partition.end(end - 1);
    const RowSlice<T> rows = slice_rows(A, partition.begin(r), partition.end(r));
    std::vector<std::int64_t> ghosts;
    for (std::int64_t i = 0; i < rows.rows(); ++i)
      rows.for_entries(i, [&](std::int64_t column, const T&) {
        if (column < begin_row || column >= end_row) ghosts.push_back(column);
      });
    std::ranges::sort(ghosts);
    ghosts.erase(std::ranges::unique(ghosts).begin(), ghosts.end());
    come[static_cast<std::size_t>(r)] = std::ssize(ghosts);
    for (const std::int64_t row : ghosts) ++go[static_cast<std::size_t>(partition.owner(row))];
  }
  for (std::size_t r = 0; r < ranks; ++r) come[r] = std::max(come[r], go[r]);
  return come;
}

/// A run without its numbers: the steps of a solve in their order, each of which says what it holds.
template <class T>
class Rehearsal {
 public:
  Rehearsal(Context& host, MemoryPlan& plan, int ranks)
      : host_(host), plan_(plan), ranks_(ranks), ledger_(target_of(plan, host)) {}

  /// A: in CSR, as it was read; given: what it was rounded from, which judges on the host. Several right-hand sides,
  /// and their solutions, stay on the host; the one at work is copied. coordinates: of nodes; null: not known.
  void run(AnyMatrix<T> A, const AnyMatrix<wide_t<T>>* given, const MatrixProperties& properties,
           std::int64_t right_hand_sides, const Dense<double>* coordinates) {
    size_ = properties.rows, columns_ = right_hand_sides;
    ledger_.begin("start");
    const bool judged_here = given && !plan_.for_cuda;
    HeldMemory judge = judged_here ? given_memory(*given) : HeldMemory();
    // Devices of ranks never have the whole matrix, hosts only where something looks at all of it.
    const bool has_whole = ranks_ == 1 || (!plan_.for_cuda && !plan_.why_whole.empty());
    HeldMemory matrix = has_whole ? csr(A) : HeldMemory(), original, made;
    // To CUDA b and x come when they are first needed.
    const bool manufactured = std::holds_alternative<ManufacturedRhs>(c_.rhs), late = plan_.for_cuda && !manufactured;
    const std::int64_t of_system = manufactured ? 3 : 2;
    HeldMemory vectors = late ? HeldMemory() : hold_vectors(of_system * columns_);
    ledger_.begin("transformation");
    const HeldMemory transformed =
        Transformation<T>::memory(ledger_, c_, A, properties.symmetric_pattern, made, ranks_);
    HeldMemory source;  // for the steps of a ladder
    const auto set_aside = [&] {
      if (c_.on_failure == OnFailure::ladder && original.bytes() + source.bytes() == 0) source = std::move(matrix);
    };
    if (made.bytes() > 0) {
      scales() ? void(original = std::move(matrix)) : set_aside();
      matrix = std::move(made);
    }
    // The pattern of the matrix that is solved with decides about levels and blocks.
    A = transform(std::move(A));
    const CsrSizes sizes = sizes_of(A);
    if (ranks_ > 1) return share(A, std::move(matrix), std::move(original));
    if (is_converted(c_)) A = convert(std::move(A), sizes, matrix, set_aside);
    const bool has_given = original.bytes() + source.bytes() > 0;
    if (plan_.steps > 1 && !plan_.for_cuda && c_.on_failure == OnFailure::ladder && !has_given)
      source = csr(A);  // values move in a copy
    const HeldMemory products = make_products(A);
    ledger_.begin("preconditioner");
    // CUDA has the matrix when it first reads it: after a factor that the host finds, if nothing has read it before.
    const bool unread = late && c_.format == Format::csr && transformed.bytes() + original.bytes() == 0;
    const bool matrix_late = unread && is_factored_on_host();
    if (matrix_late) matrix = {};
    HeldMemory preconditioner = preconditioner_memory<T>(ledger_, host_, c_.preconditioner, A, coordinates);
    ledger_.begin("solve");
    if (matrix_late) matrix = csr(A);
    preconditioner += ledger_.first_use();
    // For ||A||_F, before b and x come.
    if (stop(c_.solver).baseline == Baseline::backward_error) with_csr_memory(ledger_, host_, A, [](const auto&) {});
    if (late) vectors = hold_vectors(of_system);
    if (!late && columns_ > 1) vectors += hold_vectors(of_system);
    if (judged_here && columns_ > 1) judge += ledger_.hold<wide_t<T>>(size_);
    HeldMemory around = hold_vectors(vectors_around(given != nullptr));
    if (judged_here) judge += ledger_.hold<wide_t<T>>(2 * size_);                       // b - A x, and x
    if (original.bytes() > 0 && !given) around += SpmvPlan<T>::memory(ledger_, sizes);  // of the products that judge
    const bool preconditioned = !std::holds_alternative<NoPreconditioner>(c_.preconditioner);
    const HeldMemory solver = solver_memory<T>(ledger_, host_, c_.solver, A, preconditioned);
    plan_.per_step = basis_per_step(A, preconditioned, solver.bytes());
    HeldMemory next;
    if (plan_.steps > 1) {
      ledger_.begin("next step");
      next = csr(A);
      next += hold_vectors((late ? 0 : of_system * columns_) + columns_);  // with the solution that it starts from
    }
    part("matrix", std::string(name(is_converted(c_) ? c_.format : Format::csr)), matrix);
    part("given system", "in double precision, for the residual that decides", judge);
    part("original matrix", "for the residual that decides", original);
    part("matrix as given", "for the steps of the ladder", source);
    part("products", products_, products);
    part("preconditioner", std::string(type_name(c_.preconditioner)), preconditioner);
    part("solver", std::string(type_name(c_.solver)), solver);
    part("vectors", columns_ == 1 ? "b, x and what is known" : fmt::format("b and x of {} right-hand sides", columns_),
         vectors);
    part("transformation", "factors and orders, vectors of the other system", transformed, around);
    part("next step", "its matrix and vectors, while they are read", next);
    plan_.parts.push_back({"workspace", "of kernels; it stays", ledger_.workspace()});
    for (const auto& each : plan_.parts) plan_.during_solve += each.bytes;
    plan_.peak = ledger_.peak(), plan_.phase_of_peak = ledger_.phase_of_peak();
  }

 private:
  /// The rank whose part costs most.
  void share(const AnyMatrix<T>& A, HeldMemory whole, HeldMemory original) {
    with_csr(host_, A, [&](const auto& csr) {
      const auto partition = partition_ ? *partition_ : RowPartition::by_cost(csr.row_offsets().host(), ranks_);
      plan_.shares = shared_parts(csr, partition);
      const SharedPart largest = *std::ranges::max_element(plan_.shares, {}, &SharedPart::cost);
      const std::int64_t begin = largest.first_row, end = begin + largest.rows;
      AnyMatrix<T> block = columns_of(host_, slice_rows(csr, begin, end), begin, end);
      HeldMemory read;
      if (plan_.for_cuda)
        whole = {}, original = {};
      else if (plan_.why_whole.empty())
        read = csr_memory(ledger_, {static_cast<std::int32_t>(largest.rows), csr.cols(), largest.nnz, sizeof(T),
                                    sizeof(std::int32_t)});
      if (plan_.why_whole.empty())
        plan_.reading = static_cast<std::size_t>(static_cast<double>(plan_.reading) * static_cast<double>(largest.nnz) /
                                                 static_cast<double>(std::max<std::int64_t>(1, csr.nnz())));
      ledger_.begin("products");
      size_ = largest.rows;
      HeldMemory own = this->csr(block), converted;
      if (is_converted(c_)) {
        const CsrSizes sizes = sizes_of(block);
        AnyMatrix<T> made = to_format(host_, std::move(block), c_.format, c_.layout);
        converted = to_format_memory(ledger_, sizes, made, c_.format, c_.layout);
        block = std::move(made);
      }
      const HeldMemory products = make_products(block);
      if (plan_.time && plan_.time->why_not.empty()) predict(csr, partition, block);
      HeldMemory ghosts = ledger_.hold<T>(largest.ghosts + largest.sent + largest.border_nnz);
      ghosts += ledger_.hold<std::int32_t>(largest.border_nnz + 2 * largest.border_rows + largest.sent +
                                           (largest.rows + 31) / 32);
      ledger_.begin("preconditioner");
      const HeldMemory preconditioner = preconditioner_memory<T>(ledger_, host_, c_.preconditioner, block);
      ledger_.begin("solve");
      const HeldMemory vectors = hold_vectors(2);
      const bool preconditioned = !std::holds_alternative<NoPreconditioner>(c_.preconditioner);
      const HeldMemory solver = solver_memory<T>(ledger_, host_, c_.solver, block, preconditioned);
      part("matrix", "all rows, of which each rank has a copy", whole, original);
      part("matrix", "own rows, as they were made or read", read);
      part("own rows", std::string(name(format_of(block))), own, converted);
      part("products", products_, products);
      part("ghosts", "and entries for other ranks, and the border's", ghosts);
      part("preconditioner", std::string(type_name(c_.preconditioner)), preconditioner);
      part("solver", std::string(type_name(c_.solver)), solver);
      part("vectors", "b and x, own rows", vectors);
      plan_.parts.push_back({"workspace", "of kernels; it stays", ledger_.workspace()});
      for (const auto& each : plan_.parts) plan_.during_solve += each.bytes;
      plan_.peak = ledger_.peak(), plan_.phase_of_peak = ledger_.phase_of_peak();
    });
  }

  /// The time of an iteration. Bytes of the block's form for each of its entries are taken to be those of the largest
  /// rank everywhere.
  template <class Offset>
  void predict(const Csr<T, Offset>& A, const RowPartition& partition, const AnyMatrix<T>& block) {
    const double bytes_an_entry =
        nnz(block) > 0 ? static_cast<double>(product_bytes_) / static_cast<double>(nnz(block)) : 0;
    const std::vector<std::int64_t> between = between_hosts(A, partition, plan_.time->machine.extent.ranks_a_host);
    std::vector<RankPart> parts;
    for (std::size_t r = 0; r < plan_.shares.size(); ++r)
      parts.push_back(rank_part(plan_.shares[r], bytes_an_entry, between[r]));
    const auto* isai = std::get_if<IsaiOptions>(&c_.preconditioner);
    const bool is_factored = isai && krill::detail::inverse_form(host_, *isai, A) == InverseForm::factored;
    const bool can_stay = c_.loop == LoopControl::automatic || c_.loop == LoopControl::persistent;
    plan_.time = plan_time(std::move(plan_.time->machine), step_work<T>(c_.solver, c_.preconditioner, is_factored),
                           rank_part({.rows = A.rows(), .nnz = A.nnz()}, bytes_an_entry), parts, can_stay,
                           std::string(type_name(c_.solver)), std::string(type_name(c_.preconditioner)));
  }

  /// Whether the preconditioner is a factor that the host finds from A itself.
  bool is_factored_on_host() const {
    if (is_kept_in_float32(c_.preconditioner)) return false;
    return std::visit(
        [](const auto& o) {
          if constexpr (requires { o.recipe(); }) return o.recipe().drops.has_value();
          return false;
        },
        c_.preconditioner);
  }
  HeldMemory hold_vectors(std::int64_t count) { return ledger_.hold<T>(count * size_); }
  CsrSizes sizes_of(const AnyMatrix<T>& A) {
    return with_csr(host_, A, [](const auto& csr) { return CsrSizes::of(csr); });
  }
  HeldMemory given_memory(const AnyMatrix<wide_t<T>>& A) {
    HeldMemory held = with_csr(host_, A, [&](const auto& csr) { return csr_memory(ledger_, CsrSizes::of(csr)); });
    held += ledger_.hold<wide_t<T>>(columns_ * size_);  // b
    return held;
  }
  HeldMemory csr(const AnyMatrix<T>& A) { return csr_memory(ledger_, sizes_of(A)); }

  AnyMatrix<T> transform(AnyMatrix<T> A) {
    TransformationReport report;
    Transformation<T> made(host_, c_, A, report, ranks_);
    partition_ = made.partition();
    std::optional<AnyMatrix<T>> matrix = made.take_matrix();
    return matrix.has_value() ? std::move(*matrix) : std::move(A);
  }

  /// In the format of the case; `matrix` goes when that is made, unless it is set aside.
  template <class SetAside>
  AnyMatrix<T> convert(AnyMatrix<T> A, const CsrSizes& sizes, HeldMemory& matrix, const SetAside& set_aside) {
    ledger_.begin("conversion");
    AnyMatrix<T> converted = to_format(host_, std::move(A), c_.format, c_.layout);
    HeldMemory made = to_format_memory(ledger_, sizes, converted, c_.format, c_.layout);
    set_aside();
    matrix = std::move(made);
    return converted;
  }

  HeldMemory make_products(const AnyMatrix<T>& A) {
    ledger_.begin("products");
    SpmvReport report;
    HeldMemory kept = SpmvPlan<T>::memory(
        ledger_, host_, A, c_.format == Format::automatic ? SpmvMethod::automatic : SpmvMethod::in_place, &report);
    product_bytes_ = report.bytes;
    if (report.method != name(format_of(A))) products_ = report.method + ", a copy, if it is quicker than csr";
    return kept;
  }

  std::size_t basis_per_step(const AnyMatrix<T>& A, bool preconditioned, std::size_t all) {
    const int restart = std::min(restart_of(c_.solver).value_or(0), krill::rows(A));
    if (restart < 2) return 0;
    SolverOptions shortest = c_.solver;
    std::visit(
        []<class Options>(Options& o) {
          if constexpr (requires { o.restart; }) o.restart = 1;
        },
        shortest);
    MemoryLedger apart(target_of(plan_, host_));
    const HeldMemory one = solver_memory<T>(apart, host_, shortest, A, preconditioned);
    return (all - one.bytes()) / static_cast<std::size_t>(restart - 1);
  }

  /// Whether norms change, so that the original matrix judges.
  bool scales() const {
    return !std::holds_alternative<NoScaling>(c_.scaling) || !std::holds_alternative<NoMatching>(c_.matching);
  }
  /// Vectors that a transformed solve keeps beside b and x: those of the other system; with a scaling, a solution and a
  /// residual of the original one.
  std::int64_t vectors_around(bool is_rounded) const {
    if (is_rounded) return 3;
    if (scales()) return 4;
    return std::holds_alternative<NaturalOrdering>(c_.ordering) ? 0 : 2;
  }

  template <class... Helds>
  void part(const char* name, std::string what, const Helds&... held) {
    if (const std::size_t bytes = (held.bytes() + ...); bytes > 0)
      plan_.parts.push_back({name, std::move(what), bytes});
  }

  Context& host_;
  MemoryPlan& plan_;
  int ranks_;
  const Case& c_ = plan_.settings;
  MemoryLedger ledger_;
  std::int64_t size_ = 0, columns_ = 1;
  std::string products_ = "in place";
  std::optional<RowPartition> partition_;  // of ranks, other than by cost
  std::size_t product_bytes_ = 0;          // of the matrix that they move
};

template <class T>
void plan_for(MemoryPlan& plan, int ranks) {
  Context host = Context::host(plan.settings.threads);
  Timings timings;
  SourceMatrix<T> source = load_matrix<T>(host, plan.settings.matrix, timings);
  const MatrixProperties& m = source.properties;
  plan.choices = choose_method(plan.settings, source, plan.for_cuda);
  if (ranks > 1) {
    SolveFacts facts;
    facts.choices = plan.choices;
    require_shareable(plan.settings, facts);
    plan.notes = facts.notes;
    plan.settings.partition = partition_of(plan.settings.parallel.partition, m.rows, ranks);
    SolveRecord record;
    record.settings = plan.settings, record.precision = resolve_precision(plan.settings);
    plan.why_whole = why_whole(record, &m);
  }
  if (std::holds_alternative<DirectOptions>(plan.settings.solver)) plan.for_cuda = false;
  plan.matrix = fmt::format("{}, {} rows, {} entries", source.origin.name, m.rows, m.nnz);
  constexpr std::size_t triplet = 2 * sizeof(std::int32_t) + sizeof(wide_t<T>);
  plan.reading = (source.given ? bytes(*source.given) : bytes(source.A)) +
                 (file_of(plan.settings.matrix) ? static_cast<std::size_t>(m.nnz) * triplet : 0);
  const std::int64_t columns = source.systems > 0 ? 1 : count_rhs(plan.settings, source.rhs ? source.rhs->cols : 0);
  Rehearsal<T>(host, plan, ranks).run(std::move(source.A), source.given.get(), m, columns, source.coordinates.get());
}

TimePlan begin_time_plan(const std::string& machine_file, bool for_cuda, int ranks) {
  const std::string file = machine_file.empty() ? shipped_machine(for_cuda) : machine_file;
  if (file.empty())
    return {{}, ranks, {}, {}, "no machine that times are predicted for lies beside the program: say --machine FILE"};
  Machine machine = read_machine(file);
  const MachineBackend wanted = for_cuda ? MachineBackend::cuda : MachineBackend::host;
  if (machine.backend != wanted)
    throw InvalidArgument(
        fmt::format("--machine {0}: it has backend {1}, and the case is solved on {2}; say --backend "
                    "{1}, or take a machine of backend {2}",
                    file, machine_backend_names[static_cast<std::size_t>(machine.backend)],
                    machine_backend_names[static_cast<std::size_t>(wanted)]));
  return {std::move(machine), ranks, {}, {}, {}};
}

}  // namespace

MemoryPlan plan_memory(const Case& c, int ranks, const std::string& machine) {
  MemoryPlan plan;
  plan.settings = c;
  if (step_options(c.sequence)) {
    const CaseSteps steps(c);
    plan.settings = steps.at(0), plan.steps = steps.count();
  }
  plan.for_cuda = c.backend == Backend::cuda || (c.backend == Backend::automatic && device::count() > 0);
  if (ranks > 1) plan.time = begin_time_plan(machine, plan.for_cuda, ranks);
  with_scalar(resolve_precision(plan.settings), [&]<class T>(T) { plan_for<T>(plan, ranks); });
  if (!plan.for_cuda)
    plan.free = available_memory();
  else if (c.device < device::count())
    plan.free = device::free_memory(c.device);
  return plan;
}

std::string plan_text(const MemoryPlan& plan) {
  std::string text = fmt::format("{}: {}{}\nmemory on {}\n\n", plan.settings.name, plan.matrix,
                                 plan.steps > 1 ? fmt::format(", the first of {} steps", plan.steps) : "",
                                 plan.for_cuda ? "the CUDA device" : "the host");
  if (!plan.shares.empty())
    text +=
        wrapped(fmt::format("of the largest of {} ranks, of {}; {}", plan.shares.size(), parts_text(plan.shares),
                            plan.why_whole.empty() ? "each makes or reads its own rows"
                                                   : "each has on its host all that is read, for " + plan.why_whole),
                0) +
        "\n\n";
  for (const auto& [key, why] : plan.choices)
    text += fmt::format("  {}\n", wrapped(fmt::format("{}: auto is {}", key, why), 4));
  for (const std::string& note : plan.notes) text += fmt::format("  {}\n", wrapped(note, 4));
  if (!plan.choices.empty()) text += "\n";
  for (const auto& [name, what, bytes] : plan.parts)
    text += fmt::format("  {:<16} {:>10}  {}\n", name, human_bytes(bytes), what);
  text += fmt::format("  {:<16} {:>10}\n", "in the solve", human_bytes(plan.during_solve));
  text += fmt::format("  {:<16} {:>10}  in the {}\n", "peak", human_bytes(plan.peak), plan.phase_of_peak);
  if (plan.free > 0) text += fmt::format("  {:<16} {:>10}  at present\n", "free", human_bytes(plan.free));
  text += fmt::format("  {:<16} {:>10}  on the host, about, while the matrix is read\n", "reading",
                      human_bytes(plan.reading));
  if (plan.time) text += "\n" + time_text(*plan.time);
  return text;
}

std::string lack_of_memory(const MemoryPlan& plan) {
  if (plan.free == 0 || plan.peak <= plan.free) return {};
  const std::size_t missing = plan.peak - plan.free;
  std::string text = fmt::format("the peak of {}, in the {}, is {} more than is free on {}: ", human_bytes(plan.peak),
                                 plan.phase_of_peak, human_bytes(missing),
                                 plan.for_cuda ? fmt::format("CUDA device {}", plan.settings.device) : "the host");
  if (plan.per_step > 0 && plan.phase_of_peak == "solve") {
    const std::int64_t fits =
        *restart_of(plan.settings.solver) - static_cast<std::int64_t>((missing + plan.per_step - 1) / plan.per_step);
    text += fits > 0 ? fmt::format("set solver.restart: {}, or less, or ", fits) : "set ";
    text += "solver.basis_precision: float32 or float16, or take a solver without a basis (bicgstab)";
  } else if (std::holds_alternative<DirectOptions>(plan.settings.solver)) {
    text += "an iterative solver or precision float32 take less";
  } else {
    text += "a preconditioner without factors (jacobi, chebyshev), precision float32 or format csr take less";
  }
  return text;
}

nlohmann::ordered_json plan_json(const MemoryPlan& plan) {
  nlohmann::ordered_json parts = nlohmann::ordered_json::array();
  for (const auto& [name, what, bytes] : plan.parts)
    parts.push_back({{"name", name}, {"what", what}, {"bytes", bytes}});
  nlohmann::ordered_json object{{"name", plan.settings.name},
                                {"matrix", plan.matrix},
                                {"steps", plan.steps},
                                {"backend", plan.for_cuda ? "cuda" : "host"},
                                {"parts", parts},
                                {"solve_bytes", plan.during_solve},
                                {"peak_bytes", plan.peak},
                                {"phase_of_peak", plan.phase_of_peak},
                                {"reading_bytes", plan.reading},
                                {"free_bytes", plan.free}};
  if (!plan.shares.empty()) {
    nlohmann::ordered_json shares = nlohmann::ordered_json::array();
    const Precision precision = resolve_precision(plan.settings);
    for (const SharedPart& share : plan.shares) shares.push_back(part_json(share, precision));
    object["matrix_of_ranks"] = plan.why_whole.empty() ? "own rows" : "whole";
    object["notes"] = plan.notes, object["ranks"] = std::move(shares), object["imbalance"] = imbalance(plan.shares);
  }
  if (plan.time) object["time"] = time_json(*plan.time);
  if (const std::string lack = lack_of_memory(plan); !lack.empty())
    object["error"] = lack, object["exit_code"] = static_cast<int>(bad_environment);
  return object;
}

}  // namespace krill::apps

#include "apps/plan/iteration_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "solvers/gmres.hpp"
#include "solvers/precond/application_work.hpp"
#include "solvers/work.hpp"
#include "sparse/core/instantiate.hpp"

namespace krill::apps {
namespace {

/// What work.hpp does not say of a solver: how many kernels and sums a step has beside products and M.
struct StepShape {
  int cycle = 1;  ///< steps after which it begins anew
  double kernels = 0, sums = 0;
  double kept_vectors = 0;     ///< that the next step reads again, where M r is r itself
  double applied_vectors = 1;  ///< for what M makes
  double barriers = 0;
  bool takes_dot = false;  ///< M's application is followed by a sum over r and z
};

template <class Options>
std::optional<StepShape> shape_of(const Options&) {
  return {};
}
/// direction and update, or one pass for all. x, r, p, q.
std::optional<StepShape> shape_of(const PcgOptions& o) {
  if (o.method == PcgMethod::classic) return StepShape{1, 2, 2, 4, 1, 2, true};
  return StepShape{std::max(1, o.replacement), 1, 2, 5, 1, 0, true};
}
/// A pass for the dots more.
std::optional<StepShape> shape_of(const FcgOptions&) { return StepShape{1, 3, 3, 4}; }
std::optional<StepShape> shape_of(const RichardsonOptions&) { return StepShape{1, 1, 1, 3}; }
/// direction, half and update. x, r, r0, p, v, t.
std::optional<StepShape> shape_of(const BicgstabOptions&) { return StepShape{1, 3, 3, 6, 2, 4.5}; }
/// Dots and update of a step, and some nine kernels that begin and end a cycle, in every body of the loop though not
/// due. Half of the basis in the mean.
std::optional<StepShape> basis_shape(int restart, Orthogonalization orthogonalization, double kept) {
  constexpr int steps_of_body = 8;
  constexpr double around = 9;
  const int bodies = (restart + steps_of_body - 1) / steps_of_body;
  const double cycle = restart, sweeps = orthogonalization == Orthogonalization::cgs2 ? 2 : 1;
  return StepShape{restart, 2 * sweeps + kept + around * bodies / cycle, 2 * sweeps + 2 / cycle,
                   (1 + kept) * cycle / 2 + 3};
}
std::optional<StepShape> shape_of(const GmresOptions& o) { return basis_shape(o.restart, o.orthogonalization, 0); }
std::optional<StepShape> shape_of(const FgmresOptions& o) { return basis_shape(o.restart, o.orthogonalization, 1); }

/// One application of a preconditioner; bytes are of a row.
struct Application {
  ApplicationWork work = {};  ///< of one row
  double kernels = 0, kept_vectors = 0;
  double inverse_products = 0, inverse_share = 0;
  double dots_on_ranks = 0;  ///< passes in which several ranks take r'z, where one has it of a product
};
template <class T, class Options>
std::optional<Application> application_of(const Options&, bool) {
  return {};
}
template <class T>
std::optional<Application> application_of(const NoPreconditioner&, bool) {
  return Application{};
}
template <class T>
std::optional<Application> application_of(const JacobiOptions&, bool) {
  return Application{{jacobi_work<T>(1)}, 1, 1};
}
template <class T>
std::optional<Application> application_of(const ChebyshevOptions& o, bool) {
  ApplicationWork work = chebyshev_work<T>(1, o.degree);
  work.own.bytes -= 2 * work.products * sizeof(T);  // of the vectors of its products
  return Application{work, 1 + work.products, 3};
}
template <class T>
std::optional<Application> application_of(const IsaiOptions&, bool is_factored) {
  const double factors = is_factored ? 2 : 1;
  return Application{{}, 0, factors - 1, factors, 1 / factors, 1};
}

/// What bytes and products take, in us, where so many ranks share a host's memory.
class Rates {
 public:
  Rates(const Machine& m, double resident_bytes, double ranks_of_host)
      : row_us_(m.products.row_ps.value * 1e-6 * ranks_of_host),
        entry_us_(m.products.entry_ps.value * 1e-6 * ranks_of_host) {
    const double cache = m.memory.cache_mb.value * 1e6 / ranks_of_host;
    const double kept = cache > 0 ? std::clamp(2 - resident_bytes / cache, 0.0, 1.0) : 0;
    byte_us_ = ranks_of_host * (kept / (1e3 * m.memory.cache_gb_s.value) + (1 - kept) / (1e3 * m.memory.gb_s.value));
  }
  double move(double bytes) const { return bytes * byte_us_; }
  double product(double rows, double entries, double bytes) const {
    return std::max(move(bytes), rows * row_us_ + entries * entry_us_);
  }

 private:
  double row_us_, entry_us_, byte_us_ = 0;
};

double halo_us(const Machine& m, const RankPart& part, double value_bytes) {
  if (part.exchanged == 0) return 0;
  const double inside =
      m.link.latency_us.value + (part.exchanged - part.between_hosts) * value_bytes / (1e3 * m.link.gb_s.value);
  if (part.between_hosts == 0) return inside;
  return std::max(inside, m.network.latency_us.value + part.between_hosts * value_bytes / (1e3 * m.network.gb_s.value));
}

}  // namespace

template <class T>
std::optional<StepWork> step_work(const SolverOptions& solver, const PreconditionerOptions& preconditioner,
                                  bool is_factored) {
  const auto shape = std::visit([](const auto& o) { return shape_of(o); }, solver);
  const auto M = std::visit([&](const auto& o) { return application_of<T>(o, is_factored); }, preconditioner);
  if (!shape || !M) return {};
  const SolveWork work = work_of(solver, shape->cycle);
  const double steps = shape->cycle, applications = work.applications / steps, own_products = work.products / steps;
  const bool is_identity = std::holds_alternative<NoPreconditioner>(preconditioner);
  StepWork step;
  step.value_bytes = sizeof(T);
  step.products = own_products + applications * M->work.products;
  step.inverse_products = applications * M->inverse_products, step.inverse_share = M->inverse_share;
  const double vectors = (work.vectors_of<T>() + (is_identity ? 0 : work.apart)) / steps - 2 * own_products;
  step.vector_bytes = vectors * sizeof(T) + applications * M->work.own.bytes;
  step.kept_bytes = sizeof(T) * (shape->kept_vectors + (is_identity ? 0 : shape->applied_vectors + M->kept_vectors));
  step.kernels = shape->kernels + applications * M->kernels;
  step.sums = shape->sums;
  const bool takes_dot = shape->takes_dot && !is_identity;
  step.sums += takes_dot ? 1 : 0;
  step.barriers = shape->barriers > 0 ? shape->barriers + step.products - own_products + step.inverse_products : 0;
  step.passes_on_ranks = takes_dot ? M->dots_on_ranks : 0;
  step.bytes_on_ranks = 2 * sizeof(T) * step.passes_on_ranks;
  return step;
}

int hosts_of(const Machine& m, int ranks) { return (ranks + m.extent.ranks_a_host - 1) / m.extent.ranks_a_host; }

double sum_us(const Machine& m, int ranks) {
  const std::array<double, 4> of_power{0, m.link.sum_2_us.value, m.link.sum_4_us.value, m.link.sum_8_us.value};
  const double doublings = std::log2(static_cast<double>(std::min(ranks, m.extent.ranks_a_host)));
  const auto below = std::min<std::size_t>(static_cast<std::size_t>(doublings), of_power.size() - 2);
  const double inside =
      of_power[below] + (doublings - static_cast<double>(below)) * (of_power[below + 1] - of_power[below]);
  const int hosts = hosts_of(m, ranks);
  if (hosts == 1) return inside;
  return inside + m.network.sum_us.value + m.network.sum_doubling_us.value * std::log2(static_cast<double>(hosts));
}

StepTime step_time(const Machine& m, const StepWork& work, const RankPart& part, int ranks, bool can_stay_in_kernel) {
  const double start = m.kernels.start_us.value, vectors = 2 * part.rows * work.value_bytes;
  const double inverse_entries = work.inverse_share * part.entries + (work.inverse_share < 1 ? part.rows / 2 : 0);
  const double entry_bytes = work.value_bytes + 4;
  const double inverse_bytes = inverse_entries * entry_bytes + 4 * part.rows;
  const double kept = part.rows * work.kept_bytes + part.matrix_bytes + work.inverse_products * inverse_bytes;
  const double share = m.backend == MachineBackend::host ? std::min(ranks, m.extent.ranks_a_host) : 1;
  const Rates rates(m, kept, share);
  const double product = rates.product(part.rows, part.entries, part.matrix_bytes + vectors);
  const double inverse_product = rates.product(part.rows, inverse_entries, inverse_bytes + vectors);
  const double all_products = work.products + work.inverse_products;
  StepTime t;
  t.products = work.products * product + work.inverse_products * inverse_product;
  t.vectors = rates.move(part.rows * work.vector_bytes);
  t.fixed = (work.kernels + all_products) * start;
  if (ranks == 1) {
    const double csr = part.entries * entry_bytes + 4 * part.rows;
    t.in_one_kernel = can_stay_in_kernel && work.barriers > 0 && csr <= 1e6 * m.kernels.resident_mb.value;
    if (t.in_one_kernel) t.fixed = work.barriers * m.kernels.barrier_us.value;
    return t;
  }
  const double border = rates.move(part.border_entries * entry_bytes + 3 * part.border_rows * work.value_bytes);
  t.border = all_products * (start + border);
  const double halo = halo_us(m, part, work.value_bytes);
  t.halo = work.products * std::max(0.0, halo - product - start) +
           work.inverse_products * std::max(0.0, halo - inverse_product - start);
  t.vectors += rates.move(part.rows * work.bytes_on_ranks);
  t.sums = work.sums * sum_us(m, ranks);
  t.fixed += work.passes_on_ranks * start + all_products * m.kernels.fork_us.value;
  if (hosts_of(m, ranks) > 1) t.fixed += m.network.step_us.value;
  return t;
}

template <class T>
struct StepWorkInstances {
  static constexpr std::tuple list{
      instance<std::optional<StepWork>(const SolverOptions&, const PreconditionerOptions&, bool)>(step_work<T>)};
};
KRILL_INSTANTIATE(StepWorkInstances);

}  // namespace krill::apps

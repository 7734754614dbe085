#include "solvers/precond/preconditioner.hpp"

#include <fmt/format.h>

#include "solvers/operator.hpp"
#include "solvers/precond/lower_precision.hpp"
#include "solvers/precond/make.hpp"

namespace krill {

template <class T>
MadePreconditioner<T> make(Context&, const NoPreconditioner&, const PreconditionerInput<T>&) {
  return std::make_unique<Identity<T>>();
}

template <class T>
MadePreconditioner<T> make(Context&, const AutoPreconditioner&, const PreconditionerInput<T>&) {
  throw InvalidArgument("preconditioner auto: nobody has chosen a preconditioner; name one");
}

void refuse_pattern(std::string_view type) {
  throw InvalidArgument(
      fmt::format("preconditioner {}: the new values have another pattern, or row offsets of another "
                  "width, than those that it was made of: make it anew",
                  type));
}

template <class T>
HeldMemory memory(MemoryLedger&, Context&, const NoPreconditioner&, const PreconditionerInput<T>&) {
  return {};
}

template <class T>
HeldMemory memory(MemoryLedger&, Context&, const AutoPreconditioner&, const PreconditionerInput<T>&) {
  throw InvalidArgument("preconditioner auto: nobody has chosen a preconditioner; name one");
}

void refuse_row(std::string_view type, std::int64_t row, std::string_view what, std::string_view remedy,
                std::int32_t block_dim) {
  const std::string block =
      block_dim > 1 ? fmt::format(", block row {} of {} rows each", row / block_dim, block_dim) : "";
  throw InvalidArgument(
      fmt::format("preconditioner {}: {} in row {}{} (rows count from 0): {}", type, what, row, block, remedy));
}

template <class T>
std::unique_ptr<Preconditioner<T>> make_preconditioner(Context& ctx, const PreconditionerOptions& options,
                                                       const AnyMatrix<T>& A, const Operator<T>* products,
                                                       const Dense<double>* coordinates) {
  return std::visit(
      [&](const auto& o) -> MadePreconditioner<T> {
        if constexpr (sizeof(real_t<T>) > sizeof(float))
          if (is_kept_in_float32(o))
            return make_in_lower_precision<T>(
                ctx, o.type, A, products, o.multiplies_with_matrix,
                [&](const AnyMatrix<lower_t<T>>& low, const Operator<lower_t<T>>* low_products) {
                  return make(ctx, o, PreconditionerInput<lower_t<T>>{low, low_products, coordinates});
                });
        return make(ctx, o, PreconditionerInput<T>{A, products, coordinates});
      },
      options);
}

template <class T>
HeldMemory preconditioner_memory(MemoryLedger& ledger, Context& host, const PreconditionerOptions& options,
                                 const AnyMatrix<T>& A, const Dense<double>* coordinates, bool with_products) {
  const MatrixOperator<T> products(A);
  return std::visit(
      [&](const auto& o) {
        if constexpr (sizeof(real_t<T>) > sizeof(float))
          if (is_kept_in_float32(o))
            return memory_in_lower_precision<T>(
                ledger, host, o.type, A, o.multiplies_with_matrix, [&](const AnyMatrix<lower_t<T>>& low) {
                  return memory(ledger, host, o, PreconditionerInput<lower_t<T>>{low, nullptr, coordinates});
                });
        return memory(ledger, host, o, PreconditionerInput<T>{A, with_products ? &products : nullptr, coordinates});
      },
      options);
}

std::int32_t block_dim_of(const PreconditionerOptions& given) {
  return std::visit(
      []<class Options>(const Options& o) -> std::int32_t {
        if constexpr (std::is_same_v<Options, AmgOptions>)
          return o.near_null_space.block_dim;
        else if constexpr (requires { o.block_dim; })
          return o.block_dim > 0 ? o.block_dim : 1;
        else
          return 1;
      },
      innermost(given));
}

template <class T>
struct PreconditionerInstances {
  static constexpr std::tuple list{
      instance<std::unique_ptr<Preconditioner<T>>(Context&, const PreconditionerOptions&, const AnyMatrix<T>&,
                                                  const Operator<T>*, const Dense<double>*)>(make_preconditioner),
      instance<HeldMemory(MemoryLedger&, Context&, const PreconditionerOptions&, const AnyMatrix<T>&,
                          const Dense<double>*, bool)>(preconditioner_memory)};
};
KRILL_INSTANTIATE(PreconditionerInstances);

}  // namespace krill

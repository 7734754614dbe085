// What the header of a preconditioner declares: its options, the facts that other parts ask for, its maker, and
// `memory`, which predicts the bytes that it takes. A preconditioner without any of these does not compile.
#pragma once
#include <concepts>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "solvers/precond/kept_precision.hpp"
#include "sparse/core/memory_ledger.hpp"

namespace krill {

class Context;
template <class T>
class Preconditioner;

/// What a preconditioner is made of; solvers/precond/preconditioner.hpp has its members.
template <class T>
struct PreconditionerInput;
template <class T>
using MadePreconditioner = std::unique_ptr<Preconditioner<T>>;

/// Whether M is Hermitian positive definite where A is. If that depends on an option: its key, its value, and the
/// values for which it holds.
struct PcgFit {
  bool holds = false;
  std::string_view key{}, value{}, expected{};
};

/// Options that do not go together: the path of keys to one of them, and the message.
struct OptionConflict {
  std::vector<std::string_view> key{};
  std::string message{};
};

/// Options of a preconditioner, with the facts that other parts ask for.
template <class Options>
concept PreconditionerDescriptor = requires(const Options& o) {
  { o.type } -> std::convertible_to<std::string_view>;
  { o.doc } -> std::convertible_to<std::string_view>;
  { o.solves_triangles } -> std::convertible_to<bool>;        // so that a color ordering pays
  { o.multiplies_with_matrix } -> std::convertible_to<bool>;  // so A has to outlive it
  { o.precision } -> std::convertible_to<KeptPrecision>;
  { o.suits_pcg() } -> std::same_as<PcgFit>;
  { o.conflict() } -> std::same_as<OptionConflict>;
};

}  // namespace krill

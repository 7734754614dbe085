// What users call the alternative that a variant of options holds.
#pragma once
#include <string_view>
#include <variant>

namespace krill {

template <class... Options>
constexpr std::string_view type_name(const std::variant<Options...>& options) {
  return std::visit([](const auto& o) { return o.type; }, options);
}

}  // namespace krill

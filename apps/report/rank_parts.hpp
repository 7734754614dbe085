// What each rank of a team has of the rows, for people and for machines.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "apps/case/case.hpp"
#include "sparse/parallel/distributed.hpp"

namespace krill::apps {

/// With the bytes that it sends for a product.
nlohmann::ordered_json part_json(const SharedPart&, Precision);

/// "2496 to 2528 rows with 200 ghosts at most, imbalance 1.01". Part: SharedPart, or what has more to tell; one at
/// least.
std::string parts_text(const std::vector<SharedPart>&);
template <class Part>
std::string parts_text(const std::vector<Part>& parts) {
  return parts_text(std::vector<SharedPart>(parts.begin(), parts.end()));
}

}  // namespace krill::apps

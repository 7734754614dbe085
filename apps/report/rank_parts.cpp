#include "apps/report/rank_parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/case/with_scalar.hpp"

namespace krill::apps {

nlohmann::ordered_json part_json(const SharedPart& part, Precision precision) {
  const auto scalar_bytes = with_scalar(precision, []<class T>(T) { return std::int64_t{sizeof(T)}; });
  return {{"first_row", part.first_row},
          {"rows", part.rows},
          {"entries", part.nnz},
          {"ghosts", part.ghosts},
          {"sent", part.sent},
          {"sent_bytes", scalar_bytes * part.sent},
          {"border_rows", part.border_rows},
          {"border_entries", part.border_nnz},
          {"neighbors", part.neighbors}};
}

std::string parts_text(const std::vector<SharedPart>& parts) {
  const auto [fewest, most] = std::ranges::minmax(parts, {}, &SharedPart::rows);
  return fmt::format("{} to {} rows with {} ghosts at most, imbalance {:.2f}", fewest.rows, most.rows,
                     std::ranges::max(parts, {}, &SharedPart::ghosts).ghosts, imbalance(parts));
}

}  // namespace krill::apps

// What is known of a matrix, as JSON.
#pragma once
#include <nlohmann/json_fwd.hpp>

#include "sparse/io/analyze.hpp"
#include "sparse/io/triplets.hpp"

namespace krill::apps {

/// Rows and columns count from 0; null stands for "there is none" and for figures that are not finite.
nlohmann::ordered_json matrix_json(const MatrixProperties&);
nlohmann::ordered_json canonical_json(const CanonicalReport&);

}  // namespace krill::apps

// Who tries a sample.
#pragma once

namespace krill::apps {

/// bench measures products and solves with some samples, and conversions to some.
enum SampleUse : unsigned { in_verify = 1, in_bench = 2, in_tests = 4, everywhere = 7, in_conversions = 8 };

}  // namespace krill::apps

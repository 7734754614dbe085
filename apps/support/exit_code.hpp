// How the program ends.
#pragma once

namespace krill::apps {

/// Exit codes of the program.
enum ExitCode {
  success = 0,          ///< done; a solve converged, and passed verification where asked
  not_converged = 1,    ///< a solve ran and did not converge, or failed verification
  bad_input = 2,        ///< bad usage, case or input
  bad_environment = 3,  ///< no device, out of memory, a disk that takes no more
};

}  // namespace krill::apps

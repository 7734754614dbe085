// What is said of a verification: on the terminal, in verification.json and in a plot.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "apps/case/case.hpp"
#include "apps/support/terminal.hpp"
#include "apps/verify/ledger.hpp"
#include "sparse/core/device.hpp"

namespace krill::apps::verify {

/// One run of `krill verify`.
struct VerifyResult {
  std::string name;              ///< of the case, or "all"
  std::optional<Case> settings;  ///< nothing for the gallery
  Precision precision = Precision::automatic;
  std::optional<DeviceInfo> device;  ///< nothing on the host
  int threads = 1;                   ///< of each rank
  int ranks = 1;                     ///< processes that share the case
  std::string started_at;
  double seconds = 0;
  std::string ended_early;  ///< why; empty where all checks were made
  Ledger ledger;
};

/// 0: no check has failed; 1.
int exit_code(const VerifyResult&);

/// The head of the table of checks of a group, and a line of it.
std::string check_head();
std::string check_line(const Check&, const Paint& = {});
/// A check that has failed, in detail: the first wrong entry and the bound.
std::string failure_text(const Check&, const Paint& = {});

/// A line for each group, and below it its worst check.
std::string group_table(const Ledger&);
/// "PASS: 120 checks ..., 3 not checked".
std::string verdict_line(const VerifyResult&, const Paint& = {});

/// docs/verifying.md says what it holds. Of the gallery only groups, failures and what was not checked are listed.
nlohmann::ordered_json verification_json(const VerifyResult&);

/// The residual curves of a case side by side, for gnuplot; empty where there are none.
std::string curves_script(const VerifyResult&);

}  // namespace krill::apps::verify

// The checks of a verification: what was checked, and what came of it.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/verify/comparison.hpp"
#include "sparse/core/error.hpp"
#include "sparse/core/stopwatch.hpp"

namespace krill::apps::verify {

/// "PASS", "FAIL", "not checked".
std::string_view verdict_name(Verdict);

/// One kernel in one way of running it.
struct Check {
  std::string group;       ///< "products"
  std::string name;        ///< "spmv csr, adjoint"
  std::string subject;     ///< "poisson2d, float64"
  std::string_view bound;  ///< the tolerance and where it comes from, a sentence
  Comparison result;
  double ms = 0;  ///< kernel, reference and comparison together
};

/// The residuals of one solve, relative to the baseline, after 0, 1, ... iterations.
struct Curves {
  std::string name, subject;
  double target = 0;
  std::vector<double> backend;
  std::vector<double> host;      ///< of the host backend with one thread; empty where that was not asked
  std::vector<double> textbook;  ///< of a loop on Eigen
};

/// Runs checks and keeps them in their order.
class Ledger {
 public:
  /// `watch` sees every check as it ends; it may throw to end the verification.
  explicit Ledger(std::function<void(const Check&)> watch = {}) : watch_(std::move(watch)) {}

  /// What the checks from here on are about.
  void about(std::string group, std::string subject) {
    group_ = std::move(group), subject_ = std::move(subject);
    current_ = "the beginning";
  }

  /// Notes what `work` finds. An Error that it raises is a failure of the check, but for those that make all others
  /// vain: a lack of memory, and errors of CUDA, after which a device answers nothing.
  template <class Work>
  void check(std::string name, std::string_view bound, Work&& work) {
    const Stopwatch watch;
    current_ = std::move(name);
    Check made{group_, current_, subject_, bound, {}, 0};
    try {
      made.result = work();
    } catch (const OutOfMemory&) {
      throw;
    } catch (const CudaError&) {
      throw;
    } catch (const Error& error) {
      made.result = failed(error.what());
    }
    note(std::move(made), watch);
  }
  /// Runs work that makes several checks. An Error between two of them is noted as a failed check, and ends the work.
  template <class Work>
  void check_all(Work&& work) {
    try {
      work();
    } catch (const OutOfMemory&) {
      throw;
    } catch (const CudaError&) {
      throw;
    } catch (const Error& error) {
      fail("what comes after " + current_, error.what());
    }
  }
  void fail(std::string name, std::string reason) {
    note({group_, std::move(name), subject_, {}, failed(std::move(reason)), 0}, {});
  }
  void not_checked(std::string name, std::string reason) {
    note({group_, std::move(name), subject_, {}, undecided(std::move(reason)), 0}, {});
  }

  void keep(Curves curves) { curves_.push_back(std::move(curves)); }

  /// The check that began last.
  const std::string& current() const { return current_; }
  const std::vector<Check>& checks() const { return checks_; }
  const std::vector<Curves>& curves() const { return curves_; }
  std::int64_t count(Verdict) const;

 private:
  void note(Check check, const Stopwatch& watch) {
    check.ms = watch.milliseconds();
    checks_.push_back(std::move(check));
    if (watch_) watch_(checks_.back());
  }

  std::function<void(const Check&)> watch_;
  std::string group_, subject_, current_;
  std::vector<Check> checks_;
  std::vector<Curves> curves_;
};

/// The checks of one group together.
struct GroupSummary {
  std::string group;
  std::int64_t checks = 0, failed = 0, not_checked = 0, entries = 0;
  const Check* worst = nullptr;  ///< of those with a verdict: the greatest error over its bound
  UlpHistogram ulps;
  double ms = 0;
};
/// Groups in the order of their first checks. Points into `checks`.
std::vector<GroupSummary> summarize(const std::vector<Check>& checks);

}  // namespace krill::apps::verify

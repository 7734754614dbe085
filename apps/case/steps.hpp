// The steps of a sequence: cases that differ in matrix and right-hand side.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "apps/case/case.hpp"

namespace krill::apps {

class CaseSteps {
 public:
  /// Of a case with a sequence. Raises InvalidArgument where no key names several files, or where two name different
  /// numbers of them, and Error where an archive cannot be read.
  explicit CaseSteps(const Case&);

  std::size_t count() const { return count_; }
  /// The case of one step, counted from 0. It still says of which sequence it is.
  Case at(std::size_t step) const;
  /// What sets it apart: the name of its file, or "peclet = 10".
  std::string name(std::size_t step) const;

 private:
  Case settings_;
  std::vector<std::string> matrices_, rhs_;  // files; fewer than two: as the case says
  std::optional<ParameterSequence> parameter_;
  std::size_t count_ = 0;
};

/// What is wrong with a parameter that moves, under which key of the sequence; nothing where it is fine.
struct ParameterFault {
  std::string key, message;
};
std::optional<ParameterFault> fault(const ParameterSequence&, const MatrixSource&);

}  // namespace krill::apps

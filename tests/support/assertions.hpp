// What tests ask of arrays and of errors.
#pragma once
#include <string>
#include <vector>

#include "sparse/core/array.hpp"

namespace krill::test {

/// A copy of an array's entries, which prints where it differs.
template <class T>
std::vector<T> contents(const Array<T>& a) {
  return {a.host().begin(), a.host().end()};
}

/// The text of the Exception that f throws; empty where it throws none.
template <class Exception, class F>
std::string complaint(F&& f) {
  try {
    f();
  } catch (const Exception& e) {
    return e.what();
  }
  return {};
}

}  // namespace krill::test

// The formats with the layouts that `verify --all`, `bench` and the tests try. A format without a case here does not
// compile.
#pragma once
#include <string>
#include <vector>

#include "apps/samples/use.hpp"
#include "sparse/formats/format.hpp"

namespace krill::apps {

struct NamedFormat {
  std::string name;
  Format format;
  FormatLayout layout = {};
};

struct FormatSample {
  unsigned uses;
  NamedFormat named;
};

inline std::vector<FormatSample> samples(Format format) {
  const std::string name(krill::name(format));
  const auto usual = [&](unsigned uses) { return FormatSample{uses, {name, format}}; };
  const auto with = [&](unsigned uses, std::string_view more, const FormatLayout& layout) {
    return FormatSample{uses, {name + std::string(more), format, layout}};
  };
  switch (format) {
    case Format::automatic:
      return {usual(in_verify)};
    case Format::csr:
      return {usual(in_verify | in_tests)};
    case Format::coo:
    case Format::coo_aos:
    case Format::csc:
      return {usual(in_verify | in_bench | in_tests)};
    case Format::bsr:
      return {usual(in_bench | in_conversions),
              with(in_tests, " 1", {.block_rows = 1}),
              with(in_verify | in_tests, " 2", {.block_rows = 2}),
              with(in_verify | in_tests, " 3 by columns", {.block_rows = 3, .block_columns = true}),
              with(in_verify, " 7", {.block_rows = 7}),
              with(in_tests, " 40", {.block_rows = 40}),
              with(in_tests, " found", {})};
    case Format::bsrx:
      return {with(in_verify | in_tests, " 4", {.block_rows = 4})};
    case Format::gebsr:
      return {
          with(in_verify | in_tests, " 2 x 3", {.block_rows = 2, .block_cols = 3}),
          with(in_verify | in_tests, " 5 x 1 by columns", {.block_rows = 5, .block_cols = 1, .block_columns = true})};
    case Format::gebsc:
      return {with(in_verify | in_tests, " 3 x 2", {.block_rows = 3, .block_cols = 2})};
    case Format::ell:
      return {usual(in_verify | in_bench | in_conversions | in_tests)};
    case Format::sell:
      return {usual(in_verify | in_bench | in_conversions | in_tests),
              with(in_verify, " 8, sorted", {.slice_rows = 8, .sort_window = 64}),
              with(in_tests, " 3", {.slice_rows = 3}),
              with(in_tests, " 128 of one window", {.slice_rows = 128, .sort_window = 1 << 30})};
    case Format::hll:
      return {with(in_verify, " 16", {.slice_rows = 16}), with(in_tests, " 8", {.slice_rows = 8, .sort_window = 16})};
    case Format::hyb:
      return {usual(in_verify | in_bench | in_conversions | in_tests),
              with(in_verify, ", all in coo", {.ell_width = 0}), with(in_tests, " 0", {.ell_width = 0})};
    case Format::dia:
      return {usual(in_verify | in_bench | in_conversions | in_tests)};
    case Format::hdia:
      return {usual(in_bench | in_conversions | in_tests), with(in_verify, " 32", {.hack_rows = 32}),
              with(in_tests, " 7", {.hack_rows = 7})};
    case Format::blocked_ell:
      return {usual(in_bench | in_conversions), with(in_verify | in_tests, " 4", {.block_rows = 4})};
  }
  return {};
}

/// Those of a use, csr first, then auto, then in the order of the formats.
inline std::vector<NamedFormat> format_samples(SampleUse use) {
  std::vector<NamedFormat> some;
  const auto add = [&](Format format) {
    for (FormatSample& sample : samples(format))
      if (sample.uses & use) some.push_back(std::move(sample.named));
  };
  add(Format::csr);
  for (const FormatFacts& f : format_facts)
    if (f.format != Format::csr) add(f.format);
  return some;
}

}  // namespace krill::apps

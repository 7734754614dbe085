#include "apps/bench/result.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "sparse/core/error.hpp"

namespace krill::apps::bench {
namespace {

using Json = nlohmann::ordered_json;

Json value(const std::string& text) { return text.empty() ? Json() : Json(text); }
template <class N>
Json value(const std::optional<N>& number) {
  return number ? Json(*number) : Json();
}

/// Fills members from JSON; `place` is what messages call the object.
class Reader {
 public:
  Reader(std::string file, std::string place, const Json& object)
      : file_(std::move(file)), place_(std::move(place)), object_(object) {
    if (!object.is_object()) fail("", object, "an object");
  }

  void operator()(const char* name, std::string& member) const {
    if (const Json* found = find(name)) {
      if (!found->is_string()) fail(fmt::format(".{}", name), *found, "text or null");
      member = found->get<std::string>();
    }
  }
  template <class N>
  void operator()(const char* name, std::optional<N>& member) const {
    if (const Json* found = find(name)) {
      if (!found->is_number()) fail(fmt::format(".{}", name), *found, "a number or null");
      member = found->get<N>();
    }
  }
  /// The member of that name, which has to be of that kind; null where there is none.
  const Json* part(const char* name, bool wanted_array) const {
    const Json* found = find(name);
    if (found && !(wanted_array ? found->is_array() : found->is_object()))
      fail(fmt::format(".{}", name), *found, wanted_array ? "a list" : "an object");
    return found;
  }
  [[noreturn]] void fail(const std::string& member, const Json& found, const char* expected) const {
    const std::string text = found.dump();
    throw InvalidArgument(fmt::format("{}: {}{} is {}, expected {}; a result of krill bench --out is wanted", file_,
                                      place_, member, text.size() > 40 ? text.substr(0, 37) + "..." : text, expected));
  }

 private:
  const Json* find(const char* name) const {
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
  }

  std::string file_, place_;
  const Json& object_;
};

Result read_result(const std::string& file, const std::string& place, const Json& json) {
  const Reader read(file, place, json);
  Result result;
  read("commit", result.commit);
  read("date", result.date);
  read("device", result.device);
  read("driver", result.driver);
  if (const Json* ceilings = read.part("ceilings", false)) {
    const Reader inner(file, place + ".ceilings", *ceilings);
    inner("copy", result.ceilings.copy);
    inner("triad", result.ceilings.triad);
    inner("read", result.ceilings.read);
  }
  const Json* rows = read.part("rows", true);
  if (!rows) read.fail("", json, "an object with a list of rows");
  for (std::size_t i = 0; i < rows->size(); ++i)
    for_each_field(result.rows.emplace_back(), Reader(file, fmt::format("{}.rows[{}]", place, i), (*rows)[i]));
  return result;
}

}  // namespace

double largest(const Ceilings& c) { return std::max({c.copy.value_or(0), c.triad.value_or(0), c.read.value_or(0)}); }

Json to_json(const Result& result) {
  Json rows = Json::array();
  for (const Row& row : result.rows) {
    Json& json = rows.emplace_back(Json::object());
    for_each_field(row, [&](const char* name, const auto& member) { json[name] = value(member); });
  }
  return {{"commit", result.commit},
          {"date", result.date},
          {"device", result.device},
          {"driver", value(result.driver)},
          {"ceilings",
           {{"copy", value(result.ceilings.copy)},
            {"triad", value(result.ceilings.triad)},
            {"read", value(result.ceilings.read)}}},
          {"rows", std::move(rows)}};
}

std::vector<Result> read_results(const std::filesystem::path& path) {
  const std::string file = path.string();
  std::ifstream in(path);
  if (!in) throw Error(fmt::format("{} cannot be read; a result of krill bench --out is wanted", file));
  Json json;
  try {
    json = Json::parse(in);
  } catch (const Json::parse_error& error) {
    throw InvalidArgument(fmt::format("{} is not JSON: {}", file, error.what()));
  }
  if (!json.is_array()) return {read_result(file, "the result", json)};
  if (json.empty())
    throw InvalidArgument(fmt::format("{} is an empty list; a result of krill bench --out is wanted", file));
  std::vector<Result> results;
  results.reserve(json.size());
  for (std::size_t i = 0; i < json.size(); ++i)
    results.push_back(read_result(file, fmt::format("result[{}]", i), json[i]));
  return results;
}

std::vector<GeometricMean> geometric_means(const std::vector<Row>& rows) {
  std::vector<GeometricMean> means;
  std::map<std::string, double> sums;
  for (const Row& row : rows) {
    if (!row.ratio || !(*row.ratio > 0)) continue;
    auto mean = std::find_if(means.begin(), means.end(), [&](const auto& m) { return m.kernel == row.kernel; });
    if (mean == means.end()) mean = means.insert(mean, {row.kernel});
    sums[row.kernel] += std::log(*row.ratio);
    ++mean->rows;
  }
  for (GeometricMean& mean : means) mean.ratio = std::exp(sums[mean.kernel] / mean.rows);
  return means;
}

}  // namespace krill::apps::bench

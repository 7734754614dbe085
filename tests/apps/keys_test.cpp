// Options that hold their own kind: a solver inside a solver.
#include "apps/case/keys.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "apps/case/check.hpp"
#include "apps/case/fill.hpp"
#include "apps/case/json_schema.hpp"
#include "apps/case/yaml_tree.hpp"

namespace krill::apps {

struct Plain {
  static constexpr std::string_view type = "plain", doc = "ends the chain";
  int steps = 3;
};
template <class Fields>
void describe(Fields& fields, Plain& o) {
  fields.value("steps", o.steps, {1}, "how many");
}

struct Outer;
using Method = std::variant<Plain, Outer>;
struct Outer {
  static constexpr std::string_view type = "outer", doc = "has another one inside";
  int steps = 7;
  std::shared_ptr<Method> inner;
};

struct Root {
  Method method;
};

template <class Fields>
void describe(Fields& fields, Outer& o) {
  if (!o.inner) o.inner = std::make_shared<Method>();
  fields.value("steps", o.steps, {1}, "how many");
  fields.variant("inner", "type", *o.inner, Need::optional, "what it does in each step");
}
template <class Fields>
void describe(Fields& fields, Root& o) {
  fields.variant("method", "type", o.method, Need::required, "what is done");
}

namespace {

class RecursiveKeys : public ::testing::Test {
 protected:
  static const std::vector<Key>& keys() { return KeyCollector::keys_of<Root>(); }
  nlohmann::ordered_json checked(const std::string& text) {
    const YamlNode root = read_yaml(text, "case.yaml", found_);
    return check_section(root, keys(), found_);
  }
  std::vector<Diagnostic> found_;
};

TEST_F(RecursiveKeys, are_checked_and_filled_as_deep_as_a_case_has_them) {
  const auto json = checked(
      "method: {type: outer, steps: 2, inner: {type: outer, inner: {type: outer, inner: {type: plain, steps: 5}}}}");
  ASSERT_TRUE(found_.empty()) << found_.front().message;
  Root root;
  FromJson::fill(root, json);
  const Method* at = &root.method;
  for (const int steps : {2, 7, 7}) {
    ASSERT_EQ(std::get<Outer>(*at).steps, steps);
    at = std::get<Outer>(*at).inner.get();
  }
  EXPECT_EQ(std::get<Plain>(*at).steps, 5);
  EXPECT_EQ(ToJson::dump(root)["method"]["inner"]["inner"]["inner"]["steps"], 5);
}

TEST_F(RecursiveKeys, are_refused_with_their_path) {
  checked("method: {type: outer, inner: {type: outer, inner: {type: plain, steps: 0}}}");
  ASSERT_EQ(found_.size(), 1u);
  EXPECT_NE(found_[0].message.find("method.inner.inner.steps is 0"), std::string::npos) << found_[0].message;
}

TEST_F(RecursiveKeys, are_described_once) {
  const Alternative* outer = keys().front().alternative("outer");
  ASSERT_NE(outer, nullptr);
  const Key* inner = find_key(outer->keys(), "inner");
  ASSERT_NE(inner, nullptr);
  EXPECT_EQ(&inner->alternative("outer")->keys(), &outer->keys());
}

TEST_F(RecursiveKeys, have_a_schema_that_refers_to_itself) {
  SchemaWriter writer;
  const auto schema = writer.section(keys(), SchemaWriter::Form::whole);
  EXPECT_EQ(schema["properties"]["method"]["$ref"], "#/$defs/method");
  ASSERT_EQ(writer.definitions().size(), 1U);
  const auto& outer = writer.definitions()["method"]["allOf"][1]["then"]["properties"];
  EXPECT_EQ(outer["inner"]["$ref"], "#/$defs/method");
  EXPECT_EQ(outer["inner"]["description"], "what it does in each step");
}

}  // namespace
}  // namespace krill::apps

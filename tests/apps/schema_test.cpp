// Schema, reference and explanations: all made of the same descriptions as the parser.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <utility>

#include "apps/case/case_file.hpp"
#include "apps/case/effective.hpp"
#include "apps/case/json_schema.hpp"
#include "apps/case/reference.hpp"
#include "apps/case/synonyms.hpp"
#include "apps/case/yaml_tree.hpp"
#include "apps/evaluate/sweep.hpp"
#include "apps/evaluate/sweep_schema.hpp"
#include "tests/apps/cases.hpp"
#include "tests/apps/solve_support.hpp"

namespace krill::apps {
namespace {

using OrderedJson = nlohmann::ordered_json;

bool has_type(const OrderedJson& value, const std::string& type) {
  if (type == "object") return value.is_object();
  if (type == "array") return value.is_array();
  if (type == "string") return value.is_string();
  if (type == "boolean") return value.is_boolean();
  if (type == "number") return value.is_number();
  if (type == "integer") return value.is_number() && value.get<double>() == static_cast<double>(value.get<long long>());
  throw std::logic_error("the schema uses a type that this test does not know: " + type);
}

/// What draft 2020-12 says of the words that our schemas use.
class Validator {
 public:
  explicit Validator(OrderedJson root) : root_(std::move(root)) {}

  const OrderedJson& root() const { return root_; }
  bool accepts(const OrderedJson& value) const { return accepts(root_, value); }

  /// What a schema refers to, else the schema itself.
  const OrderedJson& target(const OrderedJson& schema) const {
    if (!schema.contains("$ref")) return schema;
    return root_.at(OrderedJson::json_pointer(schema["$ref"].get<std::string>().substr(1)));
  }

  bool accepts(const OrderedJson& schema, const OrderedJson& value) const {
    if (schema.contains("$ref") && !accepts(target(schema), value)) return false;
    if (schema.contains("type") && !has_type(value, schema["type"])) return false;
    if (schema.contains("const") && schema["const"] != value) return false;
    if (schema.contains("enum") &&
        std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end())
      return false;
    if (value.is_object() && !accepts_properties(schema, value)) return false;
    if (value.is_string() && value.get<std::string>().size() < schema.value("minLength", 0U)) return false;
    if (value.is_number()) {
      const double number = value;
      if (schema.contains("minimum") && number < schema["minimum"]) return false;
      if (schema.contains("maximum") && number > schema["maximum"]) return false;
      if (schema.contains("exclusiveMinimum") && number <= schema["exclusiveMinimum"]) return false;
      if (schema.contains("exclusiveMaximum") && number >= schema["exclusiveMaximum"]) return false;
    }
    if (value.is_array()) {
      if (value.size() < schema.value("minItems", 0U)) return false;
      for (const auto& item : value)
        if (schema.contains("items") && !accepts(schema["items"], item)) return false;
    }
    const auto fits = [&](const OrderedJson& part) { return accepts(part, value); };
    if (schema.contains("allOf") && !std::ranges::all_of(schema["allOf"], fits)) return false;
    if (schema.contains("anyOf") && std::ranges::none_of(schema["anyOf"], fits)) return false;
    if (!schema.contains("if")) return true;
    const std::string branch = fits(schema["if"]) ? "then" : "else";
    return !schema.contains(branch) || fits(schema[branch]);
  }

 private:
  bool accepts_properties(const OrderedJson& schema, const OrderedJson& value) const {
    for (const auto& name : schema.value("required", OrderedJson::array()))
      if (!value.contains(name.get<std::string>())) return false;
    static const OrderedJson none = OrderedJson::object(), anything = true;
    const OrderedJson& properties = schema.contains("properties") ? schema["properties"] : none;
    const OrderedJson& others = schema.contains("additionalProperties") ? schema["additionalProperties"] : anything;
    for (const auto& [name, inner] : value.items()) {
      const OrderedJson& rule = properties.contains(name) ? properties[name] : others;
      if (rule.is_boolean() ? rule == false : !accepts(rule, inner)) return false;
    }
    return value.size() >= schema.value("minProperties", 0U);
  }

  OrderedJson root_;
};

/// YAML as an editor hands it to its schema checker.
OrderedJson plain_json(const YamlNode& node) {
  OrderedJson json;
  switch (node.kind) {
    case YamlNode::Kind::null:
      return json;
    case YamlNode::Kind::sequence:
      json = OrderedJson::array();
      for (const auto& item : node.items) json.push_back(plain_json(item));
      return json;
    case YamlNode::Kind::map:
      json = OrderedJson::object();
      for (const auto& [key, value] : node.entries) json[key.text] = plain_json(value);
      return json;
    case YamlNode::Kind::scalar:
      break;
  }
  if (!node.quoted) json = OrderedJson::parse(node.text, nullptr, false);
  return node.quoted || json.is_discarded() ? OrderedJson(node.text) : json;
}

bool accepts_sweep(const std::string& yaml) {
  static const Validator schema(evaluate::sweep_schema());
  std::vector<Diagnostic> found;
  return schema.accepts(plain_json(read_yaml(yaml, "sweep.yaml", found)));
}

bool schema_accepts(const std::string& yaml) {
  static const Validator schema(case_schema());
  std::vector<Diagnostic> found;
  return schema.accepts(plain_json(read_yaml(yaml, "case.yaml", found)));
}

TEST(Schema, accepts_the_effective_case_of_every_type) {
  const Validator schema(case_schema());
  for (const auto& text : test::all_cases()) {
    EXPECT_TRUE(schema_accepts(text)) << text;
    EXPECT_TRUE(schema.accepts(effective_json(parse_case(text, "case.yaml")))) << text;
  }
}

TEST(Schema, of_sweeps_and_parser_agree) {
  const std::string shared = "case: {matrix: {generate: poisson1d}, solver: {type: pcg}}\n";
  const std::string shipped = test::contents(test::shipped_sweep);
  const test::Scratch folder;
  for (const std::string& text :
       {shipped,
        shared,
        shared + "budget: 5\n",
        shared + "budget: -5\n",
        shared + "budgt: 5\n",
        shared + "portfolio: quick\n",
        shared + "portfolio: slow\n",
        std::string("case: {matrix: poisson1d, solver: pcg, variants: {a: {preconditioner: ic0}}}\n"),
        std::string("case: {matrix: poisson1d, solver: pcg, variants: {a: {preconditioner: ic00}}}\n"),
        std::string("case: {matrix: poisson1d, solver: pcg, include: other.yaml}\n"),
        shared + "grid: {preconditioner: [none, {type: chebyshev, degree: [2, 4]}]}\n",
        shared + "grid: {preconditioner: [none, {type: chebyshev, degree: [2, 0]}]}\n",
        shared + "grid: {preconditioner: {type: chebyshev, degre: [2]}}\n",
        shared + "grid: {precond: [none]}\n",
        shared + "grid: {format: [csr, ell]}\n",
        shared + "grid: {format: [csr, el]}\n",
        shared + "grid: {solver: [{type: gmres, stop: {relative: [1e-3, 1e-6]}}]}\n",
        shared + "variants: [{name: a, preconditioner: {type: ic0}}]\n",
        shared + "variants: []\n",
        shared + "grid: {preconditioner: {type: schwarz, inner: {type: iluk, level: [1, 2]}}}\n",
        shared + "grid: {preconditioner: {type: schwarz, inner: {type: iluk, level: [1, -2]}}}\n",
        shared + "grid: {preconditioner: {type: schwarz, inner: [ilu0, {type: iluk, levle: 2}]}}\n",
        shared + "grid: {preconditioner: {type: chebyshev, degree: []}}\n",
        shared + "grid: {preconditioner: []}\n",
        shared + "variants: [{preconditioner: []}]\n",
        shared + "variants: {a: {preconditioner: {type: chebyshev, degree: []}}, b: {preconditioner: ic0}}\n",
        shared + "variants: [{preconditioner: {type: jacobi, degree: 2}}]\n",
        shared + "variants: [{nam: a}]\n"}) {
    evaluate::SweepInput input;
    input.path = folder.write("sweep.yaml", text);
    bool parsed = true;
    try {
      const evaluate::Sweep sweep(input);
    } catch (const CaseError&) {
      parsed = false;
    }
    EXPECT_EQ(accepts_sweep(text), parsed) << text;
  }
}

/// What a validator of its own finds: a line "true" or "false" for each document; nothing where there is none.
std::string validated(const OrderedJson& schema, const OrderedJson& documents) {
  const test::Scratch folder;
  const std::string program =
      "import json, sys, jsonschema\n"
      "schema, documents = (json.load(open(name)) for name in sys.argv[1:])\n"
      "kind = jsonschema.validators.validator_for(schema)\n"
      "kind.check_schema(schema)\n"
      "for one in documents: print(str(kind(schema).is_valid(one)).lower())\n";
  const std::string line = "python3 " + folder.write("validate.py", program) + " " +
                           folder.write("schema.json", schema.dump()) + " " +
                           folder.write("documents.json", documents.dump()) + " > " + (folder / "said");
  return std::system(line.c_str()) == 0 ? test::contents(folder / "said") : "failed";
}

TEST(Schema, a_validator_for_json_schema_takes_shipped_cases_and_refuses_their_mutants) {
  if (std::system("python3 -c 'import jsonschema.validators' 2>/dev/null") != 0)
    GTEST_SKIP() << "python3-jsonschema is not there";
  for (const bool sweeps : {false, true}) {
    OrderedJson documents = OrderedJson::array();
    std::string expected;
    for (const std::string& path : sweeps ? std::vector{test::shipped_sweep} : test::shipped_cases()) {
      std::vector<Diagnostic> found;
      const OrderedJson whole = plain_json(read_yaml(test::contents(path), "case.yaml", found));
      documents.push_back(whole);
      expected += "true\n";
      for (const auto& [key, value] : whole.items()) {
        OrderedJson wrong = whole, inside = whole;
        wrong[key + "q"] = value;
        documents.push_back(wrong);
        expected += "false\n";
        if (!value.is_object() || key == "case") continue;
        inside[key]["q"] = 1;
        documents.push_back(inside);
        expected += "false\n";
      }
    }
    EXPECT_EQ(validated(sweeps ? evaluate::sweep_schema() : case_schema(), documents), expected);
  }
}

TEST(Schema, of_sweeps_is_in_the_documentation) {
  std::ifstream file("docs/evaluating.md");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find(key_table(evaluate::sweep_keys(), "")), std::string::npos)
      << "put the output of krill schema --sweep --markdown into docs/evaluating.md";
}

TEST(Schema, and_parser_agree) {
  const std::string matrix = "matrix: {generate: poisson1d}\n", solver = "solver: {type: pcg}\n";
  const auto with = [&](const std::string& line) { return matrix + solver + line + "\n"; };
  const auto with_solver = [&](const std::string& keys) { return matrix + "solver: {" + keys + "}\n"; };
  const auto solver_in_solver = [&](const std::string& innermost) {
    return with_solver("type: fgmres") +
           "preconditioner: {type: solver, inner: {solver: {type: fgmres}, preconditioner: {type: solver, inner: {" +
           "solver: {type: gmres}, preconditioner: {" + innermost + "}}}}}\n";
  };
  for (const std::string& text : {with("threads: 4"),
                                  with("threads: 4.0"),
                                  with("threads: -1"),
                                  with("threads: 4097"),
                                  with("threads: 2.5"),
                                  with("threads: \"4\""),
                                  with("backend: host"),
                                  with("backend: Host"),
                                  with("precision: auto"),
                                  with("name: a"),
                                  with("name: 12"),
                                  with("name: true"),
                                  with("name: ''"),
                                  with("nam: a"),
                                  with("rhs: {type: ones}"),
                                  with("rhs: {}"),
                                  with("rhs: {type: ones, seed: 3}"),
                                  with("rhs: {type: random, seed: 3}"),
                                  with("rhs: {type: random, seed: -3}"),
                                  with("rhs: ones"),
                                  with("rhs: one"),
                                  with("rhs: [ones]"),
                                  with("initial_guess: file"),
                                  with("preconditioner: ilu0"),
                                  with("sequence: {type: parameter, parameter: nx, values: [20, 35, 80]}"),
                                  with("sequence: {type: parameter, parameter: nx, values: [20]}"),
                                  with("sequence: {type: parameter, parameter: nx, values: []}"),
                                  with("sequence: {type: parameter, parameter: nx, values: 20}"),
                                  with("sequence: {type: parameter, parameter: nx, values: [20, a]}"),
                                  with("sequence: {type: parameter, parameter: nx, values: [20, .nan]}"),
                                  with("sequence: {type: parameter, parameter: nx, values: [20, [35]]}"),
                                  with("sequence: {type: files, values: [20, 35]}"),
                                  with("scaling: symmetric"),
                                  with("layout: auto"),
                                  std::string("matrix: poisson2d\nsolver: gmres\n"),
                                  std::string("matrix: a.mtx\nsolver: gmres\n"),
                                  std::string("matrix: ''\nsolver: gmres\n"),
                                  with("variants: {a: {layout: auto}}"),
                                  with("initial_guess: {type: file}"),
                                  with("initial_guess: {type: file, path: a}"),
                                  with("output: {plot: false}"),
                                  with("output: {plot: 0}"),
                                  with("output: {}"),
                                  with("output: {plt: true}"),
                                  with("verify: {reference: eigen, tolerance: 0.5}"),
                                  with("verify: {reference: eigen, tolerance: -0.5}"),
                                  with("preconditioner: {type: jacobi}"),
                                  with("preconditioner: {type: jacoby}"),
                                  with("preconditioner: {}"),
                                  with("preconditioner: {type: schwarz, inner: ilu0}"),
                                  with("preconditioner: {type: schwarz, inner: ilu}"),
                                  with("preconditioner: {type: schwarz, inner: {type: iluk, level: 2}}"),
                                  with("preconditioner: {type: schwarz, inner: {type: iluk, levle: 2}}"),
                                  with("preconditioner: {type: schwarz, inner: {type: iluk, level: -2}}"),
                                  with("preconditioner: {type: schwarz, inner: {type: ilu0, level: 2}}"),
                                  with("preconditioner: {type: schwarz, inner: {level: 2}}"),
                                  solver_in_solver("type: schwarz, inner: {type: iluk, level: 2}"),
                                  solver_in_solver("type: schwarz, inner: {type: iluk, levle: 2}"),
                                  solver_in_solver("type: schwarz, inner: {type: iluk, level: -2}"),
                                  solver_in_solver("type: schwarz, inner: {type: ilu00}"),
                                  solver_in_solver("type: iluk, level: 2, q: 1"),
                                  with_solver("type: gmres, restart: 5"),
                                  with_solver("type: pcg, restart: 5"),
                                  with_solver("type: gmres, restart: 0"),
                                  with_solver("restart: 5"),
                                  with_solver("type: gmres, stop: {divergence: 1}"),
                                  with_solver("type: gmres, stop: {divergence: 1.5}"),
                                  with_solver("type: gmres, stop: {relative: [1]}"),
                                  matrix,
                                  solver,
                                  "matrix: {file: a.mtx}\n" + solver,
                                  "matrix: {file: a.mtx, nx: 3}\n" + solver,
                                  "matrix: {nx: 3}\n" + solver,
                                  "matrix: {file: a.mtx, generate: poisson1d}\n" + solver,
                                  "matrix: {generate: poisson2d, stencil: 9}\n" + solver,
                                  "matrix: {generate: poisson2d, stencil: '9'}\n" + solver,
                                  "matrix: {generate: poisson2d, nz: 9}\n" + solver,
                                  "matrix: {generate: elasticity3d, poisson_ratio: 0.5}\n" + solver,
                                  "matrix: {generate: elasticity3d, poisson_ratio: 0.49}\n" + solver,
                                  with("variants: {a: {preconditioner: {type: ic0}}, b: {solver: {type: gmres}}}"),
                                  with("variants: {a: {preconditioner: ic0}}"),
                                  with("variants: [{name: a, preconditioner: {type: chebyshev, degree: [2, 4]}}]"),
                                  with("variants: {a: {precond: {type: ic0}}}"),
                                  with("variants: {a: {preconditioner: {type: ic00}}}"),
                                  with("variants: {a: {threads: [1, 2]}}"),
                                  with("variants: {a: {threads: []}}"),
                                  matrix + "variants: {a: {solver: {restart: 5}}}\nsolver: gmres\n",
                                  with("variants: {}"),
                                  with("variants: []"),
                                  with("variants: a"),
                                  with("include: {a: b}"),
                                  std::string("- 1\n"),
                                  std::string("a\n")})
    EXPECT_EQ(schema_accepts(text), test::errors_of(text).empty()) << text << test::errors_of(text);
}

/// Compares every default below `part` with the value of the same name in `effective`.
void expect_defaults(const Validator& schema, const OrderedJson& part, const OrderedJson& effective,
                     const std::string& path, int& compared) {
  const OrderedJson properties = part.value("properties", OrderedJson::object());
  for (const auto& [name, property] : properties.items()) {
    if (!effective.contains(name)) continue;
    const OrderedJson& value = effective[name];
    if (value.is_object()) {
      expect_defaults(schema, schema.target(property), value, path + name + ".", compared);
    } else if (property.contains("default")) {
      if (path == "preconditioner." && effective["type"] == "line" && name.starts_with('n'))
        continue;  // as `generate` has it
      EXPECT_EQ(property["default"], value) << path << name;
      ++compared;
    }
  }
  for (const auto& one : part.value("allOf", OrderedJson::array()))
    expect_defaults(schema, one, effective, path, compared);
  if (!part.contains("if")) return;
  const std::string branch = schema.accepts(part["if"], effective) ? "then" : "else";
  if (part.contains(branch)) expect_defaults(schema, part[branch], effective, path, compared);
}

TEST(Schema, defaults_are_those_of_the_structs) {
  const Validator schema(case_schema());
  int compared = 0;
  for (const auto& text : test::all_cases())
    expect_defaults(schema, schema.root(), effective_json(parse_case(text, "case.yaml")), "", compared);
  EXPECT_GT(compared, 300);
}

TEST(Schema, defaults_of_sections_are_what_a_case_without_them_has) {
  const OrderedJson whole = case_schema()["else"],
                    effective = effective_json(parse_case(test::case_with("", ""), "case.yaml"));
  for (const std::string name : {"rhs", "initial_guess", "matching", "scaling", "ordering", "preconditioner"})
    EXPECT_EQ(whole["properties"][name]["default"]["type"], effective[name]["type"]) << name;
}

TEST(Schema, says_what_every_key_means) {
  const auto check = [](const OrderedJson& schema) {
    const OrderedJson properties = schema.value("properties", OrderedJson::object());
    for (const auto& [name, property] : properties.items())
      EXPECT_FALSE(property.value("description", "").empty()) << name;
    return properties.size();
  };
  for (const OrderedJson& schema : {case_schema(), evaluate::sweep_schema()}) {
    EXPECT_EQ(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    std::size_t checked = check(schema);
    for (const std::string branch : {"then", "else"})
      if (schema.contains(branch)) checked += check(schema[branch]);
    for (const auto& [name, definition] : schema["$defs"].items()) {
      const bool is_variant = definition.contains("allOf");  // whose branches describe it, and the tag, too
      if (!is_variant) checked += check(definition);
      for (const auto& part : definition.value("allOf", OrderedJson::array()))
        if (part.contains("then")) checked += check(part["then"]);
    }
    EXPECT_GT(checked, 400U);
  }
}

TEST(Schema, refers_to_what_stands_in_several_places) {
  for (const OrderedJson& schema : {case_schema(), evaluate::sweep_schema()}) {
    EXPECT_LT(schema.dump(2).size(), std::size_t{800} << 10) << "bytes: a definition is written out where it is used";
    const Validator validator(schema);
    const auto check = [&](const auto& self, const OrderedJson& part) -> void {
      if (part.is_object() && part.contains("$ref")) {
        EXPECT_NO_THROW(validator.target(part)) << part;
        for (const auto& [name, value] : part.items())  // drafts before 2019-09 read nothing else beside a reference
          EXPECT_TRUE(name == "$ref" || name == "description" || name == "default") << part;
      }
      if (part.is_structured())
        for (const auto& inner : part) self(self, inner);
    };
    check(check, schema);
  }
}

TEST(Reference, of_the_docs_is_up_to_date) {
  std::ifstream in("docs/cases.md");
  ASSERT_TRUE(in) << "tests run in the root of the project";
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_EQ(text.str(), case_reference()) << "krill schema --markdown > docs/cases.md";
}

TEST(Reference, its_examples_are_cases) {
  std::istringstream text(case_reference());
  int examples = 0;
  for (std::string line, example; std::getline(text, line);) {
    if (line != "```yaml") continue;
    for (example.clear(); std::getline(text, line) && line != "```";) example += line + "\n";
    EXPECT_EQ(test::errors_of(example), "");
    ++examples;
  }
  EXPECT_GE(examples, 2);
}

TEST(Explain, a_key_says_type_default_range_and_users) {
  EXPECT_EQ(explain("relative"),
            "solver.stop.relative\n"
            "  converged when ||b - A x|| <= relative * baseline\n"
            "  a number of at least 0; default 1.0e-08\n"
            "  with type pcg, type fcg, type gmres, type fgmres, type bicgstab, type\n"
            "  richardson, type multigrid, type banded, type direct or type auto\n");
  EXPECT_EQ(explain("stop.relative"), explain("relative"));
}
TEST(Explain, a_type_lists_its_keys) {
  EXPECT_EQ(explain("gmres").find("solver: {type: gmres}\n"), 0U);
  EXPECT_NE(explain("gmres").find("restart"), std::string::npos);
}
TEST(Explain, every_key_and_type_has_a_text_within_80_columns) {
  for (const Key& key : case_keys()) {
    std::vector<std::string> words{key.name};
    for (const auto& type : types_of(key)) words.push_back(type);
    for (const auto& word : words) {
      std::istringstream text(explain(word));
      for (std::string line; std::getline(text, line);) EXPECT_LE(line.size(), 80U) << line;
    }
  }
}
TEST(Explain, knows_every_key_by_its_path_and_every_key_of_sweeps) {
  const auto words = explained_words(evaluate::sweep_keys());
  EXPECT_GT(words.size(), 150U);
  for (const auto& word : words) EXPECT_FALSE(explain(word, evaluate::sweep_keys()).empty()) << word;
  for (const std::string word : {"include", "variants", "solver", "solver.stop", "solver.stop.relative", "poisson3d"})
    EXPECT_EQ(std::ranges::count(words, word), 1) << word;
  EXPECT_TRUE(explain("budget", evaluate::sweep_keys()).ends_with("with krill evaluate\n"));
}
TEST(Explain, a_path_may_go_through_types) {
  EXPECT_TRUE(explain("solver").starts_with(explain("solver.type") + "\npreconditioner: {type: solver}\n"));
  EXPECT_EQ(explain("preconditioner.inner.solver.gmres.restart"), explain("solver.restart"));
  EXPECT_EQ(explain("preconditioner.inner.preconditioner.ilu0"), explain("preconditioner.ilu0"));
  EXPECT_EQ(explain("preconditioner.inner.iluk.level"), explain("preconditioner.iluk.level")) << "inside of schwarz";
  EXPECT_EQ(explain("preconditioner.type"), explain("preconditioner"));
  EXPECT_EQ(explain("preconditioner.ilu0").find("preconditioner: {type: ilu0}\n"), 0U);
  EXPECT_EQ(explain("solver.gmres.restart"), explain("solver.restart"));
  EXPECT_EQ(explain("solver.pcg.stop.relative"), explain("relative"));
}
TEST(Explain, words_of_other_programs_lead_to_those_of_a_case) {
  const auto words = explained_words(evaluate::sweep_keys());
  for (const Synonym& one : synonyms()) {
    const std::string ours(one.ours), text = explain(std::string(one.word), evaluate::sweep_keys());
    const bool is_ours_too = std::ranges::count(words, one.word) > 0;
    if (is_ours_too) {
      EXPECT_TRUE(text.ends_with(fmt::format("\n{} of other programs: Krill calls that {}\n", one.word, ours))) << text;
    } else {
      EXPECT_EQ(text, fmt::format("{}: Krill calls that {}\n\n{}", one.word, ours, explain(ours)));
    }
  }
  EXPECT_EQ(explain("KSP-RTOL").find("KSP-RTOL: Krill calls that solver.stop.relative\n"), 0U);
}
TEST(Explain, proposes_what_was_meant) {
  try {
    explain("relativ");
    FAIL();
  } catch (const InvalidArgument& error) {
    EXPECT_STREQ(error.what(), "a case has nothing that is called 'relativ'; did you mean 'relative'?");
  }
}

}  // namespace
}  // namespace krill::apps

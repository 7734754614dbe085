// The JSON Schemas of cases and of parts of them, so that editors complete and check what they show.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "apps/case/keys.hpp"

namespace krill::apps {

/// Draft 2020-12. It allows what load_case() allows, but for what only the meaning of several keys together shows.
nlohmann::ordered_json case_schema();

/// Writes one schema, piece by piece. What a key may be that has alternatives or keys inside is a definition: written
/// once, and referred to wherever such a key stands, as preconditioners stand inside of preconditioners. Beside a
/// reference stand only texts and defaults, as drafts before 2019-09 read nothing else there.
class SchemaWriter {
 public:
  /// What stands in the place that is described.
  enum class Form {
    whole,  ///< all of it
    part,   ///< what is put over something else, so that nothing has to be there
    lists   ///< such a part, in which a list may stand in the place of a value
  };

  /// The schema of a map with these keys and no others.
  nlohmann::ordered_json section(const std::vector<Key>&, Form);
  /// What `include` and `variants` may be.
  static nlohmann::ordered_json include();
  nlohmann::ordered_json variants();

  /// All that was referred to so far, for `$defs` at the top of the schema.
  const nlohmann::ordered_json& definitions() const { return definitions_; }

 private:
  /// A key with its texts, and what may stand there.
  nlohmann::ordered_json entry(const Key&, Form);
  nlohmann::ordered_json value(const Key&, Form);
  nlohmann::ordered_json variant(const Key&, Form);
  nlohmann::ordered_json branch(const Key& variant, const Alternative&, Form);
  /// A reference to the definition of that name, or the schema itself where another one has the name.
  nlohmann::ordered_json once(const std::string& name, nlohmann::ordered_json schema);

  nlohmann::ordered_json definitions_;
  /// Those of variants, by the keys of the first alternative.
  std::map<std::pair<const std::vector<Key>*, Form>, std::string> names_;
};

}  // namespace krill::apps

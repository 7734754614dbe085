#include "apps/case/reference.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <sstream>

#include "apps/case/case_file.hpp"
#include "apps/case/effective.hpp"
#include "apps/case/suggest.hpp"
#include "apps/case/synonyms.hpp"
#include "apps/support/terminal.hpp"

namespace krill::apps {
namespace {

/// A key with the path to it and with those of the path's alternatives that have it.
struct KeyEntry {
  std::string path;
  const Key* key;
  std::vector<std::string> users;  ///< "solver type gmres"
  std::string registry = {};       ///< of a variant inside: the key of the case that has the same alternatives
};

bool same(const Key& a, const Key& b) { return a.doc == b.doc && a.kind == b.kind && a.fallback == b.fallback; }

/// All keys of a case file, sections and variants included, and of sweeps; keys that alternatives share are there once.
std::vector<KeyEntry> all_entries(const std::vector<Key>& of_sweeps) {
  std::vector<KeyEntry> entries;
  const auto walk = [&](const auto& self, const std::vector<Key>& keys, const std::string& path,
                        const std::string& user, const Within& within) -> void {
    for (const Key& key : keys) {
      const std::string name = path + key.name;
      const auto known = std::find_if(entries.begin(), entries.end(),
                                      [&](const KeyEntry& e) { return e.path == name && same(*e.key, key); });
      KeyEntry& entry = known == entries.end() ? entries.emplace_back(KeyEntry{name, &key, {}}) : *known;
      if (!user.empty()) entry.users.push_back(user);
      if (!path.empty()) entry.registry = registry_of(key);
      const bool elsewhere = !entry.registry.empty();
      self(self, key.keys, name + ".", user, within);
      if (elsewhere) continue;
      for (const Alternative& one : key.alternatives)
        if (!within.has(one))
          self(self, one.keys(), name + ".", one.key.empty() ? fmt::format("{} {}", key.tag, one.type) : "",
               Within(within, one));
    }
  };
  walk(walk, case_file_keys(), "", "", {});
  walk(walk, of_sweeps, "", "krill evaluate", {});
  return entries;
}

std::string default_text(const Key& key) {
  if (key.required) return "required";
  if (key.fallback.is_null() || key.fallback == "") return "";
  if (key.kind == Key::Kind::variant) return fmt::format("{{{}: {}}}", key.tag, key.fallback.get<std::string>());
  return yaml_scalar(key.fallback);
}

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) result += c == '|' ? "\\|" : c == '<' ? "&lt;" : std::string(1, c);
  return result;
}

/// What a table says of a key; sections and variants are only named, they have a table of their own.
std::string kind_text(const Key& key, const std::string& path) {
  if (key.kind == Key::Kind::variant || key.kind == Key::Kind::section) {
    const std::string registry = path.empty() ? "" : registry_of(key),
                      chapter = registry.empty() ? path + key.name : registry;
    std::string anchor = chapter;  // as hosts of Markdown make them of headings
    std::erase(anchor, '.');
    return fmt::format("section, see [{}](#{})", chapter, anchor);
  }
  return escaped(expectation(key));
}

/// The sections of a variant's alternatives, a chapter for each name; where alternatives have other keys or defaults
/// under one name, a part for those that agree.
void append_sections_of_alternatives(std::string& text, const Key& variant, const std::string& path,
                                     std::set<std::string>& written) {
  struct Section {
    const Key* key;
    std::string table;
    std::vector<std::string> users;
  };
  std::vector<Section> sections;
  for (const Alternative& one : variant.alternatives)
    for (const Key& key : one.keys()) {
      if (key.keys.empty()) continue;
      const std::string keys = key_table(key.keys, path + key.name + ".");
      const auto known = std::find_if(sections.begin(), sections.end(),
                                      [&](const Section& s) { return s.key->name == key.name && s.table == keys; });
      Section& section = known == sections.end() ? sections.emplace_back(Section{&key, keys, {}}) : *known;
      section.users.push_back(one.type);
    }
  for (const Section& section : sections) {
    const auto is_namesake = [&](const Section& other) { return other.key->name == section.key->name; };
    if (written.insert(path + section.key->name).second)
      text += fmt::format("\n## {}{}\n\n{}\n", path, section.key->name, escaped(section.key->doc));
    if (std::count_if(sections.begin(), sections.end(), is_namesake) > 1)
      text += fmt::format("\n### with {} {}\n", variant.tag, enumerate(section.users));
    text += "\n" + section.table;
  }
}

/// The chapters of the sections and variants among `keys`, each path once.
void append_chapters(std::string& text, const std::vector<Key>& keys, const std::string& path,
                     std::set<std::string>& written, const Within& within = {}) {
  for (const Key& key : keys) {
    const std::string name = path + key.name;
    if ((key.keys.empty() && key.alternatives.empty()) || !written.insert(name).second) continue;
    text += fmt::format("\n## {}\n\n{}\n", name, escaped(key.doc));
    if (!key.keys.empty()) text += "\n" + key_table(key.keys, name + ".");
    for (const Alternative& one : key.alternatives) {
      const std::string choice =
          one.key.empty() ? fmt::format("{}: {}", key.tag, one.type) : fmt::format("{}: NAME", one.key);
      text += fmt::format("\n### `{}: {{{}}}`\n\n{}\n", name, choice, escaped(one.doc));
      if (!one.keys().empty()) text += "\n" + key_table(one.keys(), name + ".");
    }
    append_chapters(text, key.keys, name + ".", written, within);
    append_sections_of_alternatives(text, key, name + ".", written);
    for (const Alternative& one : key.alternatives)
      if (!within.has(one)) append_chapters(text, one.keys(), name + ".", written, Within(within, one));
  }
}

constexpr std::string_view introduction =
    R"(<!-- Made by `krill schema --markdown`; a test compares. Change the descriptions in the code instead. -->
# The case file

`krill solve CASE.yaml` reads one YAML case: a matrix A, a right-hand side b, and how to solve A x = b. The shortest one:

```yaml
matrix: {generate: poisson3d, nx: 64}
solver: pcg
```

- In place of a section that has a `type`, its word will do: `solver: pcg` is `{type: pcg}`; of a matrix, the name of a
  generator or of a file. `krill solve thermal.mtx.gz` solves with a matrix file in the place of a case: `b` of ones,
  everything else `auto`. `krill solve -` reads the case from the standard input.
- Every key is checked before anything runs: an unknown, misspelt or doubled key, a wrong type, a value out of range, or a
  key that the chosen type does not use is an error with file, line and column. All errors are shown at once.
- `--set path=value` changes one value, under the same rules: `--set solver.stop.relative=1e-10`,
  `--set preconditioner=ilu0`. `--set matrix.file=thermal.mtx.gz` takes the place of a generator and its keys.
- Names of files start at the folder of the case; those in `--set` at the current folder.
- `include: base.yaml` puts this case over another one: sections are merged key by key, and a section that gets another
  type keeps the keys that the new type has, too. Anchors, aliases and merge keys (`<<`) work inside of one file.
- With `--env`, `${NAME}` in a value stands for what the environment says; without it, it is an error. `$${`
  stands for `${` itself.
- `krill schema` prints the JSON Schema for [editors](editors.md), `krill explain KEY` what stands here.

A case with more in it:

```yaml
name: flow
matrix: {file: flow.mtx.gz}
rhs: {type: file, path: flow_b.mtx}
solver:
  type: gmres
  restart: 80
  stop: {relative: 1.0e-10, time_limit: 60}
preconditioner: {type: jacobi}
verify: {reference: eigen}
```

One with variants: `krill solve CASE.yaml --variant strong` solves one of them and calls it flow-strong, `krill evaluate
CASE.yaml` measures all. A list in a value of a variant stands for several cases.

```yaml
name: flow
matrix: {generate: convection_diffusion2d, nx: 200}
solver: {type: gmres}
variants:
  strong: {preconditioner: {type: ilu0}, solver: {restart: 100}}
  short: {solver: bicgstab, preconditioner: jacobi}
```
)";

/// "an integer of at least 1; default 50"
std::string value_text(const Key& key) {
  const std::string fallback = default_text(key);
  return fmt::format("{}; {}", expectation(key),
                     key.required       ? "required"
                     : fallback.empty() ? "may be left out"
                                        : "default " + fallback);
}

std::string describe_entry(const KeyEntry& entry) {
  const Key& key = *entry.key;
  std::string text = fmt::format("{}\n  {}\n  {}\n", entry.path, wrapped(key.doc, 2), wrapped(value_text(key), 2));
  if (!entry.users.empty()) text += fmt::format("  {}\n", wrapped("with " + enumerate(entry.users), 2));
  if (!key.alternatives.empty()) text += "\n" + list_types(key);
  return text;
}

std::string describe_alternative(const Key& variant, const Alternative& one) {
  std::string text = fmt::format("{}: {{{}: {}}}\n  {}\n", variant.name, variant.tag, one.type, wrapped(one.doc, 2));
  for (const Key& key : one.keys()) {
    const std::string more = key.keys.empty() ? value_text(key) : enumerate(names_of(key.keys), ", ");
    text += fmt::format("  {:<17} {}\n", key.name, wrapped(fmt::format("{}; {}", key.doc, more), 20));
  }
  return text;
}

}  // namespace

std::string key_table(const std::vector<Key>& keys, const std::string& path) {
  std::string text = "| key | value | default | meaning |\n|---|---|---|---|\n";
  for (const Key& key : keys) {
    const std::string fallback = default_text(key);
    text += fmt::format("| `{}` | {} | {} | {} |\n", key.name, kind_text(key, path),
                        fallback.empty() || key.required ? fallback : fmt::format("`{}`", fallback), escaped(key.doc));
  }
  return text;
}

std::string case_reference() {
  std::string text(introduction);
  text += "\n## The keys of a case\n\n" + key_table(case_file_keys(), "");
  std::set<std::string> written;
  append_chapters(text, case_keys(), "", written);
  return text;
}

std::vector<std::string> explained_words(const std::vector<Key>& of_sweeps) {
  std::set<std::string> known;
  for (const KeyEntry& entry : all_entries(of_sweeps)) {
    known.insert({entry.path, entry.key->name});
    for (const Alternative& one : entry.key->alternatives)
      if (!one.type.empty()) known.insert(one.type);
  }
  return {known.begin(), known.end()};
}

std::string explain(const std::string& name, const std::vector<Key>& of_sweeps) {
  std::string text;
  const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "\n") + part; };
  const std::vector<KeyEntry> entries = all_entries(of_sweeps);
  const KeyEntry* elsewhere = nullptr;  // the innermost, as such keys stand inside of each other
  for (const KeyEntry& entry : entries)
    if (!entry.registry.empty() && name.starts_with(entry.path + ".") &&
        (!elsewhere || entry.path.size() > elsewhere->path.size()))
      elsewhere = &entry;
  const bool is_a_key = std::ranges::count(entries, name, &KeyEntry::path) > 0;
  if (elsewhere && !is_a_key) return explain(elsewhere->registry + name.substr(elsewhere->path.size()), of_sweeps);
  for (const KeyEntry& entry : entries) {
    if (entry.key->alternatives.empty() || !name.starts_with(entry.path + ".")) continue;
    const std::string inner = name.substr(entry.path.size() + 1), word = inner.substr(0, inner.find('.'));
    const Alternative* const one = entry.key->alternative(word);
    if (inner == entry.key->tag) return describe_entry(entry);                   // solver.type
    if (one && inner == word) return describe_alternative(*entry.key, *one);     // solver.gmres
    if (one) return explain(entry.path + inner.substr(word.size()), of_sweeps);  // solver.gmres.restart
  }
  for (const KeyEntry& entry : entries) {
    if (entry.path == name || (entry.registry.empty() && entry.path.ends_with("." + name))) add(describe_entry(entry));
    if (!entry.registry.empty()) continue;
    for (const Alternative& one : entry.key->alternatives)
      if (one.type == name && !name.empty()) add(describe_alternative(*entry.key, one));
  }
  for (const auto kind : {Synonym::Kind::key, Synonym::Kind::type})
    if (const auto known = synonym(name, kind)) {
      const std::string ours(known->ours);
      add(text.empty() ? fmt::format("{}: Krill calls that {}\n\n{}", name, ours, explain(ours, of_sweeps))
                       : fmt::format("{} of other programs: Krill calls that {}\n", name, ours));
    }
  if (!text.empty()) return text;
  throw InvalidArgument(
      fmt::format("a case has nothing that is called '{}'{}", name, did_you_mean(name, explained_words(of_sweeps))));
}

SettingWords setting_words() {
  std::set<std::string> keys, values;
  for (const auto& [path, key, users, registry] : all_entries({})) {
    const bool tagged = key->kind == Key::Kind::variant;
    if (key->kind == Key::Kind::section || key->kind == Key::Kind::tree) continue;
    const std::string setting = path + (tagged ? "." + key->tag : "") + "=";
    keys.insert(setting);
    std::vector<std::string> words = tagged ? types_of(*key) : key->choices;
    if (key->kind == Key::Kind::boolean) words = {"true", "false"};
    for (const auto& word : words) values.insert(setting + word);
  }
  return {{keys.begin(), keys.end()}, {values.begin(), values.end()}};
}

std::string list_types(const Key& variant) {
  std::string text;
  for (const Alternative& one : variant.alternatives) {
    const std::string& type = one.key.empty() ? one.type : one.key;
    text += fmt::format("  {:<22} {}\n", type, wrapped(one.doc, 25));
    if (!one.keys().empty() && one.key.empty())
      text += fmt::format("  {:<22} {}\n", "", wrapped("keys: " + enumerate(names_of(one.keys()), ", "), 25));
  }
  return text;
}

}  // namespace krill::apps

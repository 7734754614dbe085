// The keys of a case, or of a sweep, as data: what checking, schema, documentation and `krill explain` walk.
#pragma once
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "apps/case/case.hpp"

namespace krill::apps {

struct Alternative;

/// One key, with all that describe() says of it.
struct Key {
  enum class Kind { integer, number, numbers, boolean, text, path, choice, section, variant, tree };
  std::string name;
  Kind kind = Kind::section;
  std::string doc;
  bool required = false;
  nlohmann::ordered_json fallback;        ///< the default; of a variant: the type; null where the key is required
  Range range;                            ///< of an integer or a number; of numbers: how many there may be
  std::vector<std::string> choices;       ///< of a choice
  std::vector<Key> keys;                  ///< of a section
  std::string expected;                   ///< of a tree: what has to stand there
  std::string tag;                        ///< of a variant: the key that names the alternative
  std::vector<Alternative> alternatives;  ///< of a variant

  const Alternative* alternative(std::string_view type) const;
};

/// One of the things that a variant can be. It is chosen by its type, or by the presence of its key.
struct Alternative {
  std::string type, key;
  std::string doc;
  const std::vector<Key>& (*described)();

  /// Described when they are asked for, and once: alternatives may hold the variant that they are of, as a solver that
  /// has a solver inside.
  const std::vector<Key>& keys() const { return described(); }
};

/// The alternatives that a walk over all keys has come through. It goes into none of them again, and so it ends.
class Within {
 public:
  Within() = default;
  Within(const Within& outer, const Alternative& inner) : outer_(&outer), inner_(&inner) {}
  bool has(const Alternative& one) const { return inner_ && (inner_->described == one.described || outer_->has(one)); }

 private:
  const Within* outer_ = nullptr;
  const Alternative* inner_ = nullptr;
};

template <class T>
inline constexpr bool is_variant = false;
template <class... Options>
inline constexpr bool is_variant<std::variant<Options...>> = true;

/// Calls f(std::type_identity<Options>) for every alternative of a variant; one that is a variant itself hands on its
/// own.
template <class Variant, class F>
void for_each_alternative(F&& f) {
  [&]<class... Options>(std::type_identity<std::variant<Options...>>) {
    const auto one = [&]<class O>(std::type_identity<O> which) {
      if constexpr (is_variant<O>)
        for_each_alternative<O>(f);
      else
        f(which);
    };
    (one(std::type_identity<Options>()), ...);
  }(std::type_identity<Variant>());
}

/// Calls f on the alternative that a variant holds, through variants in it.
template <class Variant, class F>
void visit_alternative(Variant& variant, F&& f) {
  std::visit(
      [&](auto& held) {
        if constexpr (is_variant<std::remove_const_t<std::remove_reference_t<decltype(held)>>>)
          visit_alternative(held, f);
        else
          f(held);
      },
      variant);
}

/// The type of an alternative, empty where it is chosen by its key.
template <class Options>
constexpr std::string_view type_of() {
  if constexpr (requires { Options::type; })
    return Options::type;
  else
    return {};
}

/// A choice as data: 9 for "9", else the word.
nlohmann::ordered_json choice_value(std::string_view name);

/// The visitor that collects keys. Beside what a case has, a sweep has trees: parts that are cases themselves, or lists
/// of them, which code of its own reads.
class KeyCollector {
 public:
  std::vector<Key> keys;

  void value(std::string_view name, const int& fallback, Range range, std::string_view doc) {
    range.min = std::max(range.min, double{std::numeric_limits<int>::min()});
    range.max = std::min(range.max, double{std::numeric_limits<int>::max()});
    add(Key::Kind::integer, name, doc, fallback).range = range;
  }
  void value(std::string_view name, const double& fallback, Range range, std::string_view doc) {
    add(Key::Kind::number, name, doc, fallback).range = range;
  }
  void value(std::string_view name, const std::optional<double>&, Range range, std::string_view doc) {
    add(Key::Kind::number, name, doc, nullptr).range = range;
  }
  void numbers(std::string_view name, const std::vector<double>&, Range count, std::string_view doc) {
    add(Key::Kind::numbers, name, doc, nullptr).range = count;
  }
  void value(std::string_view name, const bool& fallback, Range, std::string_view doc) {
    add(Key::Kind::boolean, name, doc, fallback);
  }
  void value(std::string_view name, const std::string& fallback, Range, std::string_view doc) {
    add(Key::Kind::text, name, doc, fallback);
  }
  void path(std::string_view name, const std::string& fallback, Need need, std::string_view doc) {
    add(Key::Kind::path, name, doc, fallback, need);
  }
  template <class Enum, class Names>
  void choice(std::string_view name, const Enum& fallback, const Names& names, std::string_view doc) {
    Key& key = add(Key::Kind::choice, name, doc, choice_value(names[static_cast<std::size_t>(fallback)]));
    key.choices.assign(names.begin(), names.end());
  }
  template <class Options>
  void section(std::string_view name, Options& options, std::string_view doc) {
    KeyCollector inner;
    describe(inner, options);
    add(Key::Kind::section, name, doc, nullptr).keys = std::move(inner.keys);
  }
  template <class Variant>
  void variant(std::string_view name, std::string_view tag, Variant& held, Need need, std::string_view doc) {
    Key& key = add(Key::Kind::variant, name, doc, nullptr, need);
    key.tag = tag;
    if (need == Need::optional)
      visit_alternative(held, [&]<class Options>(Options&) { key.fallback = type_of<Options>(); });
    for_each_alternative<Variant>(
        [&]<class Options>(std::type_identity<Options>) { key.alternatives.push_back(alternative<Options>()); });
  }

  void tree(std::string_view name, std::string_view expected, std::string_view doc) {
    add(Key::Kind::tree, name, doc, nullptr).expected = expected;
  }

  /// Of options with their defaults.
  template <class Options>
  static const std::vector<Key>& keys_of() {
    static const std::vector<Key> keys = [] {
      KeyCollector collector;
      Options defaults;
      describe(collector, defaults);
      return std::move(collector.keys);
    }();
    return keys;
  }
  template <class Options>
  static Alternative alternative() {
    Alternative found{std::string(type_of<Options>()), {}, std::string(Options::doc), &keys_of<Options>};
    if constexpr (requires { Options::key; }) found.key = Options::key;
    return found;
  }

 private:
  Key& add(Key::Kind kind, std::string_view name, std::string_view doc, nlohmann::ordered_json fallback,
           Need need = Need::optional) {
    Key key;
    key.kind = kind;
    key.name = name;
    key.doc = doc;
    key.required = need == Need::required;
    if (!key.required) key.fallback = std::move(fallback);
    return keys.emplace_back(std::move(key));
  }
};

/// The keys of a case.
const std::vector<Key>& case_keys();
/// The key of that name, or null.
const Key* find_key(const std::vector<Key>&, std::string_view name);
/// The registry behind a variant of the case: "solver", "preconditioner", ...
const Key& case_key(std::string_view name);
/// The name of the case's own variant whose alternatives `inner`, a key further inside, has, too; empty: there is none.
/// Walks over all keys say of such a key what it is, and where its alternatives stand.
std::string registry_of(const Key& inner);

std::vector<std::string> names_of(const std::vector<Key>&);
/// The types of a variant, without those that are chosen by a key.
std::vector<std::string> types_of(const Key& variant);
/// The sections of a case that have a key of that name, as paths; "" is the case itself.
std::vector<std::string> sections_with(std::string_view name);

/// "at least 1", "above 0 and below 0.5", "1 to 1000"; empty where every number will do.
std::string range_text(const Key&);
/// "an integer of at least 1", "true or false", "one of auto, host, cuda": what has to stand there.
std::string expectation(const Key&);

}  // namespace krill::apps

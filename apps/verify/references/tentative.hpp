// What a tentative prolongator has to be: columns of length 1 in each aggregate, from which candidates come back.
#pragma once
#include <fmt/format.h>

#include <string>

#include "apps/verify/references/coarsening.hpp"

namespace krill::apps::verify {

/// A tentative prolongator for aggregates of nodes of `dim` rows and m candidates: fine(i, j) is entry i of candidate
/// j, coarse(i, j) what the aggregates' columns take to it.
template <class T, class Fine, class Coarse>
class TentativeReference {
 public:
  TentativeReference(const Rows<T>& P0, const DisjointRows& nodes, std::int32_t dim, std::int32_t m, Fine fine,
                     Coarse coarse)
      : p_(P0), nodes_(nodes), dim_(dim), m_(m), fine_(std::move(fine)), coarse_(std::move(coarse)) {}

  /// Of the pattern, or of the triangles of coarse candidates; empty: nothing.
  std::string wrong_pattern() const {
    if (p_.cols != nodes_.count * m_) return fmt::format("P0 has {} columns", p_.cols);
    for (std::int32_t i = 0; i < p_.rows; ++i) {
      const std::int32_t own = nodes_.of_row[as_size(i / dim_)];
      const std::size_t begin = p_.begin(i), entries = p_.end(i) - begin;
      bool as_told = entries == (own < 0 ? 0 : as_size(m_));
      for (std::size_t k = 0; as_told && k < entries; ++k)
        as_told = p_.col[begin + k] == own * m_ + static_cast<std::int32_t>(k);
      if (!as_told) return fmt::format("row {} of P0 has other columns than its aggregate", i);
    }
    for (std::int32_t i = 0; i < p_.cols; ++i)
      for (std::int32_t j = 0; j <= i % m_; ++j) {
        const Exact<T> r = exact(coarse_(i, j));
        if (j < i % m_ ? modulus(r) != 0 : !is_not_negative(r))
          return fmt::format("coarse candidates are no upper triangle with a diagonal that is not negative in row {}",
                             i);
      }
    return {};
  }

  /// P0 B_c = B on the rows of aggregates. A column of an aggregate is rounded once when it is scaled, twice in each of
  /// 2 m steps of Gram and Schmidt, and when its length is divided by, always relative to its length; what is left of
  /// one that depends on others may be dropped.
  Equations<T> restored() const {
    std::vector<long double> sizes(as_size(m_));
    for (std::int32_t i = 0; i < p_.rows; ++i)
      for (std::int32_t j = 0; j < m_; ++j)
        sizes[as_size(j)] = std::max(sizes[as_size(j)], modulus(exact(fine_(i, j))));
    Equations<T> all;
    for_aggregates([&](std::int32_t set, const std::vector<std::int32_t>& rows) {
      bool drops = false;
      for (std::int32_t j = 0; j < m_; ++j) drops |= is_dead(set, j);
      for (std::int32_t j = 0; j < m_; ++j) {
        long double squares = 0;
        for (const std::int32_t i : rows) squares += squared(exact(fine_(i, j)));
        const long double dropped =
            drops ? least<T>() * std::sqrt(static_cast<long double>(rows.size())) * sizes[as_size(j)] : 0;
        for (const std::int32_t i : rows) {
          Exact<T> sum{};
          for (std::int32_t k = 0; k < m_; ++k)
            sum += exact(p_.value[p_.begin(i) + as_size(k)]) * exact(coarse_(set * m_ + k, j));
          all.left.push_back(sum);
          all.right.push_back({exact(fine_(i, j)), rounding() * std::sqrt(squares) + dropped});
        }
      }
    });
    return all;
  }

  /// P0^H P0, which is the identity but for dead columns, where it is zero. What the second sweep leaves of a column of
  /// length 1 in another is its rounding.
  Equations<T> gram() const {
    Equations<T> all;
    for_aggregates([&](std::int32_t set, const std::vector<std::int32_t>& rows) {
      for (std::int32_t j = 0; j < m_; ++j)
        for (std::int32_t k = 0; k <= j; ++k) {
          Exact<T> sum{};
          for (const std::int32_t i : rows)
            sum += conjugated(exact(p_.value[p_.begin(i) + as_size(j)])) * exact(p_.value[p_.begin(i) + as_size(k)]);
          all.left.push_back(sum);
          all.right.push_back({Exact<T>(j == k && !is_dead(set, j) ? 1 : 0), 2 * rounding()});
        }
    });
    return all;
  }

 private:
  static long double squared(const Exact<T>& z) { return modulus(z) * modulus(z); }
  static bool is_not_negative(const Exact<T>& z) {
    if constexpr (is_complex<T>)
      return z.im == 0 && z.re >= 0;
    else
      return z >= 0;
  }
  /// Of a column's length: the greatest that may be left of a column that is taken for dependent on others.
  template <class U>
  static long double least() {
    return std::max(1e-10L, 32.0L * std::numeric_limits<real_t<U>>::epsilon());
  }
  long double rounding() const { return gamma<T>(4 * m_ + 8); }
  bool is_dead(std::int32_t set, std::int32_t j) const { return modulus(exact(coarse_(set * m_ + j, j))) == 0; }
  template <class Use>
  void for_aggregates(Use&& use) const {
    std::vector<std::int32_t> rows;
    for (std::int32_t set = 0; set < nodes_.count; ++set) {
      rows.clear();
      for (const std::int32_t node : nodes_.members(set))
        for (std::int32_t i = 0; i < dim_; ++i) rows.push_back(node * dim_ + i);
      use(set, rows);
    }
  }

  const Rows<T>& p_;
  DisjointRows nodes_;
  std::int32_t dim_, m_;
  Fine fine_;
  Coarse coarse_;
};

}  // namespace krill::apps::verify

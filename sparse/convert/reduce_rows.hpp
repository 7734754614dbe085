// Passes over the entries of rows.
//
//   struct RowPass {
//     CsrView<...> a;
//     using Item = ...;                                        // what entry() of a row's entries is added up to
//     using Sum = ...;                                         // as of passes
//     constexpr bool wants(std::int64_t row) const;            // false: nothing happens for the row
//     constexpr Item entry(std::int64_t row, std::int64_t k) const;
//     constexpr Sum finish_row(std::int64_t row, const Item&) const;
//     constexpr void finish(const Sum&) const;                 // as of passes
//   };
//
// Items of a row may be added in any order.
#pragma once
#include "sparse/core/pass.hpp"
#include "sparse/formats/csr.hpp"

namespace krill::detail {

template <class RowPass>
void reduce_rows(const Host&, RowPass);
template <class RowPass>
void reduce_rows(const Cuda&, RowPass);

}  // namespace krill::detail

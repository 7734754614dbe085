// INSTANTIATE(types) for every row of the table of types; the including file says what that is.
#include "krill/sparse/spmv/mixed.hpp"

namespace krill {

static_assert(std::tuple_size_v<MixedTable> == 9);
INSTANTIATE(mixed_row_t<0>)
INSTANTIATE(mixed_row_t<1>)
INSTANTIATE(mixed_row_t<2>)
INSTANTIATE(mixed_row_t<3>)
INSTANTIATE(mixed_row_t<4>)
INSTANTIATE(mixed_row_t<5>)
INSTANTIATE(mixed_row_t<6>)
INSTANTIATE(mixed_row_t<7>)
INSTANTIATE(mixed_row_t<8>)

}  // namespace krill

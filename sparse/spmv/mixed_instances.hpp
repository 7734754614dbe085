// INSTANTIATE(types) for every row of the table of types; the including file says what that is.
#include "krill/sparse/spmv/mixed.hpp"

namespace krill {

static_assert(std::tuple_size_v<MixedTable> == 9);
INSTANTIATE(mixed_row<0>)
INSTANTIATE(mixed_row<1>)
INSTANTIATE(mixed_row<2>)
INSTANTIATE(mixed_row<3>)
INSTANTIATE(mixed_row<4>)
INSTANTIATE(mixed_row<5>)
INSTANTIATE(mixed_row<6>)
INSTANTIATE(mixed_row<7>)
INSTANTIATE(mixed_row<8>)

}  // namespace krill

// A header of the user's own by the path of one of Krill's.
#pragma once

inline constexpr int sparse_of_the_user = 42;

// Names that stand for several files.
#pragma once
#include <string>
#include <vector>

namespace krill::apps {

/// The files that a name stands for, in their order: "b_{1..3}.mtx" for b_1.mtx, b_2.mtx and b_3.mtx, {01..20} with as
/// many digits as its first number has, {20..1} backwards, "{left,right}.mtx" for left.mtx and right.mtx; of several
/// braces the first one moves slowest. Any other name, and that of a file that is there, stands for itself. Raises
/// InvalidArgument where it stands for more than max_listed_files.
std::vector<std::string> files_named(const std::string& name);

inline constexpr std::size_t max_listed_files = 100'000;

}  // namespace krill::apps

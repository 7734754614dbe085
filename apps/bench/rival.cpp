#include "apps/bench/rival.hpp"

#include "sparse/core/instantiate.hpp"

namespace krill::apps::bench {

void require_rival(const Context& ctx, std::string_view compare) {
  if (compare == "cusparse" && !ctx.on_cuda())
    throw InvalidArgument(
        "--compare cusparse: cuSPARSE runs on CUDA, and this run is on the host; use --backend cuda, or --compare "
        "eigen");
  if (compare == "eigen" && ctx.on_cuda())
    throw InvalidArgument(
        "--compare eigen: Eigen runs on the host, and this run is on CUDA; use --backend host, or --compare cusparse");
  if (compare == "cusparse") require_cusparse_module();
}

template <class T>
std::unique_ptr<Rival<T>> make_rival(Context& ctx, std::string_view compare) {
  require_rival(ctx, compare);
  if (compare == "eigen") return make_eigen_rival<T>(ctx.threads());
  if (compare == "cusparse") return make_cusparse_rival<T>(ctx);
  return nullptr;
}

template <class T>
struct RivalInstances {
  static constexpr auto list = instance<std::unique_ptr<Rival<T>>(Context&, std::string_view)>(make_rival);
};
KRILL_INSTANTIATE(RivalInstances);

}  // namespace krill::apps::bench

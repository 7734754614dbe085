#include "apps/evaluate/evaluation.hpp"
#include "apps/evaluate/page_template.hpp"

namespace krill::apps::evaluate {

std::string evaluation_page(const nlohmann::ordered_json& json) {
  std::string data = json.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace);
  // A name may hold "</script>" or "<!--", which would end the data in the middle.
  for (std::size_t at = 0; (at = data.find('<', at)) != std::string::npos; ++at) data.replace(at, 1, "\\u003c");
  std::string page(page_template);
  constexpr std::string_view mark = "{{evaluation}}";
  page.replace(page.find(mark), mark.size(), data);
  return page;
}

}  // namespace krill::apps::evaluate

// evaluation.html in a real browser: it loads without an error, sorts, filters and toggles. Skipped without Chromium.
#include <cmath>
#include <cstring>

#include "apps/evaluate/evaluation.hpp"
#include "tests/apps/program.hpp"

namespace krill::apps {
namespace {

using nlohmann::json;
using test::contains;
using test::contents;

/// Uses the page as a reader does and leaves what it saw in the title.
constexpr std::string_view visit = R"(<script>
const seen = {errors: window.pageErrors};
const byId = id => document.getElementById(id);
const names = () => [...document.querySelectorAll("#table tbody tr")].map(row => row.querySelector("th").textContent);
const press = button => { button.focus(); button.click(); };
const curves = () => document.querySelectorAll("#curves g[data-run]").length;
seen.curveIds = [...document.querySelectorAll("#curves g[data-run]")].map(one => one.dataset.run);
const rightOf = one => one.getBoundingClientRect().right, leftOf = one => one.getBoundingClientRect().left;
seen.crowded = [...document.querySelectorAll("#curves svg, #scatter svg")].flatMap(svg => {
  const labels = [...svg.querySelectorAll('text[text-anchor=middle]:not(.label)')];
  return labels.filter((one, k) => k && leftOf(one) < rightOf(labels[k - 1])).map(one => one.textContent);
});
seen.cut = document.querySelectorAll("#bars .cut").length;
seen.order = names();
press(document.querySelector("[data-sort=name]"));
seen.byName = names();
seen.ariaUp = document.querySelector("[data-sort=name]").parentElement.getAttribute("aria-sort");
seen.focusStays = document.activeElement.dataset.sort;
press(document.querySelector("[data-sort=name]"));
seen.byNameDown = names();
seen.ariaDown = document.querySelector("[data-sort=name]").parentElement.getAttribute("aria-sort");
byId("filter").value = "jac";
byId("filter").dispatchEvent(new Event("input"));
seen.filtered = names();
byId("filter").value = "";
byId("filter").dispatchEvent(new Event("input"));
seen.curves = curves();
press(document.querySelector("#legend button[aria-pressed=true]"));
seen.curvesAfterToggle = curves();
seen.legendFocusStays = document.activeElement.dataset.curve !== undefined;
press(byId("curves-none"));
seen.curvesNone = curves();
press(byId("curves-all"));
seen.curvesAll = curves();
press(byId("over-time"));
seen.overTime = byId("over-time").getAttribute("aria-pressed") + byId("over-iterations").getAttribute("aria-pressed");
seen.axis = byId("curves").textContent.includes("time, set-up included");
press(document.querySelector("[data-solves='100']"));
seen.bars = document.querySelectorAll("#bars rect title").length;
seen.points = document.querySelectorAll("#scatter path[tabindex]").length;
seen.failures = [...document.querySelectorAll(".failure h3")].map(head => head.textContent);
seen.cards = document.querySelectorAll(".card").length;
seen.title = byId("title").textContent;
seen.overflow = document.documentElement.scrollWidth - document.documentElement.clientWidth;
seen.unnamed = [...document.querySelectorAll("button, input, select")].filter(one =>
  !(one.textContent.trim() || one.getAttribute("aria-label") || one.labels?.length)).length;
seen.requests = performance.getEntriesByType("resource").length;
document.body.replaceChildren(document.createElement("pre"));
document.body.firstChild.textContent = "SEEN" + JSON.stringify(seen) + "NEES";
</script>)";

class EvaluationPage : public test::Program {
 protected:
  /// What the visitor saw.
  json visited(const std::string& page, int width) {
    std::string text = contents(page);
    const std::string listener =
        "<script>window.pageErrors = []; addEventListener('error', e => pageErrors.push(e.message));"
        "const said = console.error; console.error = (...all) => { pageErrors.push(all.join()); said(...all); "
        "};</script>";
    text.insert(text.find("<meta charset"), listener);
    text.insert(text.find("</body>"), visit);
    const std::string path = outputs_.write("visited.html", text);
    const std::string line = "timeout 60 chromium --headless=new --no-sandbox --disable-gpu --user-data-dir='" +
                             (outputs_ / "profile") + "' --window-size=" + std::to_string(width) +
                             ",900 --dump-dom 'file://" + path + "' >'" + (outputs_ / "dom") + "' 2>/dev/null";
    if (std::system("command -v chromium >/dev/null") != 0) return {};
    if (std::system(line.c_str()) != 0) ADD_FAILURE() << "chromium failed";
    const std::string dom = contents(outputs_ / "dom");
    const auto begin = dom.find("SEEN{"), end = dom.find("}NEES");
    if (begin == std::string::npos || end == std::string::npos) {
      ADD_FAILURE() << "the visit did not come to its end:\n" << dom.substr(0, 2000);
      return {{"errors", "no end"}};
    }
    std::string text_seen = dom.substr(begin + 4, end + 1 - begin - 4);
    for (const auto& [entity, letter] : {std::pair("&lt;", "<"), std::pair("&gt;", ">"), std::pair("&amp;", "&")})
      for (std::size_t at = 0; (at = text_seen.find(entity, at)) != std::string::npos; ++at)
        text_seen.replace(at, std::strlen(entity), letter);
    return json::parse(text_seen);
  }
};

TEST_F(EvaluationPage, sorts_filters_and_toggles) {
  folder_.write("sweep.yaml",
                "name: <script>& page\n"
                "case: {matrix: {generate: poisson2d, nx: 20}, solver: {type: pcg}, backend: host, threads: 1}\n"
                "variants:\n"
                "  - {preconditioner: {type: [none, jacobi, ssor]}}\n"
                "  - {name: <b>slow, solver: {max_iterations: 2}}\n");
  ASSERT_EQ(krill("evaluate sweep.yaml --out page").code, 0);
  const std::string text = contents(folder_ / "page/evaluation.html");
  EXPECT_FALSE(contains(text, "https://") || contains(text, "src=") || contains(text, "@import")) << "no network";
  EXPECT_FALSE(contains(text, "{{"));
  for (const int width : {1400, 500}) {
    const json seen = visited(folder_ / "page/evaluation.html", width);
    if (seen.is_null()) GTEST_SKIP() << "there is no Chromium here";
    EXPECT_EQ(seen["errors"], json::array());
    EXPECT_EQ(seen["title"], "<script>& page") << "names are text, never markup";
    ASSERT_EQ(seen["order"].size(), 4U);
    EXPECT_EQ(seen["order"][3], "<b>slow");
    EXPECT_EQ(seen["byName"], json::array({"<b>slow", "pcg + jacobi", "pcg + none", "pcg + ssor"}));
    EXPECT_EQ(seen["byNameDown"], json::array({"pcg + ssor", "pcg + none", "pcg + jacobi", "<b>slow"}));
    EXPECT_EQ(seen["ariaUp"], "ascending");
    EXPECT_EQ(seen["ariaDown"], "descending");
    EXPECT_EQ(seen["focusStays"], "name");
    EXPECT_EQ(seen["filtered"], json::array({"pcg + jacobi"}));
    EXPECT_EQ(seen["curves"], 3);
    EXPECT_EQ(seen["curvesAfterToggle"], 2);
    EXPECT_EQ(seen["legendFocusStays"], true);
    EXPECT_EQ(seen["curvesNone"], 0);
    EXPECT_EQ(seen["curvesAll"], 4);
    EXPECT_EQ(seen["overTime"], "truefalse");
    EXPECT_EQ(seen["axis"], true);
    EXPECT_EQ(seen["bars"], 6) << "set-up and solve of three";
    EXPECT_EQ(seen["points"], 3);
    EXPECT_EQ(seen["failures"], json::array({"<b>slow: max iterations"}));
    EXPECT_EQ(seen["cards"], 3);
    EXPECT_LE(seen["overflow"], 0) << "the page is no wider than the window";
    EXPECT_EQ(seen["unnamed"], 0) << "every control has a name";
    EXPECT_EQ(seen["requests"], 0);
  }
}

/// Eight variants of which one takes a thousand times as long as the others, and is the best for many solves all the
/// same: it is among the first curves, and its bar is cut.
TEST_F(EvaluationPage, shows_who_is_recommended_and_cuts_outliers) {
  folder_.write("sweep.yaml",
                "name: page\n"
                "case: {matrix: {generate: poisson2d, nx: 12}, solver: {type: pcg}, backend: host, threads: 1}\n"
                "grid: {preconditioner: [none, jacobi, block_jacobi, ssor, ilu0, ic0, isai, chebyshev]}\nrepeats: 1\n");
  ASSERT_EQ(krill("evaluate sweep.yaml --out page").code, 0);
  auto all = nlohmann::ordered_json::parse(contents(folder_ / "page/evaluation.json"));
  auto& here = all["systems"][0];
  const auto last = here["ranking"]["one_solve"].back().get<std::size_t>();
  ASSERT_EQ(here["ranking"]["one_solve"].size(), 8U);
  here["recommendation"]["many_solves"]["run"] = last;
  for (const char* figure : {"median", "least", "greatest"})
    all["runs"][last]["solve_ms"][figure] = 1000 * all["runs"][last]["solve_ms"][figure].get<double>();
  folder_.write("page/evaluation.html", evaluate::evaluation_page(all));
  for (const int width : {1280, 500}) {
    const json seen = visited(folder_ / "page/evaluation.html", width);
    if (seen.is_null()) GTEST_SKIP() << "there is no Chromium here";
    EXPECT_EQ(seen["errors"], json::array());
    EXPECT_TRUE(contains(seen["curveIds"].dump(), '"' + std::to_string(last) + '"')) << seen;
    EXPECT_EQ(seen["cut"], 1);
    EXPECT_LE(seen["overflow"], 0);
  }
  for (std::size_t k = 0; k < 8; ++k)  // nearly three decades, with a label at 1, 2 and 5 of each where there is room
    all["runs"][k]["setup_ms"]["median"] = 0.5 * std::pow(2.5, k);
  folder_.write("page/evaluation.html", evaluate::evaluation_page(all));
  const json seen = visited(folder_ / "page/evaluation.html", 500);
  EXPECT_EQ(seen["crowded"], json::array()) << "labels of an axis do not touch";
}

TEST(EvaluationPageText, holds_its_data_safely) {
  const std::string page = evaluate::evaluation_page({{"name", "</script><script>alert(1)</script>"}});
  EXPECT_FALSE(contains(page, "</script><script>alert"));
  EXPECT_TRUE(contains(page, "\\u003c/script>"));
}

}  // namespace
}  // namespace krill::apps

// The page itself.
const columns = [
  {id: "rank", title: "#", value: run => run.rank ? run.rank.one_solve : null, show: run => run.rank ? (run.pareto ? "◆ " : "") + run.rank.one_solve : ""},
  {id: "name", title: "Variant", value: run => run.name},
  ...[1, 10, 100].map(n => ({id: "total" + n, title: n === 1 ? "1 rhs" : n + " rhs", value: run => run.total_ms && run.total_ms[n],
    show: run => run.total_ms ? time(run.total_ms[n]) : ""})),
  {id: "setup", title: "Set-up", value: run => run.setup_ms && run.setup_ms.median, show: run => spreadCell(run.setup_ms)},
  {id: "solve", title: "Solve", value: run => run.solve_ms && run.solve_ms.median, show: run => spreadCell(run.solve_ms)},
  {id: "iterations", title: "Iterations", value: run => run.samples_ms.length ? run.iterations : null},
  {id: "each", title: "Each", value: run => run.ms_per_iteration, show: run => time(run.ms_per_iteration)},
  {id: "memory", title: "Memory", value: run => run.memory_bytes || null, show: run => run.memory_bytes ? bytes(run.memory_bytes) : ""},
  {id: "pays", title: "Pays from", value: run => run.break_even, show: run => known(run.break_even) ? run.break_even + " rhs" : ""},
  {id: "residual", title: "Residual", value: run => run.samples_ms.length ? run.true_relative : null, show: run => run.samples_ms.length ? power(run.true_relative) : ""},
  {id: "status", title: "Status", value: run => run.status, show: run => run.status.replaceAll("_", " ")},
];
function spreadCell(spread) {
  if (!spread) return "";
  const range = halfRange(spread);
  return element("span", {}, time(spread.median), range > 0 ? element("span", {class: "spread"}, " ±" + time(range)) : null);
}

function compare(a, b) {
  const column = columns.find(one => one.id === view.sort), x = column.value(a), y = column.value(b);
  const missing = value => value === null || value === undefined || Number.isNaN(value);
  if (missing(x) || missing(y)) return missing(x) - missing(y);  // at the end, whichever way
  const order = typeof x === "string" ? x.localeCompare(y) : x - y;
  return view.down ? -order : order;
}

function drawTable() {
  const head = element("tr");
  for (const column of columns) {
    const sorted = view.sort === column.id ? (view.down ? "descending" : "ascending") : "none";
    const button = element("button", {type: "button", "data-sort": column.id}, column.title);
    button.addEventListener("click", () => {
      view.down = view.sort === column.id && !view.down;
      view.sort = column.id;
      drawTable();
      $("table").querySelector(`[data-sort=${column.id}]`).focus();
    });
    head.append(element("th", {scope: "col", "aria-sort": sorted, class: column.id === "name" ? "name" : null}, button));
  }
  const words = view.filter.toLowerCase().split(/[\s,]+/).filter(word => word);
  const fits = run => words.every(word => (run.name + " " + run.status).toLowerCase().includes(word)) && (!view.onlyPareto || run.pareto);
  const runs = runsHere().filter(fits).sort(compare);
  const picked = system().recommendation ? system().recommendation.one_solve.run : -1;
  const best = Object.fromEntries(columns.map(c => [c.id, Math.min(...solvedHere().map(c.value).filter(known))]));
  const body = element("tbody", {}, ...runs.map(run => {
    const row = element("tr", {"data-run": run.id, class: run.id === picked ? "picked" : null});
    for (const column of columns) {
      if (column.id === "name") {
        row.append(element("th", {scope: "row", class: "name"}, curveBox(run)));
        continue;
      }
      const value = column.value(run), shown = column.show ? column.show(run) : known(value) ? String(value) : "";
      const isBest = known(value) && run.status === "converged" && value === best[column.id] && !["rank", "pays", "residual"].includes(column.id);
      row.append(element("td", {class: column.id === "status" && run.status !== "converged" ? "status" : isBest ? "best" : null}, shown));
    }
    return row;
  }));
  $("table").replaceChildren(element("caption", {class: "skip"}, "Variants of " + system().name), element("thead", {}, head), body);
  $("count").textContent = `${runs.length} of ${runsHere().length} variants`;
}
function curveBox(run) {
  const box = element("input", {type: "checkbox", "aria-label": "Curve of " + run.name});
  box.checked = view.shown.has(run.id);
  box.disabled = run.history.iteration.length < 2;
  box.addEventListener("change", () => toggle(run.id));
  return element("label", {}, box, swatch(run), element("span", {}, ...breakable(run.name)));
}
function toggle(id) {
  if (!view.shown.delete(id)) view.shown.add(id);
  const box = $("table").querySelector(`tr[data-run="${id}"] input`);
  if (box) box.checked = view.shown.has(id);
  drawLegend();
  drawCurves();
}
function show(ids) {
  view.shown = new Set(ids);
  drawTable();
  drawLegend();
  drawCurves();
}

function drawLegend() {
  const focused = document.activeElement && document.activeElement.dataset ? document.activeElement.dataset.curve : null;
  const runs = runsHere().filter(run => run.history.iteration.length > 1);
  $("legend").replaceChildren(...runs.map(run => {
    const button = element("button", {type: "button", "aria-pressed": String(view.shown.has(run.id)), "data-curve": run.id}, swatch(run), run.name);
    button.addEventListener("click", () => toggle(run.id));
    return button;
  }));
  if (focused) $("legend").querySelector(`[data-curve="${focused}"]`)?.focus();
}

function drawCards() {
  const here = system(), figure = {
    one_solve: run => time(run.total_ms[1]), many_solves: run => time(run.solve_ms.median) + " a solve", least_memory: run => bytes(run.memory_bytes)};
  if (!here.recommendation) {
    $("cards").replaceChildren(element("p", {}, "No variant converged; the list of failures below says why, and what to try."));
    $("steps").textContent = "";
    return;
  }
  $("cards").replaceChildren(...uses.map(([use, title]) => {
    const pick = here.recommendation[use], run = data.runs[pick.run];
    return element("article", {class: "card"}, element("h3", {}, title), element("p", {class: "pick"}, ...breakable(run.name)),
      element("p", {class: "figure"}, figure[use](run)), element("p", {class: "why"}, pick.sentence));
  }));
  const steps = here.quickest_from || [];
  $("steps").textContent = steps.length < 2 ? "" : "The quickest by the number of right-hand sides: " +
    steps.map(step => `from ${step.solves} on ${data.runs[step.run].name}`).join(", ") + ".";
}

function drawFailures() {
  const failed = runsHere().filter(run => run.status !== "converged");
  $("failures").hidden = !failed.length;
  $("failure-list").replaceChildren(...failed.map(run => element("article", {class: "failure"},
    element("h3", {}, run.name, ": ", element("span", {class: "status"}, run.status.replaceAll("_", " "))),
    element("p", {}, run.why || ""), run.remedy ? element("p", {class: "note"}, run.remedy) : null)));
}

function drawOverall() {
  if (!data.overall) return;
  $("overall").hidden = false;
  $("overall-sentences").replaceChildren(...uses.map(([use]) => element("p", {}, data.overall[use].sentence)));
  const ratio = (name, here) => {
    const run = here.runs.map(id => data.runs[id]).find(one => one.name === name);
    if (!run) return "";
    const first = here.ranking && data.runs[here.ranking.one_solve[0]];
    return run.total_ms && first ? (run.total_ms[1] / first.total_ms[1]).toFixed(2) : "–";
  };
  const head = element("tr", {}, ...["Variant", "Solved", "Mean"].map((word, k) => element("th", {scope: "col", class: k ? null : "name"}, word)),
    ...data.systems.map(here => element("th", {scope: "col"}, here.name)));
  $("overall-table").replaceChildren(element("thead", {}, head), element("tbody", {}, ...data.overall.one_solve.ranking.map(one =>
    element("tr", {}, element("th", {scope: "row", class: "name"}, ...breakable(one.name)), element("td", {}, `${one.solved}/${data.systems.length}`),
      element("td", {}, known(one.ratio) ? one.ratio.toFixed(2) : ""), ...data.systems.map(here => {
        const words = ratio(one.name, here);
        return element("td", {class: words === "1.00" ? "best" : null}, words);
      })))));
}

function drawFacts() {
  const e = data.environment, m = system().matrix_properties || {}, v = data.versions, s = data.settings;
  const rhs = system().rhs, stop = system().stop;
  const facts = [
    ["Matrix", m.source ? `${m.source}: ${m.rows} × ${m.cols}, ${m.nnz} entries, ${m.hermitian ? (m.complex ? "Hermitian" : "symmetric") : "nonsymmetric"}, ${m.definiteness.replaceAll("_", " ")}` : system().name],
    ["Checksum", m.checksum], ["Right-hand side", rhs.type + (rhs.path ? " " + rhs.path : "")],
    ["Target", `‖b − A x‖ ≤ ${stop.relative} ‖${stop.baseline === "rhs" ? "b" : "b − A x₀"}‖`],
    ["Processor", `${e.processor}, ${e.cores} cores, ${bytes(e.memory_bytes)}`], ["Device", e.device],
    ["Krill", `${v.krill} (${v.commit}), ${v.compiler}`],
    ["Sweep", `${s.repeats} repeats after one that warms up, ${s.time_limit_s} s for a run${s.budget_s ? `, budget ${s.budget_s} s` : ""}; ${data.status.replaceAll("_", " ")} after ${time(1000 * data.seconds)}, begun ${data.started_at}`],
    ["To use the best", data.best === null ? null : "krill solve best.yaml"],
  ];
  $("facts").replaceChildren(...facts.filter(([, value]) => value).flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
}

function drawSystem() {
  const ranked = system().ranking ? system().ranking.one_solve : [];
  const picked = Object.values(system().recommendation || {}).map(one => one.run);
  view.best = ranked.length ? [...new Set([...picked, ...ranked.slice(0, 6)])] : system().runs.slice(0, 6);
  view.shown = new Set(view.best);
  drawCards();
  drawTable();
  drawLegend();
  drawCharts();
  drawFailures();
  drawFacts();
}
function drawCharts() {
  drawCurves();
  drawBars();
  drawScatter();
}
/** One of a group of buttons is pressed. */
function press(button) {
  for (const one of button.parentElement.children) one.setAttribute("aria-pressed", String(one === button));
}

document.title = data.name + ": Krill evaluation";
$("title").textContent = data.name;
const solvedCount = data.runs.filter(run => run.status === "converged").length;
$("about").textContent = `Krill evaluation: ${solvedCount} of ${data.runs.length} variants converged, ` +
  `${data.systems.length} ${data.systems.length === 1 ? "system" : "systems"}, ${data.environment.device || data.environment.processor}, ${data.started_at.slice(0, 10)}` +
  (data.status === "complete" ? "" : ` (${data.status.replaceAll("_", " ")})`);
$("systems").hidden = data.systems.length < 2;
$("system").append(...data.systems.map((one, k) => element("option", {value: k}, one.name)));
$("system").addEventListener("change", event => { view.system = Number(event.target.value); drawSystem(); });
$("filter").addEventListener("input", event => { view.filter = event.target.value; drawTable(); });
$("only-pareto").addEventListener("change", event => { view.onlyPareto = event.target.checked; drawTable(); });
for (const [id, overTime] of [["over-iterations", false], ["over-time", true]])
  $(id).addEventListener("click", event => { view.overTime = overTime; press(event.currentTarget); drawCurves(); });
$("curves-best").addEventListener("click", () => show(view.best));
$("curves-all").addEventListener("click", () => show(runsHere().filter(run => run.history.iteration.length > 1).map(run => run.id)));
$("curves-none").addEventListener("click", () => show([]));
for (const button of document.querySelectorAll("[data-solves]"))
  button.addEventListener("click", () => { view.solves = Number(button.dataset.solves); press(button); drawBars(); });
let width = window.innerWidth;
window.addEventListener("resize", () => { if (window.innerWidth !== width) { width = window.innerWidth; drawCharts(); } });
const paperWidth = 700;
window.addEventListener("beforeprint", () => { view.paper = paperWidth; drawCharts(); });
window.addEventListener("afterprint", () => { view.paper = 0; drawCharts(); });
if (data.systems.length) drawSystem();
drawOverall();

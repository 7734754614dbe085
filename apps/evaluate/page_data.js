// What the page shows: the evaluation, words for its numbers, and a look for each curve.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = id => document.getElementById(id);
const uses = [["one_solve", "One solve"], ["many_solves", "Many solves"], ["least_memory", "Least memory"]];

/** An element with attributes and children; text is never taken for markup. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes))
    if (value !== null && value !== false) made.setAttribute(name, value === true ? "" : value);
  made.append(...children.filter(child => child !== null));
  return made;
}
function vector(tag, attributes = {}, ...children) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** A name, with places where a line may end: within brackets after their signs, rather than within words. */
const breakable = name => name.split(/(?<=[(=,])/).flatMap(part => [document.createElement("wbr"), part]);

const known = value => typeof value === "number" && Number.isFinite(value);
function time(ms) {
  if (!known(ms)) return "";
  if (ms < 0.0995) return (1000 * ms).toFixed(0) + " µs";
  if (ms < 9.95) return ms.toFixed(2) + " ms";
  if (ms < 995) return ms.toFixed(1) + " ms";
  return ms < 99500 ? (ms / 1000).toFixed(2) + " s" : (ms / 1000).toFixed(0) + " s";
}
function bytes(count) {
  if (!known(count)) return "";
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let k = 0;
  for (; count >= 1024 && k + 1 < units.length; ++k) count /= 1024;
  return count.toFixed(k && count < 100 ? 1 : 0) + " " + units[k];
}
const power = value => known(value) ? value.toExponential(1) : "";
const halfRange = spread => 0.5 * (spread.greatest - spread.least);

// Seven hues that the color-blind can tell apart, four dash patterns and five markers: no two of 140 look the same.
const dashes = ["", "7 4", "2 3", "9 3 2 3"];
const markers = [
  (x, y, r) => `M${x - r},${y}a${r},${r} 0 1 0 ${2 * r},0a${r},${r} 0 1 0 ${-2 * r},0Z`,
  (x, y, r) => `M${x - r},${y - r}h${2 * r}v${2 * r}h${-2 * r}Z`,
  (x, y, r) => `M${x},${y - 1.2 * r}L${x + 1.2 * r},${y + r}H${x - 1.2 * r}Z`,
  (x, y, r) => `M${x},${y - 1.3 * r}L${x + 1.3 * r},${y}L${x},${y + 1.3 * r}L${x - 1.3 * r},${y}Z`,
  (x, y, r) => `M${x},${y + 1.2 * r}L${x + 1.2 * r},${y - r}H${x - 1.2 * r}Z`,
];
const names = [...new Set(data.runs.map(run => run.name))];
/** The look of a method, the same on every system. */
function look(run) {
  const k = names.indexOf(run.name);
  return {color: `var(--c${k % 7})`, dash: dashes[Math.floor(k / 7) % 4], marker: markers[k % 5]};
}
function swatch(run) {
  const {color, dash, marker} = look(run);
  return vector("svg", {class: "swatch", viewBox: "0 0 30 12", "aria-hidden": "true"},
    vector("path", {d: "M0,6H30", stroke: color, "stroke-width": 2.5, "stroke-dasharray": dash}),
    vector("path", {d: marker(15, 6, 4), fill: color}));
}

/** The state of the page. */
const view = {system: 0, sort: "rank", down: false, filter: "", onlyPareto: false, overTime: false, solves: 1, paper: 0,
  shown: new Set()};
const system = () => data.systems[view.system];
const runsHere = () => system().runs.map(id => data.runs[id]);
const solvedHere = () => runsHere().filter(run => run.status === "converged");

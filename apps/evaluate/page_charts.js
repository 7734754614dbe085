// Charts as SVG, drawn at the width that there is.
const room = {left: 84, right: 26, top: 14, bottom: 44};
const lineApart = 34, wordApart = 72;  // of labels above and beside each other
const chartWidth = host => view.paper || Math.max(300, host.clientWidth || 900);

/** Ends at powers of ten, or where that would leave much empty, at their doubles and halves. Labels are so far apart. */
function logarithmic(least, greatest, from, to, apart) {
  const wide = greatest / least > 1e3, parts = wide ? [1] : [1, 2, 5], ticks = [];
  for (let k = Math.floor(Math.log10(least)) - 1; k <= Math.ceil(Math.log10(greatest)) + 1; ++k)
    for (const part of parts) ticks.push(part * 10 ** k);
  const first = ticks.findLastIndex(tick => tick <= least * 1.001);
  const last = Math.max(ticks.findIndex(tick => tick >= greatest / 1.001), first + 1);
  const low = Math.log10(ticks[first]), high = Math.log10(ticks[last]);
  const scale = value => from + (Math.log10(value) - low) / (high - low) * (to - from);
  const step = Math.max(1, Math.ceil((last - first) / (Math.abs(to - from) / apart)));
  scale.ticks = ticks.slice(first, last + 1).filter((_, k) => k % step === 0);
  return scale;
}
function linear(greatest, from, to) {
  const rough = (greatest || 1) / Math.max(2, Math.abs(to - from) / 110);
  const unit = 10 ** Math.floor(Math.log10(rough));
  const step = unit * [1, 2, 5, 10].find(k => k * unit >= rough);
  const scale = value => from + value / (greatest || 1) * (to - from);
  scale.ticks = [];
  for (let k = 0; k * step <= greatest * 1.0001; ++k) scale.ticks.push(k * step);
  return scale;
}
const text = (x, y, words, anchor = "middle", kind = "") =>
  vector("text", {x, y, "text-anchor": anchor, class: kind}, words);

/** A frame with ticks; returns what is drawn on. */
function frame(width, height, xs, ys, labels, format) {
  const svg = vector("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": labels.summary});
  for (const x of xs.ticks) {
    svg.append(vector("path", {d: `M${xs(x)},${room.top}V${height - room.bottom}`, class: "grid"}));
    svg.append(text(xs(x), height - room.bottom + 16, format.x(x)));
  }
  for (const y of ys.ticks) {
    svg.append(vector("path", {d: `M${room.left},${ys(y)}H${width - room.right}`, class: "grid"}));
    svg.append(text(room.left - 7, ys(y) + 4, format.y(y), "end"));
  }
  svg.append(vector("path", {d: `M${room.left},${room.top}V${height - room.bottom}H${width - room.right}`, class: "axis"}));
  svg.append(text((room.left + width - room.right) / 2, height - 8, labels.x, "middle", "label"));
  const turned = text(0, 0, labels.y, "middle", "label");
  turned.setAttribute("transform", `translate(13,${(room.top + height - room.bottom) / 2}) rotate(-90)`);
  svg.append(turned);
  return svg;
}
const exponent = value => "1e" + Math.round(Math.log10(value));
const nothing = words => element("p", {class: "note"}, words);

function drawCurves() {
  const host = $("curves");
  const runs = runsHere().filter(run => view.shown.has(run.id) && run.history.iteration.length > 1);
  if (!runs.length) return host.replaceChildren(nothing("No curve is chosen: use the boxes in the ranking, or the names below."));
  const curves = runs.map(run => {
    const setup = run.setup_ms ? run.setup_ms.median : 0, each = run.ms_per_iteration || 0;
    const points = run.history.iteration.map((k, i) => [view.overTime ? setup + k * each : k, run.history.residual[i]]);
    return {run, points: points.filter(([, r]) => known(r) && r > 0)};
  });
  const all = curves.flatMap(curve => curve.points);
  if (!all.length) return host.replaceChildren(nothing("These curves hold no finite residual."));
  const target = Math.min(...runs.map(run => run.target_relative).filter(t => t > 0));
  const low = Math.max(1e-300, Math.min(target, ...all.map(p => p[1]))), high = Math.min(1e300, Math.max(...all.map(p => p[1])));
  const width = chartWidth(host), height = Math.min(460, Math.max(300, 0.5 * width));
  const xs = linear(Math.max(...all.map(p => p[0])), room.left, width - room.right);
  const ys = logarithmic(low, high, height - room.bottom, room.top, lineApart);
  const svg = frame(width, height, xs, ys,
    {x: view.overTime ? "time, set-up included" : "iterations", y: "relative residual",
      summary: `Residual over ${view.overTime ? "time" : "iterations"} of ${runs.map(run => run.name).join("; ")}`},
    {x: x => view.overTime ? time(x) || "0" : String(x), y: exponent});
  if (known(target)) svg.append(vector("path", {d: `M${room.left},${ys(target)}H${width - room.right}`, class: "target"}),
    text(room.left + 4, ys(target) - 4, "target", "start", "label"));
  for (const {run, points} of curves) {
    const {color, dash, marker} = look(run);
    const line = points.map(([x, r], i) => `${i ? "L" : "M"}${xs(x).toFixed(1)},${ys(r).toFixed(1)}`).join("");
    const group = vector("g", {"data-run": run.id}, vector("title", {}, run.name),
      vector("path", {d: line, fill: "none", stroke: color, "stroke-width": 2, "stroke-dasharray": dash}));
    const [x, r] = points[points.length - 1];
    const end = {d: marker(xs(x), ys(r), 5), fill: run.status === "converged" ? color : "var(--paper)", stroke: color, "stroke-width": 2};
    group.append(vector("path", end));
    svg.append(group);
  }
  host.replaceChildren(svg);
}

function drawBars() {
  const host = $("bars");
  const total = run => run.setup_ms.median + view.solves * run.solve_ms.median;
  const runs = solvedHere().sort((a, b) => total(a) - total(b));
  if (!runs.length) return host.replaceChildren(nothing("No variant converged."));
  const width = chartWidth(host);
  // Bars of more than five times the median are cut, so that one outlier does not make slivers of the others.
  const middle = total(runs[Math.floor((runs.length - 1) / 2)]);
  const most = Math.max(...runs.map(total).filter(value => value <= 5 * middle));
  const share = value => Math.min(1, value / most) * (width - 92);
  // A picture for each, so that paper can break between them.
  const picture = (height, label) => vector("svg", {viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": label});
  const head = picture(28, `Times of set-up and ${view.solves} solves`);
  head.append(vector("defs", {}, vector("pattern", {id: "hatch", width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: "rotate(45)"},
    vector("rect", {width: 6, height: 6, fill: "var(--c1)"}), vector("rect", {width: 2, height: 6, fill: "var(--paper)"}))));
  const key = (x, fill, words) => head.append(vector("rect", {x, y: 4, width: 22, height: 12, fill}), text(x + 28, 14, words, "start"));
  key(0, "url(#hatch)", "set-up");
  key(96, "var(--c0)", view.solves === 1 ? "solve" : view.solves + " solves");
  const bars = runs.map(run => {
    const svg = picture(38, `${run.name}: ${time(total(run))}`);
    const setup = share(run.setup_ms.median), solve = share(total(run)) - setup;
    const isCut = total(run) > most, end = setup + solve;
    svg.append(text(0, 11, run.name, "start"),
      vector("rect", {x: 0, y: 16, width: Math.max(setup, 0.5), height: 13, fill: "url(#hatch)"}, vector("title", {}, "set-up " + time(run.setup_ms.median))),
      vector("rect", {x: setup, y: 16, width: Math.max(solve, 0.5), height: 13, fill: "var(--c0)"}, vector("title", {}, "solve " + time(run.solve_ms.median))),
      text(end + 6, 27, time(total(run)), "start"));
    if (isCut) svg.append(vector("path", {class: "cut", d: `M${end - 16},31l6,-17m4,0l-6,17`, stroke: "var(--paper)", "stroke-width": 3},
      vector("title", {}, "cut: longer than the scale")));
    return svg;
  });
  host.replaceChildren(head, ...bars);
}

function drawScatter() {
  const host = $("scatter");
  const x = run => Math.max(run.setup_ms.median, 1e-3), y = run => Math.max(run.solve_ms.median, 1e-3);
  const runs = solvedHere();
  if (!runs.length) return host.replaceChildren(nothing("No variant converged."));
  const width = chartWidth(host), height = Math.min(460, Math.max(300, 0.5 * width));
  const xs = logarithmic(Math.min(...runs.map(x)), Math.max(...runs.map(x)), room.left, width - room.right, wordApart);
  const ys = logarithmic(Math.min(...runs.map(y)), Math.max(...runs.map(y)), height - room.bottom, room.top, lineApart);
  const svg = frame(width, height, xs, ys, {x: "set-up", y: "one solve",
    summary: `Set-up against solve; Pareto set: ${runs.filter(run => run.pareto).map(run => run.name).join("; ")}`}, {x: time, y: time});
  const front = runs.filter(a => !runs.some(b => x(b) <= x(a) && y(b) <= y(a) && (x(b) < x(a) || y(b) < y(a)))).sort((a, b) => x(a) - x(b));
  svg.append(vector("path", {d: front.map((run, i) => (i ? `H${xs(x(run))}V${ys(y(run))}` : `M${xs(x(run))},${ys(y(run))}`)).join(""),
    fill: "none", class: "axis"}));
  for (const run of runs) {
    const {color, marker} = look(run);
    const point = vector("path", {d: marker(xs(x(run)), ys(y(run)), 6), fill: run.pareto ? color : "var(--paper)", stroke: color,
      "stroke-width": 2, tabindex: 0, role: "img", "aria-label": `${run.name}: set-up ${time(x(run))}, solve ${time(y(run))}, ${bytes(run.memory_bytes)}`});
    point.append(vector("title", {}, `${run.name}\nset-up ${time(x(run))}, solve ${time(y(run))}, ${bytes(run.memory_bytes)}`));
    svg.append(point);
  }
  let last = [];
  const isPicked = run => Object.values(system().recommendation).some(one => one.run === run.id);
  for (const run of front.sort((a, b) => isPicked(b) - isPicked(a))) {  // names of the front, where they do not lie on each other
    const px = xs(x(run)), py = ys(y(run)), right = px > width - 220;
    if (last.some(([qx, qy]) => Math.abs(qx - px) < 190 && Math.abs(qy - py) < 15)) continue;
    last.push([px, py]);
    svg.append(text(px + (right ? -10 : 10), py - 8, run.name, right ? "end" : "start"));
  }
  host.replaceChildren(svg);
}

"use strict";
// Draws the topic that is chosen. Texts reach the page through textContent and attributes only, never as markup.
const report = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const SVG = "http://www.w3.org/2000/svg";
let topic, at;  // the topic shown, and which of its points the threshold is at

function make(name, attributes = {}, ...inside) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...inside);  // strings become text
  return element;
}
function draw(parent, name, attributes, text) {
  const element = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  if (text !== undefined) element.textContent = text;
  return parent.appendChild(element);
}
const name = (label) => make("bdi", {}, label || "nothing");
const share = (value) => (value === null ? "–" : value.toFixed(2));
const signed = (value, digits = 3) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
const amount = (value) => (value === null ? "–" : value.toLocaleString("en", { maximumFractionDigits: 2 }).replace("-", "−"));

// Threshold and what it gives
function state(k) {
  const { threshold, tp, fp, precision, recall, utility } = topic.points;
  return { threshold: threshold[k], hits: tp[k], falseAlarms: fp[k], misses: topic.n_texts - tp[k],
    precision: precision[k], recall: recall[k], utility: utility[k] };
}
function moveTo(k) {
  at = k;
  const now = state(k), cut = $("cut");
  cut.value = now.threshold;
  const position = now.threshold === 0 ? "0, in use" : signed(now.threshold);
  cut.setAttribute("aria-valuetext", `${position}: ${now.hits} hits, ${now.falseAlarms} false alarms, ${now.misses} misses, utility ${amount(now.utility)}`);
  const shown = { threshold: position, hits: now.hits, "false alarms": now.falseAlarms, misses: now.misses, precision: share(now.precision),
    recall: share(now.recall), utility: amount(now.utility) };
  $("readout").replaceChildren(...Object.entries(shown).map(([what, value]) =>
    make("div", {}, make("dt", {}, what), make("dd", { id: `now-${what.replace(" ", "-")}` }, String(value)))));
  drawUtility();
  drawPrecision();
  showBudget();
  listBorderline(now.threshold);
}

// Charts
function frame(parent, label, x, y, xTitle, ticks) {
  const width = Math.max(260, Math.min(parent.clientWidth || 480, 560)), height = 270;
  const left = 52, right = width - 12, top = 12, bottom = height - 46;
  const svg = document.createElementNS(SVG, "svg");
  for (const [key, value] of Object.entries({ viewBox: `0 0 ${width} ${height}`, width, height, role: "img", "aria-label": label })) svg.setAttribute(key, value);
  const clamp = (value, [low, high]) => Math.min(Math.max(value, low), high);
  const px = (value) => left + ((clamp(value, x) - x[0]) / (x[1] - x[0] || 1)) * (right - left);
  const py = (value) => bottom - ((clamp(value, y) - y[0]) / (y[1] - y[0] || 1)) * (bottom - top);
  draw(svg, "path", { class: "axis", d: `M${left} ${top}V${bottom}H${right}` });
  for (const value of ticks(x)) {
    draw(svg, "path", { class: "axis", d: `M${px(value)} ${bottom}v5` });
    draw(svg, "text", { x: px(value), y: bottom + 19, "text-anchor": "middle" }, tidy(value));
  }
  for (const value of ticks(y)) {
    draw(svg, "path", { class: "axis", d: `M${left} ${py(value)}h-5` });
    draw(svg, "text", { x: left - 8, y: py(value) + 4, "text-anchor": "end" }, tidy(value));
  }
  draw(svg, "text", { x: (left + right) / 2, y: height - 8, "text-anchor": "middle" }, xTitle);
  parent.replaceChildren(svg);
  return { svg, px, py, top, bottom, left, right };
}
function ticks([low, high]) {
  const rough = (high - low || 1) / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough), found = [];
  for (let k = Math.ceil(low / step); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}
const tidy = (value) => String(+value.toPrecision(6)).replace("-", "−");
function drawUtility() {
  const { threshold, utility } = topic.points, now = state(at);
  if (topic.best === null) { $("utility").replaceChildren("There is no utility to draw: none is given for this topic, or it has no text here."); return; }
  // Accepting everything may cost a hundred times what there is to win: what lies further below is cut off.
  const best = utility[topic.best], start = utility[0], used = utility[topic.in_use];
  const floor = Math.max(Math.min(...utility), Math.min(start, used) - Math.max(best - Math.min(start, used), 1e-9));
  const near = threshold.filter((_, k) => utility[k] >= floor);
  const interval = topic.interval ? [topic.interval.theta_low, topic.interval.theta_high] : [];
  const x = [Math.min(0, ...near, ...interval), Math.max(0, ...near, ...interval)], y = [floor, best + 0.06 * (best - floor || 1)];
  const label = `Utility by threshold. At ${signed(now.threshold)} it is ${amount(now.utility)}; the best is ${amount(best)} at ${signed(threshold[topic.best])}.`;
  const { svg, px, py, top, bottom, left, right } = frame($("utility"), label, x, y, "threshold (0 is in use)", ticks);
  if (topic.interval) draw(svg, "rect", { class: "interval", x: px(interval[0]) - 1, y: top, width: px(interval[1]) - px(interval[0]) + 2, height: bottom - top });
  if (floor <= 0 && 0 <= y[1]) draw(svg, "path", { class: "zero", d: `M${left} ${py(0)}H${right}` });
  const path = threshold.map((value, k) => `${px(value)} ${py(utility[k])}`);
  draw(svg, "path", { class: "curve", d: `M${path.join("L")}` });
  draw(svg, "path", { class: "used", d: `M${px(0)} ${top}V${bottom}` });
  const read = withinBudget();
  if (read !== null) draw(svg, "path", { class: "budget", d: `M${px(threshold[read])} ${top}V${bottom}` });
  draw(svg, "path", { class: "now", d: `M${px(now.threshold)} ${top}V${bottom}` });
  draw(svg, "circle", { class: "now", cx: px(now.threshold), cy: py(now.utility), r: 6 });
}
function drawPrecision() {
  const { precision, recall } = topic.points, now = state(at);
  if (!topic.n_texts) { $("pr").replaceChildren("There is no text of this topic here."); return; }
  const label = `Precision by recall. At this threshold precision is ${share(now.precision)} and recall ${share(now.recall)}.`;
  const { svg, px, py } = frame($("pr"), label, [0, 1], [0, 1.04], "recall (across) and precision (up)", () => [0, 0.25, 0.5, 0.75, 1]);
  const path = precision.map((value, k) => (value === null ? "" : `${px(recall[k])} ${py(value)}`)).filter(Boolean);
  draw(svg, "path", { class: "curve", d: `M${path.join("L")}` });
  if (now.precision !== null) draw(svg, "circle", { class: "now", cx: px(now.recall), cy: py(now.precision), r: 6 });
}

// So many texts, those of the highest score: which point that is, and what it gives
function withinBudget() {
  const n = Number($("budget").value), { tp, fp } = topic.points;
  if (!(n >= 1)) return null;
  return tp.reduce((last, hits, k) => (hits + fp[k] <= n ? k : last), 0);
}
function showBudget() {
  const k = withinBudget();
  if (k === null) { $("budget-note").textContent = ""; return; }
  const { hits, falseAlarms, precision, recall } = state(k);
  $("budget-note").textContent = `${hits + falseAlarms}: precision ${share(precision)}` + (recall === null ? "" : `, ${Math.round(100 * recall)} % of all hits`);
}

// Probabilities and how often they come true
function drawReliability() {
  const told = topic.reliability;
  $("reliability-figure").hidden = !told;
  if (!told) return;
  const { prob_pred: predicted, prob_true: observed, n_texts: counts } = told;
  const label = `Share of texts of the topic by probability: ${predicted.map((p, k) => `${share(observed[k])} of ${counts[k]} at ${share(p)}`).join("; ")}.`;
  const { svg, px, py } = frame($("reliability"), label, [0, 1], [0, 1.04], "probability (across), share that came true (up)", () => [0, 0.25, 0.5, 0.75, 1]);
  draw(svg, "path", { class: "zero", d: `M${px(0)} ${py(0)}L${px(1)} ${py(1)}` });
  draw(svg, "path", { class: "curve", d: `M${predicted.map((p, k) => `${px(p)} ${py(observed[k])}`).join("L")}` });
  predicted.forEach((p, k) => draw(draw(svg, "circle", { class: "bin", cx: px(p), cy: py(observed[k]), r: 4 }), "title", {}, `${counts[k]} texts`));
  $("reliability-note").textContent = `Dots are bins of about ${Math.max(...counts)} texts; on the thin line probabilities are right. Brier score ${told.brier.toFixed(4)}.`;
}

// Texts near the threshold
const OUTCOMES = { hit: "✓ hit", "false-alarm": "✗ false alarm", miss: "✗ miss", rejection: "✓ left out" };
function listBorderline(threshold) {
  const items = topic.borderline.map(({ row, score, truth }) => {
    const outcome = score >= threshold ? (truth ? "hit" : "false-alarm") : truth ? "miss" : "rejection";
    return make("li", { class: outcome, "data-score": score }, make("div", {}, make("div", { class: "outcome" }, OUTCOMES[outcome]), make("div", { class: "score" }, `score ${signed(score)}`)),
      make("div", { class: "text", dir: "auto" }, report.texts[row]));
  });
  const below = topic.borderline.findIndex(({ score }) => score < threshold);
  items.splice(below < 0 ? items.length : below, 0, make("li", { class: "line" }, `threshold ${threshold === 0 ? "0, in use" : signed(threshold)}: accepted above, left below`));
  $("borderline").replaceChildren(...items);
}

// What the topic is mistaken for at the thresholds in use
function showMistaken() {
  const sides = [["taken for", 0, 1], ["given to texts of", 1, 0]].map(([what, own, other]) => {
    const found = report.confusions.filter((one) => one[own] === topic.label && one[0] !== one[1]).slice(0, 5);
    return found.length ? [name(topic.label), ` ${what} `, ...found.flatMap((one, k) => [k ? ", " : "", name(one[other]), ` ${one[2]}`]), ". "] : [];
  });
  $("mistaken").replaceChildren(...(sides.flat().length ? ["With the thresholds in use: ", ...sides.flat()] : []));
}

// What the model goes by
function table(heads, rows, kind = "") {
  const cells = (name, values) => make("tr", {}, ...values.map((value) => (value instanceof Element && /^T[DH]$/.test(value.tagName) ? value : make(name, {}, value))));
  return make("div", { class: "wide" }, make("table", { class: kind }, make("thead", {}, cells("th", heads)), make("tbody", {}, ...rows.map((row) => cells("td", row)))));
}
function showWords() {
  const largest = Math.max(...topic.words.map(({ data, from_prior: prior }) => Math.abs(data) + Math.abs(prior)));
  const informed = topic.words.some((word) => word.from_prior);
  const bar = (value, kind) => {
    const part = make("span", { class: kind + (value < 0 ? " minus" : "") });
    part.style.width = `${(95 * Math.abs(value)) / largest}%`;
    return part;
  };
  const rows = topic.words.map(({ word, data, from_prior: prior }) => [name(word), signed(data + prior), ...(informed ? [signed(data), prior ? signed(prior) : ""] : []),
    make("td", { class: "bar word", "aria-hidden": "true" }, ...(data ? [bar(data, "data")] : []), ...(prior ? [bar(prior, "prior")] : []))]);
  const inside = [];
  if (rows.length) {
    inside.push(make("h3", {}, "Words that count most, for and against"), make("p", { class: "note key" }, "Bars:", make("span", { class: "data" }), "from the texts",
      ...(informed ? [make("span", { class: "prior" }), "from the prior"] : []), "; dashed where negative."));
    inside.push(table(["word", "weight", ...(informed ? ["from the texts", "from the prior"] : []), ""], rows, "words"));
  }
  if (topic.disagreements.length) {
    inside.push(make("h3", {}, "Where texts and prior disagree"), table(["word", "known from", "weight in the prior", "texts add"],
      topic.disagreements.map(({ word, data, from_prior: prior, knowledge }) => [name(word), name(knowledge || "the prior"), signed(prior), signed(data)])));
  }
  $("words").replaceChildren(...inside);
}
function showMatched() {
  if (!topic.matched.length) { $("matched").replaceChildren(); return; }
  const items = topic.matched.map(({ score, pieces, shared, cut }) => {
    const largest = Math.max(...pieces.map(([, weight]) => Math.abs(weight)));
    const text = make("div", { class: "text", dir: "auto" }, ...(cut ? ["… "] : []), ...pieces.map(([piece, weight]) =>
      weight ? make("mark", { class: (weight < 0 ? "against" : "for") + (Math.abs(weight) > largest / 2 ? " strong" : ""), title: signed(weight) }, piece) : piece), ...(cut ? [" …"] : []));
    return make("li", {}, make("div", { class: "score" }, `score ${signed(score)}`), make("div", {}, text,
      table(["here", "as in a training text", "adds"], shared.map(({ here, there, value }) => [make("td", { class: "text word" }, here), make("td", { class: "text word" }, there), signed(value)]))));
  });
  $("matched").replaceChildren(make("h3", {}, "What texts share with training texts"), make("p", { class: "note" },
    "Underlined: speaks for the topic; dashed: against it; shaded: much. What is skipped stands in brackets."), make("ol", { class: "texts" }, ...items));
}
const STATUS = { supported: "is supported: it is used, and held-out texts clearly fare better with it", adopted: "was adopted: it is used, though the held-out texts alone do not clearly say so",
  dropped: "was dropped: it is not used, though the held-out texts alone do not clearly say so, or because another prior does better without it", contradicted: "is contradicted: it is not used, and held-out texts clearly fare worse with it" };
function showVerdicts() {
  $("verdicts").replaceChildren(...topic.verdicts.map(({ status, evidence, gain, knowledge }) =>
    make("p", { class: `verdict ${status}` }, `The prior for this topic${knowledge ? ` (${knowledge})` : ""} ${STATUS[status]}. Loss on held-out texts ${signed(-100 * gain, 0)} %; evidence ${signed(evidence, 1)} (beyond ±1 is clear).`)));
}

function choose(k) {
  topic = report.topics[k];
  $("topic-name").textContent = topic.label;
  $("chosen").value = String(k);
  const { threshold } = topic.points;
  $("cut").max = threshold[0];
  $("cut").min = threshold.at(-1);
  $("to-best").disabled = topic.best === null;
  $("own").textContent = topic.threshold ? `, which is ${signed(topic.threshold)} on the learner's own scores` : "";
  const { interval } = topic;
  $("interval-note").textContent = "Dashed: the threshold in use. Line with a dot: the one chosen above." + (interval
    ? ` Shaded: where these texts would put it, ${signed(interval.theta_low)} to ${signed(interval.theta_high)} in nine of ten resamplings, with a utility of ${amount(interval.utility_low)} to ${amount(interval.utility_high)} here.` : "");
  $("pr-note").textContent = topic.average_precision === null ? "" : `Average precision ${share(topic.average_precision)}. The dot is the threshold chosen above.`;
  showVerdicts();
  showMistaken();
  showWords();
  showMatched();
  drawReliability();
  moveTo(topic.in_use);
}
function fill(part) {
  const wanted = part.toLocaleLowerCase();
  const options = report.topics.flatMap(({ label, n_texts: n }, k) =>
    label.toLocaleLowerCase().includes(wanted) ? [make("option", { value: k }, `${label} (${n})`)] : []);
  $("chosen").replaceChildren(...options);
  const first = options.find((option) => report.topics[option.value] === topic) || options[0];
  if (first && report.topics[first.value] !== topic) choose(Number(first.value));
  else if (first) $("chosen").value = first.value;
}
function showConfusions() {
  const labels = [...report.summary.classes.map(({ label }) => label), ...Object.keys(report.summary.unknown_labels), ...(report.confusions.some(([a, b]) => !a || !b) ? [""] : [])];
  if (labels.length > 16) return;  // too wide: the list of the most frequent mistakes stays
  const counts = new Map(report.confusions.map(([a, b, n]) => [JSON.stringify([a, b]), n]));
  const rows = labels.map((a) => [make("th", { scope: "row" }, name(a)), ...labels.map((b) => {
    const n = counts.get(JSON.stringify([a, b])) || 0;
    return make("td", { class: n ? (a === b ? "right" : "wrong") : "" }, n ? String(n) : "");
  })]);
  const made = table(["is ↓ taken for →", ...labels.map(name)], rows, "matrix");
  for (const [key, value] of Object.entries({ role: "region", tabindex: "0", "aria-labelledby": "confusions-heading" })) made.setAttribute(key, value);
  $("confusions").replaceChildren(make("p", { class: "note" }, "Framed: right. Hatched, on paper dotted: mistakes."), made);
}

// A pointer goes to the nearest threshold that decides differently, an arrow key to the next.
$("cut").addEventListener("input", (event) => {
  const far = topic.points.threshold.map((value) => Math.abs(value - event.target.value));
  moveTo(far.indexOf(Math.min(...far)));
});
$("cut").addEventListener("keydown", (event) => {
  const last = topic.points.threshold.length - 1;
  const step = { ArrowLeft: 1, ArrowDown: 1, ArrowRight: -1, ArrowUp: -1, PageDown: 10, PageUp: -10, Home: last, End: -last }[event.key];
  if (step === undefined || event.altKey || event.ctrlKey || event.metaKey) return;
  event.preventDefault();
  moveTo(Math.min(Math.max(at + step, 0), last));
});
$("to-use").addEventListener("click", () => moveTo(topic.in_use));
$("to-best").addEventListener("click", () => moveTo(topic.best));
$("chosen").addEventListener("change", (event) => choose(Number(event.target.value)));
$("filter").addEventListener("input", (event) => fill(event.target.value));
for (const button of document.querySelectorAll("button[data-topic]")) {
  button.addEventListener("click", () => {
    $("filter").value = "";
    fill("");
    choose(Number(button.dataset.topic));
    $("topic-heading").focus();
    $("topic-heading").scrollIntoView();
  });
}
$("budget").addEventListener("input", () => { showBudget(); drawUtility(); });
window.addEventListener("resize", () => { drawUtility(); drawPrecision(); drawReliability(); });
$("topic").hidden = false;
$("filter-label").hidden = report.topics.length < 12;
$("alone").hidden = report.summary.multilabel || report.topics.length < 3;
showConfusions();
choose(report.positive);
fill("");

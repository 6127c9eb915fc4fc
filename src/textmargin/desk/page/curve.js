// Quality over the labels given, with its interval, as a drawing and as a table for who does not see it.
import { amount, draw, make, percent } from "./dom.js";

const WIDTH = 340, HEIGHT = 190, RIGHT = 328, TOP = 10, BOTTOM = 150;

function ticks(low, high, n) {
  const rough = (high - low || 1) / n, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((times) => times * power >= rough * (1 - 1e-9)), found = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) found.push(k * step);
  return found;
}

export function curve(points, of, currency) {
  const shown = of === "utility" ? (value) => amount(value) : (value) => percent(value);
  const what = of === "utility" ? `Expected utility of 1,000 texts, in ${currency}` : "Expected share of correct texts";
  if (points.length < 2) return make("p", { class: "soft" }, `${what}: the curve begins with the first labels of the random sample.`);
  const last = points.at(-1), first = points[0];
  const label = `${what}, over the number of labels: from ${shown(first.value)} at ${first.n_labels} to ${shown(last.value)} at ${last.n_labels}, between ${shown(last.low)} and ${shown(last.high)}.`;
  const [x0, x1] = [first.n_labels, last.n_labels];
  let y0 = Math.min(...points.map((one) => one.low)), y1 = Math.max(...points.map((one) => one.high));
  if (y1 - y0 < 1e-9) [y0, y1] = [y0 - 1, y1 + 1];
  const heights = ticks(y0, y1, 4), left = 14 + 7 * Math.max(...heights.map((value) => shown(value).length));
  const px = (n) => left + ((n - x0) / (x1 - x0 || 1)) * (RIGHT - left), py = (value) => BOTTOM - ((value - y0) / (y1 - y0)) * (BOTTOM - TOP);
  const path = (field, backwards = false) => {
    const along = points.map((one) => `${px(one.n_labels).toFixed(1)} ${py(one[field]).toFixed(1)}`);
    return (backwards ? along.reverse() : along).join("L");
  };
  const svg = draw("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": label, class: "curve" },
    draw("path", { class: "band", d: `M${path("low")}L${path("high", true)}Z` }),
    heights.map((value) => [
      draw("path", { class: "grid", d: `M${left} ${py(value)}H${RIGHT}` }),
      draw("text", { x: left - 6, y: py(value) + 4, "text-anchor": "end" }, shown(value)),
    ]),
    ticks(x0, x1, 5).filter(Number.isInteger).map((n) => draw("text", { x: px(n), y: BOTTOM + 18, "text-anchor": "middle" }, String(n))),
    draw("path", { class: "axis", d: `M${left} ${BOTTOM}H${RIGHT}` }),
    draw("path", { class: "line", d: `M${path("value")}` }),
    draw("circle", { class: "now", cx: px(last.n_labels), cy: py(last.value), r: 4 }),
    draw("text", { x: (left + RIGHT) / 2, y: HEIGHT - 6, "text-anchor": "middle" }, "labels"));
  const rows = points.slice(-12).map((one) => make("tr", {}, make("th", { scope: "row" }, String(one.n_labels)), make("td", {}, shown(one.value)), make("td", {}, `${shown(one.low)} to ${shown(one.high)}`)));
  return make("figure", {}, svg, make("figcaption", { class: "soft" }, `${what}, by models that learnt from so many labels and set thresholds on other texts; the band is the 90 % interval over texts. The figures above are of the model in use.`),
    make("details", {}, make("summary", {}, "As a table"), make("table", {}, make("thead", {}, make("tr", {}, ["labels", "expected", "interval"].map((one) => make("th", { scope: "col" }, one)))),
      make("tbody", {}, rows))));
}

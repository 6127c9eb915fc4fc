// Elements, and numbers as people read them. What people wrote reaches the page as text nodes and attributes only, never as markup.
const SVG = "http://www.w3.org/2000/svg";

export const $ = (id) => document.getElementById(id);

function fill(element, attributes, inside) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...inside.flat(Infinity).filter((one) => one !== null && one !== undefined && one !== false));
  return element;
}
export const make = (name, attributes = {}, ...inside) => fill(document.createElement(name), attributes, inside);
export const draw = (name, attributes = {}, ...inside) => fill(document.createElementNS(SVG, name), attributes, inside);

// A name or a passage that somebody wrote, kept apart from the direction of what stands around it.
export const bdi = (text) => make("bdi", {}, text);
export const key = (name) => make("kbd", { "aria-hidden": "true" }, name);

// New content in place of the old, with the focus on what it was on: elements are found again by data-focus.
export function replace(container, ...inside) {
  const inner = container.contains(document.activeElement) ? document.activeElement.dataset.focus : undefined;
  container.replaceChildren(...inside.flat(Infinity).filter(Boolean));
  if (inner === undefined) return;
  const again = [...container.querySelectorAll("[data-focus]")].find((one) => one.dataset.focus === inner);
  (again ?? container.closest("[tabindex]") ?? container).focus({ preventScroll: true });
}

// Whether somebody types in there: what they write must not be taken from under their fingers.
export function hasTyping(container) {
  const now = document.activeElement;
  return container.contains(now) && (now.matches("input:not([type=checkbox]):not([type=radio]), textarea, select"));
}

// Said to screen readers, without a sound for anybody else.
export function announce(message) {
  const live = $("live");
  live.textContent = live.textContent === message ? `${message}\u00a0` : message;
}

const minus = (text) => text.replace("-", "−");
export const count = (value) => (value === null || value === undefined ? "–" : value.toLocaleString("en"));
export const percent = (value) => (value === null || value === undefined ? "–" : `${minus((100 * value).toFixed(Math.abs(value) >= 0.0005 && Math.abs(value) < 0.1 ? 1 : 0))} %`);
export const decimal = (value, digits = 2) => (value === null || value === undefined ? "–" : minus(value.toFixed(digits)));
export const signed = (value, digits = 2) => (value < 0 ? "−" : "+") + Math.abs(value).toFixed(digits);
export const amount = (value) =>
  value === null || value === undefined ? "–" : minus(value.toLocaleString("en", { maximumFractionDigits: Math.abs(value) < 10 ? 2 : 0 }));
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${n === 1 ? one : many}`;
export const list = (names) => (names.length ? names.flatMap((name, k) => (k ? [", ", bdi(name)] : [bdi(name)])) : ["none"]);

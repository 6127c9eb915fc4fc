// Where the words of a text are. The desk counts Unicode code points, JavaScript counts half as much again for emoji and rare characters.
const WORD = /[\p{L}\p{N}\p{M}]+|\p{Extended_Pictographic}(?:\p{M}|\u200d\p{Extended_Pictographic})*/gu;
const WITHOUT_BLANKS = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

// Code points before each unit of a text, and back; identity where every character is one unit.
export function offsets(content) {
  if (!/[\ud800-\udbff][\udc00-\udfff]/.test(content)) return { toPoint: (unit) => unit, toUnit: (point) => point, length: content.length };
  const points = new Uint32Array(content.length + 1), units = [];
  let point = 0, unit = 0;
  for (const character of content) {
    units.push(unit);
    for (let k = 0; k < character.length; k++) points[unit + k] = point;
    unit += character.length;
    point++;
  }
  points[unit] = point;
  units.push(unit);
  return { toPoint: (at) => points[at], toUnit: (at) => units[Math.min(at, point)], length: point };
}

// [start, end] of the words between two places, in units.
export function findWords(content, from, to) {
  const part = content.slice(from, to);
  if (WITHOUT_BLANKS.test(part) && Intl.Segmenter) {
    const found = new Intl.Segmenter(undefined, { granularity: "word" }).segment(part);
    return [...found].filter((one) => one.isWordLike || /\p{Extended_Pictographic}/u.test(one.segment))
      .map((one) => [from + one.index, from + one.index + one.segment.length]);
  }
  return [...part.matchAll(WORD)].map((one) => [from + one.index, from + one.index + one[0].length]);
}

// What each character contributes, from data and from what people know: terms of several words, and those that overlap, are spread evenly.
export function spread(tokens, length) {
  const data = new Float64Array(length + 1), prior = new Float64Array(length + 1);
  for (const [start, end, fromData, fromPrior] of tokens) {
    const n = end - start;
    for (let k = start; k < Math.min(end, length); k++) {
      data[k] += fromData / n;
      prior[k] += fromPrior / n;
    }
  }
  const sum = (values) => (start, end) => {
    let total = 0;
    for (let k = start; k < end; k++) total += values[k];
    return total;
  };
  return { data: sum(data), prior: sum(prior) };
}

// Keys. Letters and digits do nothing while somebody types, in menus and dialogs, or once they are switched off.
import { $ } from "./dom.js";

const OFF = "textmargin-desk-keys-off";

export function keys({ desk, card, search, menu }) {
  const box = $("keys-on");
  box.checked = localStorage.getItem(OFF) === null;
  box.addEventListener("change", () => { if (box.checked) localStorage.removeItem(OFF); else localStorage.setItem(OFF, "1"); });

  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
    if (menu.isOpen || document.querySelector("dialog[open]")) return;
    const at = event.target, typing = at.matches("input, textarea, select");
    if (event.key === "Escape") { if (typing) at.blur(); $("text").focus({ preventScroll: true }); return; }
    if (typing || !box.checked) return;
    const pressable = at.closest("button, a, summary, [role=tab], [role=button]");
    const run = handler(event, pressable);
    if (!run) return;
    event.preventDefault();
    if (!event.repeat) run();
  });

  function handler(event, pressable) {
    const name = /^[1-9]$/.test(event.key) ? desk.classOfKey(Number(event.key)) : undefined;
    if (name) return () => card.choose(name);
    if (event.key === " ") return pressable ? null : () => card.skip();
    if (event.key === "Enter") return pressable || !desk.state?.project.multilabel ? null : () => card.confirm();
    const question = desk.item?.kind === "word" ? { y: () => card.judge(1), n: () => card.judge(0), a: () => card.judge(-1) } : {};
    const always = {
      u: () => desk.undo(), U: () => desk.redo(), "/": () => search.open(), "?": () => $("keys").showModal(), s: () => search.openSimilar(),
      c: () => { if (!$("filter-box").hidden) $("filter").focus(); },
    };
    return question[event.key] ?? always[event.key];
  }
}

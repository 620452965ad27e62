// The editor: a text area over its own coloured copy, with line numbers, costs and marks beside.

import { make } from "./making.js";

const WORDS =
  "and as assert async await break class continue def del elif else except finally for from global if import in is lambda " +
  "nonlocal not or pass raise return try while with yield True False None";
const KEYWORDS = new Set(WORDS.split(" "));
const NOISE = new Set(
  ("laplace geometric truncated_geometric exponential gaussian discrete_gaussian bernoulli uniform choice randomized_response " +
    "exponential_mechanism uniform_real truncated_laplace staircase").split(" "),
);
const TOKEN =
  /(?<c>#.*)|(?<s>[rbfuRBFU]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?))|(?<d>@[\w.]+)|(?<n>\b\d[\w.]*)|(?<w>[^\W\d]\w*)/g;

function* coloured(text) {
  let last = 0;
  for (const match of text.matchAll(TOKEN)) {
    const { c, s, d, n, w } = match.groups;
    const kind = c ? "c" : s ? "s" : d ? "d" : n ? "n" : KEYWORDS.has(w) ? "k" : NOISE.has(w) ? "f" : "";
    if (!kind) continue;
    if (match.index > last) yield [last, match.index, ""];
    last = match.index + match[0].length;
    yield [match.index, last, kind];
  }
  if (last < text.length) yield [last, text.length, ""];
}

export class Editor {
  constructor(root) {
    this.area = root.querySelector("textarea");
    this.overlay = root.querySelector(".overlay");
    this.gutter = root.querySelector(".gutter");
    this.problems = [];
    this.costs = new Map();
    this.free = false;
    this.area.addEventListener("input", () => this.changed());
    this.area.addEventListener("keydown", (event) => this.key(event));
    this.area.addEventListener("blur", () => (this.free = false));
    this.onchange = () => {};
    this.draw();
  }

  get text() {
    return this.area.value;
  }

  set text(value) {
    this.area.value = value;
    this.changed();
  }

  changed() {
    this.problems = [];
    this.costs = new Map();
    this.draw();
    this.onchange();
  }

  key(event) {
    if (event.key === "Escape") {
      this.free = true;
      return;
    }
    if (event.key === "Tab" && !this.free && !event.ctrlKey && !event.altKey) {
      event.preventDefault();
      event.shiftKey ? this.outdent() : this.insert("    ");
    } else if (event.key === "Enter" && !event.ctrlKey && !event.metaKey) {
      const before = this.text.slice(0, this.area.selectionStart);
      const line = before.slice(before.lastIndexOf("\n") + 1);
      const indent = line.match(/^ */)[0] + (/:\s*(#.*)?$/.test(line) ? "    " : "");
      if (indent) {
        event.preventDefault();
        this.insert("\n" + indent);
      }
    }
    if (event.key !== "Shift") this.free = false;
  }

  insert(text) {
    // keeps the browser's own undo, where there is one
    if (!document.execCommand?.("insertText", false, text)) {
      this.area.setRangeText(text, this.area.selectionStart, this.area.selectionEnd, "end");
      this.changed();
    }
  }

  outdent() {
    const at = this.area.selectionStart;
    const begin = this.text.lastIndexOf("\n", at - 1) + 1;
    const spaces = this.text.slice(begin).match(/^ {0,4}/)[0].length;
    if (!spaces) return;
    this.area.setRangeText("", begin, begin + spaces, "preserve");
    this.changed();
  }

  mark(problems) {
    this.problems = problems;
    this.draw();
  }

  charge(costs) {
    this.costs = costs;
    this.draw();
  }

  go(line, column) {
    const at = this.starts()[line - 1] + column - 1;
    this.area.focus();
    this.area.setSelectionRange(at, at);
  }

  starts() {
    const found = [0];
    for (let i = this.text.indexOf("\n"); i >= 0; i = this.text.indexOf("\n", i + 1)) found.push(i + 1);
    return found;
  }

  draw() {
    const text = this.text;
    const starts = this.starts();
    const marks = this.problems
      .filter((problem) => problem.line <= starts.length)
      .map((problem) => {
        const line = text.slice(starts[problem.line - 1]).split("\n", 1)[0];
        const first = Math.min(problem.column - 1, line.length);
        const length = (line.slice(first).match(/^[\w.]+/) || [line.slice(first)])[0].length || 1;
        const begin = starts[problem.line - 1] + first;
        return { begin, end: Math.min(begin + length, text.length), ...problem };
      });
    const parts = [];
    for (const [begin, end, kind] of coloured(text)) {
      const cuts = [begin, end];
      for (const each of marks) cuts.push(...[each.begin, each.end].filter((cut) => cut > begin && cut < end));
      cuts.sort((a, b) => a - b);
      for (let i = 0; i + 1 < cuts.length; i++) {
        if (cuts[i] === cuts[i + 1]) continue;
        const inside = marks.find((each) => each.begin <= cuts[i] && cuts[i] < each.end);
        const piece = kind ? make("span", { class: kind }, text.slice(cuts[i], cuts[i + 1])) : text.slice(cuts[i], cuts[i + 1]);
        parts.push(inside ? make("mark", { class: inside.kind }, piece) : piece);
      }
    }
    this.overlay.replaceChildren(...parts, "\n");
    const worst = new Map();
    for (const each of this.problems) if (worst.get(each.line) !== "wrong") worst.set(each.line, each.kind);
    this.gutter.replaceChildren(
      ...starts.map((_, i) => {
        const cost = this.costs.get(i + 1);
        const number = make("span", { class: worst.get(i + 1) ?? "" }, String(i + 1));
        return make("div", {}, cost ? make("span", { class: "cost", title: cost.title }, cost.text) : null, number);
      }),
    );
  }
}

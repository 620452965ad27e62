// Shows what the commands have answered: it arranges what the reports say, and computes nothing.

import { download, harmless, make } from "./making.js";

const SYMBOLS = { proved: "✓", computed: "=", refuted: "✗", unknown: "?", accepted: "✓", rejected: "✗", wrong: "!", done: "✓" };

export const word = (verdict) => (verdict === "wrong" ? "not asked" : verdict);

export const badge = (verdict) => make("span", { class: `badge ${verdict}` }, `${SYMBOLS[verdict] ?? ""} ${word(verdict)}`.trim());

export function status(job) {
  return job.report?.status ?? job.verdict;
}

export function sentence(job) {
  if (job.report) return job.report.sentence;
  const answer = job.answer;
  if (answer?.error) return answer.error.message;
  if (job.command === "recheck" && answer) return answer.statement ?? answer.reason ?? job.subject;
  if (answer?.sizes) return `${answer.question?.mechanism?.split(" (")[0] ?? job.subject} at ${answer.sizes.length} sizes`;
  if (answer?.reason) return answer.reason;
  return job.err.trim().split("\n")[0].replace(/^privproof: /, "") || `${job.command} ${job.subject}`;
}

function facts(listed) {
  const rows = listed.map(({ label, text }) =>
    make("tr", {}, make("th", { scope: "row" }, label), make("td", { class: text.includes("\n") ? "columns" : false }, text)),
  );
  return make("table", { class: "facts" }, make("tbody", {}, ...rows));
}

function sizes(rows, trend) {
  const heads = ["size", "verdict", "smallest epsilon", "seconds"].map((head) => make("th", { scope: "col" }, head));
  const lines = rows.map((row) => {
    const tight = row.tight ?? {};
    const epsilon = tight.exact ? `${tight.exact}${tight.epsilon && tight.epsilon !== tight.exact ? ` ≈ ${tight.epsilon}` : ""}` : `${tight.lower} to ${tight.upper}`;
    return make("tr", {}, make("td", {}, String(row.size)), make("td", {}, badge(row.verdict)), make("td", {}, epsilon), make("td", {}, row.seconds.toFixed(2)));
  });
  const table = make("table", { class: "sizes" }, make("thead", {}, make("tr", {}, ...heads)), make("tbody", {}, ...lines));
  return [make("div", { class: "scroll" }, table), trend ? make("p", {}, trend) : null];
}

function slider(points) {
  const said = make("output", {});
  const show = (i) => {
    const { epsilon, delta, lower, upper } = points[i];
    const value = delta ?? (lower === upper ? lower : `from ${lower} to ${upper}`);
    said.textContent = `epsilon ${epsilon}: delta ${value}`;
    range.setAttribute("aria-valuetext", said.textContent);
  };
  const range = make("input", {
    type: "range", min: 0, max: points.length - 1, value: 0, step: 1,
    oninput: () => show(Number(range.value)),
  });
  show(0);
  return make("div", { class: "profile" }, make("label", {}, "epsilon", range), said);
}

export function costs(job) {
  const found = new Map();
  for (const { line, when, shift, cost } of job.report?.data?.alignment ?? []) {
    const known = found.get(line) ?? { texts: new Set(), titles: [] };
    known.texts.add(cost);
    known.titles.push(`${when ? `${when}: ` : ""}shift ${shift}, cost ${cost}`);
    found.set(line, known);
  }
  const result = new Map();
  for (const [line, { texts, titles }] of found) {
    const paying = [...texts].filter((text) => text !== "0");
    result.set(line, { text: paying.length ? paying.join(" | ") : "0", title: titles.join("\n") });
  }
  return result;
}

function certificate(job, recheck) {
  const name = `${job.subject.replace(/[^\w.-]+/g, "-")}-certificate.json`;
  return make(
    "div", { class: "actions" },
    make("button", { type: "button", class: "download", onclick: () => download(name, job.certificate) }, "Download the certificate"),
    make("button", { type: "button", onclick: () => recheck(job.certificate, name) }, "Recheck it"),
  );
}

export function card(job, { recheck, forget }) {
  const parts = [make("h3", {}, badge(status(job)), sentence(job))];
  const { answer, report } = job;
  if (job.command === "recheck" && answer && !answer.error) {
    const told = [];
    if (answer.statement) told.push({ label: "statement", text: answer.statement });
    if (answer.verdict) told.push({ label: "verdict", text: answer.verdict });
    for (const [label, text] of Object.entries(answer.how ?? {})) told.push({ label, text: typeof text === "string" ? text : JSON.stringify(text) });
    if (answer.reason) told.push({ label: "place", text: answer.place });
    if ("same_program" in answer) {
      told.push({ label: "program", text: answer.same_program ? "the function in the editor is what was verified" : `another one: ${answer.changed.join("; ")}` });
    }
    parts.push(facts(told));
  }
  if (answer?.sizes) parts.push(...sizes(answer.sizes, answer.trend).filter(Boolean));
  if (report) {
    const more = harmless(report.more);
    const first = more.findIndex((part) => part.classList?.contains("drawing"));
    const pictured = first >= 0 && more.slice(0, first).every((part) => part.localName !== "pre");
    if (pictured) parts.push(...more.splice(0, first + 1)); // what a reader looks at first
    if (report.data?.points?.length > 1) parts.push(slider(report.data.points));
    parts.push(make("h4", {}, "In words"), facts(report.facts), ...more);
  }
  if (!report && answer?.reason && job.command !== "recheck") {
    const { lower, upper } = answer.tight ?? {};
    if (lower != null) parts.push(facts([{ label: "smallest epsilon", text: `from ${lower} to ${upper}` }]));
  }
  if (!report && !answer && job.out) parts.push(make("pre", {}, job.out));
  if (job.err.trim()) parts.push(make("pre", { class: "err" }, job.err.trim()));
  if (job.certificate) parts.push(certificate(job, recheck));
  if (job.said) parts.push(make("details", {}, make("summary", {}, "What the file printed"), make("pre", {}, job.said)));
  parts.push(make("details", {}, make("summary", {}, "On the command line"), make("pre", { class: "command" }, job.shown)));
  if (answer && !answer.error) parts.push(make("details", {}, make("summary", {}, "Everything, as data"), make("pre", {}, JSON.stringify(answer, null, 2))));
  const foot = [report?.footer ?? "", `${job.seconds.toFixed(2)} s`].filter(Boolean).join(" ");
  parts.push(make("p", { class: "quiet" }, foot));
  parts.push(make("div", { class: "actions" }, make("button", { type: "button", onclick: forget }, "Forget this answer")));
  return make("article", { class: "card", "data-verdict": status(job), "data-job": job.job }, ...parts);
}

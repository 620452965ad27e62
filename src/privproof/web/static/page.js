// The page: asks, follows what runs, and keeps what was answered.

import { badge, card, costs, sentence, status, word } from "./answers.js";
import { get, post } from "./api.js";
import { Editor } from "./editor.js";
import { droppable, make } from "./making.js";

const find = (id) => document.getElementById(id);
const editor = new Editor(find("editor"));
const KEPT = "privproof-editor";
const LOOK_AFTER = 450; // milliseconds without a key before what was typed is looked at
const FOLLOW_EVERY = 300; // milliseconds between two looks at what runs

const BEGINNING = `from privproof import mechanism, queries, truncated_geometric


@mechanism(epsilon="ln(2)")
def noisy_max(q: queries(0, 2)):
    """The index of the largest noisy answer."""
    best, winner = -1, 0
    for i, value in enumerate(q):
        noisy = truncated_geometric(value, alpha="1/2", low=0, high=2)
        if noisy > best:
            best, winner = noisy, i
    return winner
`;

const say = (text) => (find("live").textContent = text);
const failed = (error) => say(error.message);

// ------------------------------------------------------------------------------------------------------------------ tabs

const tabs = [...document.querySelectorAll("[role=tab]")];

function choose(tab) {
  for (const each of tabs) {
    const chosen = each === tab;
    each.setAttribute("aria-selected", String(chosen));
    each.tabIndex = chosen ? 0 : -1;
    find(each.getAttribute("aria-controls")).hidden = !chosen;
  }
}

for (const tab of tabs) {
  tab.addEventListener("click", () => choose(tab));
  tab.addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    choose(next);
    next.focus();
  });
}

// ------------------------------------------------------------------------------------------------------- what is written

let looking = 0;
let typed = null;

function kept() {
  try {
    return JSON.parse(sessionStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
}

editor.onchange = () => {
  sessionStorage.setItem(KEPT, JSON.stringify({ text: editor.text, form: find("form").value }));
  find("problems").replaceChildren();
  clearTimeout(typed);
  typed = setTimeout(look, LOOK_AFTER);
};

function problem(each) {
  const place = make("button", { type: "button", class: "plain", onclick: () => editor.go(each.line, each.column) }, `line ${each.line}, column ${each.column}`);
  const what = each.kind === "refused" ? `${each.message} (it would be run as it is)` : each.message;
  return make("li", { class: each.kind }, place, what, each.hint ? make("span", { class: "hint" }, each.hint) : null);
}

async function look() {
  const number = ++looking;
  let told;
  try {
    told = await post("/api/outline", { form: find("form").value, text: editor.text });
  } catch (error) {
    if (number === looking) failed(error);
    return;
  }
  const outline = told.outline;
  if (number !== looking || !outline?.functions) return;
  editor.mark(outline.problems);
  const notes = outline.problems.map(problem);
  if (outline.unread != null) {
    notes.push(make("li", { class: "note" }, `Line ${outline.unread} does more than declare: the file runs only when you ask.`));
  }
  find("problems").replaceChildren(...notes);
  const names = outline.functions.map((each) => each.name);
  find("names").replaceChildren(...names.map((name) => make("option", { value: name })));
  const declared = outline.functions.filter((each) => Object.keys(each.inputs).length);
  const chosen = find("name");
  if (!names.includes(chosen.value) && (find("form").value === "python" || chosen.value)) {
    chosen.value = (declared.at(-1) ?? outline.functions.at(-1))?.name ?? "";
  }
  const about = outline.functions.find((each) => each.name === chosen.value);
  document.querySelector("[name=epsilon]").placeholder = about?.claim ? `claimed: ${about.claim.replace(/^epsilon /, "")}` : "1, ln(2), 1/2";
}

find("form").addEventListener("change", () => {
  find("name").value = "";
  editor.onchange();
});

// -------------------------------------------------------------------------------------------------------------- library

async function library() {
  const listed = await get("/api/library");
  const group = (label, chosen) =>
    make("optgroup", { label }, ...chosen.map((each) => make("option", { value: each.name, title: each.title }, `${each.name}: ${each.title}`)));
  find("library").append(group("Functions", listed.filter((each) => each.function)), group("Models", listed.filter((each) => !each.function)));
}

find("library").addEventListener("change", async () => {
  const name = find("library").value;
  if (!name) return;
  try {
    const example = await get(`/api/library/${encodeURIComponent(name)}`);
    find("form").value = example.form;
    find("name").value = example.function ?? "";
    editor.text = example.text;
    find("citation").hidden = false;
    find("citation").textContent = `${example.title} (${example.citation}). Known: ${example.known}.`;
  } catch (error) {
    failed(error);
  }
});

// --------------------------------------------------------------------------------------------------------------- asking

const OPTIONS = {
  check: "epsilon delta size neighbours horizon set input",
  epsilon: "delta size neighbours horizon set input",
  delta: "epsilon size compose neighbours horizon set input",
  profile: "size up-to points compose neighbours horizon set input",
  audit: "epsilon delta size samples seed neighbours set",
  explain: "epsilon size set",
  rho: "size neighbours set input",
  mu: "size neighbours set input",
};

function offer() {
  const offered = OPTIONS[find("command").value].split(" ");
  for (const each of find("question").querySelectorAll("[data-option]")) each.hidden = !offered.includes(each.dataset.option);
}

function values(form, names) {
  const found = {};
  for (const name of names) {
    const field = form.elements[name];
    if (field?.value.trim()) found[name] = field.matches("textarea") ? field.value.split("\n").filter((line) => line.trim()) : field.value;
  }
  return found;
}

find("command").addEventListener("change", offer);

find("question").addEventListener("submit", (event) => {
  event.preventDefault();
  const command = find("command").value;
  ask({
    command,
    form: find("form").value,
    text: editor.text,
    name: find("name").value.trim(),
    options: values(find("question"), OPTIONS[command].split(" ")),
  });
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && !find("ask").hidden) find("question").requestSubmit();
});

async function ask(request) {
  try {
    const job = await post("/api/jobs", request);
    say(`Asked: ${job.command} ${job.subject}.`);
    follow(job, request.text);
    if (matchMedia("(max-width: 60rem)").matches) find("answers").scrollIntoView();
  } catch (error) {
    failed(error);
  }
}

async function follow(job, text) {
  const what = make("span", { class: "what" }, job.doing);
  const clock = make("span", {}, "0 s");
  const stop = make("button", { type: "button", class: "stop", onclick: () => post(`/api/jobs/${job.job}/stop`).then(() => say("Stopping …"), failed) }, "Stop");
  const row = make("div", { class: "card progress", "data-running": job.job }, make("span", { class: "spinner" }), make("strong", {}, `${job.command} ${job.subject}`), what, clock, stop);
  find("running").append(row);
  try {
    for (;;) {
      const now = await get(`/api/jobs/${job.job}`);
      if (!now.running) {
        show(now);
        say(`${word(status(now))}: ${sentence(now)}`);
        if (text != null && text === editor.text) editor.charge(costs(now));
        break;
      }
      what.textContent = now.stopped ? "stopping" : now.doing;
      clock.textContent = `${now.seconds.toFixed(1)} s`;
      await new Promise((done) => setTimeout(done, FOLLOW_EVERY));
    }
  } catch (error) {
    failed(error);
  } finally {
    row.remove();
    earlier().catch(failed);
  }
}

function show(job) {
  const shown = card(job, { recheck, forget: () => forget(job.job) });
  find("shown").replaceChildren(shown);
}

async function forget(name) {
  try {
    await post(`/api/jobs/${name}/forget`);
    find("shown").replaceChildren();
    await earlier();
    find("answers").focus();
  } catch (error) {
    failed(error);
  }
}

async function earlier() {
  const jobs = (await get("/api/jobs")).filter((job) => !job.running).reverse();
  find("past").hidden = !jobs.length;
  find("earlier").replaceChildren(
    ...jobs.map((job) => {
      const open = () => get(`/api/jobs/${job.job}`).then((whole) => {
        show(whole);
        find("answers").scrollIntoView();
      }, failed);
      const when = new Date(job.began * 1000);
      const time = make("time", { datetime: when.toISOString() }, when.toLocaleTimeString());
      return make("li", {}, badge(job.verdict), make("button", { type: "button", class: "plain", onclick: open }, `${job.command} ${job.subject}`), time);
    }),
  );
}

// ------------------------------------------------------------------------------------------------------------ rechecking

function recheck(certificate, name) {
  const request = { command: "recheck", certificate, subject: name };
  if (find("compare").checked && find("name").value.trim()) Object.assign(request, { text: editor.text, name: find("name").value.trim() });
  return ask(request);
}

droppable(find("drop-certificate"), find("certificate-file"), (name, text) => recheck(text, name));

// -------------------------------------------------------------------------------------------------------------- releases

const tables = { data: null, known: null };

droppable(find("drop-data"), find("data-file"), (name, text) => {
  tables.data = { name, text };
  find("drop-data").querySelector("span").textContent = `${name}: ${text.split("\n").length - 1} lines`;
  const columns = text.split("\n", 1)[0].split(/[,;\t]/).map((each) => each.trim().replace(/^"|"$/g, ""));
  find("columns").replaceChildren(...columns.map((column) => make("option", { value: column })));
});
droppable(find("drop-known"), find("known-file"), (name, text) => {
  tables.known = { name, text };
  find("drop-known").querySelector("span").textContent = name;
});

const releasing = find("release-form");
releasing.addEventListener("change", () => (find("drop-known").hidden = releasing.elements.known.value === "private"));
releasing.addEventListener("submit", (event) => {
  event.preventDefault();
  const known = releasing.elements.known.value;
  if (!tables.data) return say("Drop a CSV with the data first.");
  if (known !== "private" && !tables.known) return say("Drop the public table, or the prior file, too.");
  const options = values(releasing, ["column", "query", "epsilon", "series", "time", "gap", "bins", "states", "noise", "method"]);
  const request = { command: "release", data: tables.data.text, subject: tables.data.name, options, fit_private: known === "private" };
  if (known === "public") request.public = tables.known.text;
  if (known === "prior") request.prior = tables.known.text;
  ask(request);
});

// ------------------------------------------------------------------------------------------------------------- beginning

for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
offer();
const before = kept();
if (before.form) find("form").value = before.form;
editor.text = before.text || BEGINNING;
library().catch(failed);
get("/api/jobs").then((jobs) => {
  for (const job of jobs) if (job.running) follow(job, null);
  earlier().catch(failed);
}, failed);

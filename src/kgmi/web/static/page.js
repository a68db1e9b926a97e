// The page: chooses a table, starts jobs, follows them, and shows what they found.

import { ask, byId, complain, el, post, say, Trouble } from "./talk.js";
import { drawExamples, drawNothing, drawTable, drawWaiting, leftOut, markExample, upload, watchFiles } from "./table.js";
import { drawForm, isPrepared, knowing, suggest, wanted } from "./form.js";
import { follow, progressCards } from "./follow.js";
import { clearResult, showRun } from "./result.js";
import { drawHistory, remember, remembered, tabName } from "./history.js";

const state = { table: null, limits: null, asked: 0, stop: () => {}, busy: false };

function setBusy(busy) {
  state.busy = busy;
  const offer = state.table && (isPrepared() ? state.table.prepared : state.table.as_it_is);
  const able = Boolean(offer) && !(offer.failure && !byId("set-windows").value);
  byId("learn").disabled = busy || !able;
  byId("learn-hint").textContent = busy ? "Learning …" : !state.table ? "Choose a table first."
    : able ? "A job may take " + state.limits.time + " and " + state.limits.memory + " of memory." : "This table cannot be learned from; see what is wrong beside.";
}

function showTable() {
  const prepared = isPrepared();
  drawTable(state.table, prepared);
  knowing(state.table.kernel, (prepared ? state.table.prepared : state.table.as_it_is).shared);
}

// Chooses a table; what was asked for last wins, however slow the answers are.
async function choose(name, key, load, suggested) {
  const mine = ++state.asked;
  state.stop();
  state.table = null;
  setBusy(false);
  complain(null);
  markExample(key);
  byId("progress").hidden = true;
  clearResult();
  drawWaiting(name);
  knowing(true, true); // until the table is here: what the last one lacked is no obstacle
  suggest(suggested, true);
  try {
    const table = await load();
    if (mine !== state.asked) return;
    state.table = table;
    suggest(table.suggested, false);
    showTable();
  } catch (trouble) {
    if (mine !== state.asked) return;
    drawNothing();
    complain(trouble);
  }
  setBusy(false);
}

const chooseExample = (example) => choose(example.title, example.key, () => ask("/api/tables/" + example.key), example.suggested);
const chooseFile = (file) => choose(file.name, null, () => upload(file, state.limits), {});

async function learn(event) {
  event.preventDefault();
  if (state.busy || !state.table) return;
  complain(null);
  setBusy(true);
  const jobs = [];
  try {
    for (const fit of wanted(state.table.id, tabName(), leftOut())) jobs.push(await post("/api/jobs", fit));
  } catch (trouble) {
    complain(trouble);
    for (const job of jobs) post("/api/jobs/" + job.id + "/cancel").catch(() => {});
    setBusy(false);
    return;
  }
  remember(jobs);
  watch(jobs);
}

// Follows the jobs of a run and shows what they found when the last of them is over.
function watch(jobs) {
  const latest = new Map(jobs.map((job) => [job.id, job]));
  state.stop();
  clearResult();
  drawHistory(open, [...latest.keys()]);
  const change = (job) => {
    if (!latest.has(job.id) || latest.get(job.id).number > job.number) return;
    latest.set(job.id, job);
    card(job);
    if ([...latest.values()].every((one) => ["done", "failed", "cancelled"].includes(one.state))) finish([...latest.values()]);
  };
  const card = progressCards(jobs, change);
  byId("progress").scrollIntoView({ block: "nearest" });
  // The button that was pressed is switched off now, and would take the place on the page with it.
  if (document.activeElement === document.body) byId("main").focus({ preventScroll: true });
  let finished = false;

  async function finish(ended) {
    if (finished) return;
    finished = true;
    state.stop();
    setBusy(false);
    const done = ended.filter((job) => job.state === "done");
    say(done.length ? "Done" : "It ended without a result");
    drawHistory(open, ended.map((job) => job.id));
    if (!done.length) return;
    try {
      await showRun(done);
      if (done.length === ended.length) byId("progress").hidden = true;
    } catch (trouble) {
      complain(trouble);
    }
  }

  state.stop = follow([...latest.keys()], change, () => {
    setBusy(false);
    complain(new Trouble("The connection to the server was lost.", "Look whether kgmi serve still runs, then reload."));
  });
  if (jobs.every((job) => ["done", "failed", "cancelled"].includes(job.state))) finish(jobs);
}

// Shows a run of the history again.
async function open(run) {
  complain(null);
  try {
    const jobs = await Promise.all(run.ids.map((id) => ask("/api/jobs/" + id)));
    watch(jobs);
    setBusy(jobs.some((job) => ["waiting", "running"].includes(job.state)));
  } catch (trouble) {
    complain(trouble);
  }
}

async function begin() {
  drawForm((name) => {
    if (state.table && name === "prepare") showTable();
    setBusy(state.busy);
  });
  byId("steps").addEventListener("submit", learn);
  try {
    const [limits, examples] = await Promise.all([ask("/api/limits"), ask("/api/examples")]);
    state.limits = limits;
    drawExamples(examples, chooseExample);
    watchFiles(limits, chooseFile);
    const unfinished = await remembered();
    drawHistory(open, []);
    if (unfinished) await open(unfinished);
  } catch (trouble) {
    complain(trouble);
  }
  document.body.append(el("span", { id: "ready", hidden: true })); // for tests: the page can be used now
}

begin();

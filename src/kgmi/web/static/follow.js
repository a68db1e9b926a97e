// Step 3: jobs on their way. One stream of events for all jobs of a run, closed while nobody looks at the tab.

import { byId, complain, el, post, say, shown, shownTime } from "./talk.js";
import { GUIDE_NAMES } from "./form.js";

const PHASES = {
  starting: "Starting", reading: "Reading the table", counting: "Counting", search: "Searching for parents",
  ascent: "Training the heads", report: "Checking the result", writing: "Writing the report", "first look": "A first look at all columns",
  certificate: "Certifying edges", bootstrap: "Drawing rows anew",
};
const OVER = ["done", "failed", "cancelled"];
const PATIENCE = 3; // attempts to connect in vain before the page says so

// Follows jobs until all are over; «changed» is called with a job whenever something is new, «lost» when the server is
// gone. Gives back a stop.
export function follow(ids, changed, lost) {
  let source = null;
  let over = false;
  let inVain = 0;
  const left = new Set(ids);

  function stop() {
    over = true;
    document.removeEventListener("visibilitychange", look);
    if (source) source.close();
    source = null;
  }

  function connect() {
    source = new EventSource("/api/events?" + [...left].map((id) => "job=" + id).join("&"));
    source.addEventListener("open", () => { inVain = 0; });
    source.addEventListener("job", (event) => {
      const job = JSON.parse(event.data);
      if (OVER.includes(job.state)) left.delete(job.id);
      if (!left.size) stop();
      changed(job);
    });
    source.addEventListener("error", () => {
      if (over || !source) return;
      if (source.readyState !== EventSource.CLOSED && ++inVain < PATIENCE) return; // it tries again by itself
      stop();
      lost();
    });
  }

  // Browsers allow few connections to one server: a tab in the background gives up its own.
  function look() {
    if (document.hidden && source) {
      source.close();
      source = null;
    } else if (!document.hidden && !source && !over) connect();
  }

  document.addEventListener("visibilitychange", look);
  if (!document.hidden) connect();
  return stop;
}

// A card for each job of a run, drawn anew whenever something changes, without jumps.
export function progressCards(jobs, cancelled) {
  const cards = new Map(jobs.map((job) => [job.id, card(job, cancelled)]));
  byId("progress").replaceChildren(el("div", { class: "card" }, el("h2", {}, jobs[0].name),
    ...[...cards.values()].map((one) => one.root)));
  byId("progress").hidden = false;
  jobs.forEach((job) => cards.get(job.id).show(job));
  return (job) => cards.get(job.id).show(job);
}

function card(job, cancelled) {
  const title = GUIDE_NAMES[job.fit.guide] || job.fit.guide;
  const state = el("p", { class: "phase" });
  const bar = el("progress", { "aria-label": "Progress with " + title });
  const detail = el("p", { class: "hint numbers" });
  const button = el("button", { type: "button", "aria-label": "Cancel " + title,
    onclick: async () => {
      button.disabled = true;
      try {
        cancelled(await post("/api/jobs/" + job.id + "/cancel"));
      } catch (trouble) {
        complain(trouble);
        button.disabled = false;
      }
    } }, "Cancel");
  const root = el("div", { class: "job", "data-job": job.id },
    el("div", { class: "job-head" }, el("h3", {}, title), button), state, bar, detail);

  function show(now) {
    root.dataset.state = now.state;
    const words = inWords(now);
    state.textContent = words.state;
    detail.textContent = words.detail;
    button.hidden = OVER.includes(now.state);
    const part = now.standing;
    if (now.state === "done") setBar(1, 1);
    else if (part && part.total) setBar(part.done, part.total);
    else if (now.state === "running") bar.removeAttribute("value");
    else setBar(0, 1);
    say(title + ": " + words.state);
  }

  function setBar(done, total) {
    bar.max = total;
    bar.value = done;
  }

  return { root, show };
}

function inWords(job) {
  if (job.state === "waiting") {
    const before = job.place === 0 ? "next in the queue" : job.place + " before it in the queue";
    return { state: "Waiting: " + before, detail: "" };
  }
  if (job.state === "done") return { state: "Done", detail: "in " + shownTime(job.seconds) };
  if (job.state === "cancelled") return { state: "Cancelled", detail: "after " + shownTime(job.seconds) };
  if (job.state === "failed") {
    return { state: "It did not work: " + job.failure.error, detail: job.failure.advice };
  }
  const { phase, done, total, unit, rate, remaining } = job.standing;
  const detail = [];
  if (total) detail.push(shown(done) + " of " + shown(total) + " " + unit);
  else if (done) detail.push(shown(done) + " " + unit);
  if (rate) detail.push((rate < 10 ? rate.toPrecision(2) : shown(rate)) + " " + (unit || "steps") + " a second");
  // With an early end in sight an estimate would mislead: heads mostly settle long before the last epoch.
  if (remaining !== null && phase === "ascent") detail.push("at most " + shownTime(remaining) + " left");
  else if (remaining !== null) detail.push("about " + shownTime(remaining) + " left");
  detail.push(shownTime(job.seconds) + " so far, stopped after " + shownTime(job.most_seconds));
  return { state: PHASES[phase] || phase, detail: detail.join(" · ") };
}

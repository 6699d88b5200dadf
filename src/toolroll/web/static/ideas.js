// Explorations: queue ideas, watch their steps, read their documents.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { stateOf } from "./format.js";
import { StartIdea } from "./home.js";
import { Markdown } from "./markdown.js";

const NAMES = {
  initialize: "Prepare", check_existing: "Look for earlier research", generate_research: "Research",
  write: "Write", notify: "Tell", run: "Work",
};
const REFRESH_MS = 1500;
const isOpen = (job) => job.state === "queued" || job.state === "running";

function useRepeated(load, isLive) {
  useEffect(() => {
    load();
    const timer = setInterval(() => !document.hidden && isLive() && load(), REFRESH_MS);
    return () => clearInterval(timer);
  }, []);
}

export function Steps({ job }) {
  const words = job.steps.map((step) => `${NAMES[step.name] || step.name}: ${step.state}`).join(", ");
  return html`<ol class="steps" aria-label=${words}>${job.steps.map((step) => html`<li class=${step.state} title=${`${NAMES[step.name] || step.name}: ${step.state}`}></li>`)}</ol>`;
}

export function Ideas() {
  const [jobs, setJobs] = useState(null);
  const load = () => get("/api/jobs?limit=200").then((page) => setJobs(page.jobs), () => setJobs([]));
  useRepeated(load, () => jobs === null || jobs.some(isOpen));
  return html`<div class="page">
    <header><h1>Ideas</h1><p class="sub">What is being explored, and what was found.</p></header>
    <${StartIdea} onStarted=${load} />
    <div class="card">${jobs === null ? html`<p class="empty" role="status">Loading …</p>`
      : jobs.length === 0 ? html`<p class="empty">No idea was queued yet.</p>`
      : html`<ul class="list">${jobs.map((job) => {
          const [words, look] = stateOf(job.state);
          return html`<li key=${job.id}><a class="line" href=${`#/idea/${job.id}`}>
            <span class=${`dot ${job.state}`}></span>
            <span class="grow"><span class="title">${job.title}</span><span class="small">${job.model}</span><${Steps} job=${job} /></span>
            <span class=${`tag ${look}`}>${words}</span></a></li>`;
        })}</ul>`}</div>
  </div>`;
}

export function Idea({ id }) {
  const [job, setJob] = useState(null);
  const [text, setText] = useState(null);
  const [problem, setProblem] = useState(null);
  const load = async () => {
    try {
      const found = await get(`/api/jobs/${id}`);
      setJob(found);
      if (found.state === "done" && found.app === "explore") setText(await get(`/api/jobs/${id}/document`));
    } catch (failed) {
      setProblem(failed);
    }
  };
  useRepeated(load, () => job === null || isOpen(job));
  const act = (name, body) => async () => {
    try {
      setJob(await post(`/api/jobs/${id}/${name}`, body));
    } catch (failed) {
      setProblem(failed);
    }
  };
  if (!job) return html`<div class="page">${problem ? html`<p class="notice bad" role="alert">${problem.message}</p>` : html`<p class="sub" role="status">Loading …</p>`}</div>`;
  const [words, look] = stateOf(job.state);
  return html`<div class="page">
    <header><div class="row"><h1 class="grow">${job.title}</h1><span class=${`tag ${look}`}>${words}</span></div>
      <p class="sub">${job.model}</p></header>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}
    <section class="card pad stack" aria-label="Steps"><${Steps} job=${job} />
      <ul class="list small">${job.steps.map((step) => html`<li>${NAMES[step.name] || step.name}: ${step.state}
        ${step.attempts > 1 && ` after ${step.attempts} tries`}${step.error && ` – ${step.error}`}</li>`)}</ul>
      ${job.last_error && html`<p class="notice bad">${job.last_error}</p>`}
      <div class="row">${isOpen(job) && html`<button class="btn small" onClick=${act("cancel")}>Cancel</button>`}
        ${(job.state === "dead" || job.state === "cancelled") && html`<button class="btn small" onClick=${act("retry")}>Try again</button>`}
        ${job.runs.map((run, place) => html`<a class="btn small" href=${`#/chat/${run}`}>Run ${place + 1}</a>`)}</div></section>
    ${job.questions.map((one) => html`<section class="ask" key=${one.call_id}><header><h2>${one.tool}</h2><p>${one.why}</p></header>
      <div class="body"><pre class="box" tabindex="0">${one.preview}</pre></div>
      <footer><button class="btn primary" onClick=${act("answers", { call_id: one.call_id, decision: "approve" })}>Approve</button>
        <button class="btn" onClick=${act("answers", { call_id: one.call_id, decision: "reject" })}>Reject</button></footer></section>`)}
    ${text && html`<article class="card pad"><${Markdown} text=${text} /></article>`}
  </div>`;
}

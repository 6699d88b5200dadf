// Explorations: queue ideas, watch what they search for and find, read documents with their sources, compare two.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { money, stateOf } from "./format.js";
import { StartIdea } from "./home.js";
import { Icon } from "./icons.js";
import { Markdown } from "./markdown.js";

const NAMES = {
  initialize: "Prepare", check_existing: "Look for earlier research", generate_research: "Research",
  write: "Write", notify: "Tell", run: "Work",
};
const REFRESH_MS = 1500;
const isOpen = (job) => job.state === "queued" || job.state === "running";
const isWeb = (url) => /^https?:/i.test(url);
const docLink = (path) => `#/document/${encodeURIComponent(path)}`;

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

function Queue({ jobs }) {
  return html`<ul class="list">${jobs.map((job) => {
    const [words, look] = stateOf(job.state);
    return html`<li key=${job.id}><a class="line" href=${`#/idea/${job.id}`}>
      <span class=${`dot ${job.state}`}></span>
      <span class="grow"><span class="title">${job.title}</span><span class="small">${job.model}</span><${Steps} job=${job} /></span>
      <span class=${`tag ${look}`}>${words}</span></a></li>`;
  })}</ul>`;
}

function Library({ found }) {
  const [chosen, setChosen] = useState([]);
  const choose = (path) => (event) => setChosen(event.target.checked ? [...chosen, path].slice(-2) : chosen.filter((one) => one !== path));
  const place = html`<p class="small">${found.is_repo ? "In the repository " : "In the folder "}<code>${found.place}</code></p>`;
  if (!found.ideas.length) return html`${place}<div class="card"><p class="empty">No document yet. What you explore is written there.</p></div>`;
  return html`${place}<div class="card"><ul class="list">${found.ideas.map((one) => html`<li class="row pad" key=${one.path}>
      <input type="checkbox" aria-label=${`Compare ${one.title}`} checked=${chosen.includes(one.path)} onChange=${choose(one.path)} />
      <a class="grow" href=${docLink(one.path)}>${one.title}</a>
      <span class="small">${[one.date, one.mode, one.explorations > 1 && `${one.explorations} explorations`, one.cost !== null && money(one.cost)].filter(Boolean).join(", ")}</span></li>`)}</ul></div>
    <div><a class="btn" aria-disabled=${chosen.length !== 2} href=${chosen.length === 2 ? `#/compare/${chosen.map(encodeURIComponent).join("|")}` : undefined}>
      ${chosen.length === 2 ? "Compare the two" : "Choose two to compare them"}</a></div>`;
}

export function Ideas() {
  const [jobs, setJobs] = useState(null);
  const [library, setLibrary] = useState(null);
  const [problem, setProblem] = useState(null);
  const load = () => {
    get("/api/jobs?limit=200").then((page) => setJobs(page.jobs), setProblem);
    get("/api/ideas").then(setLibrary, setProblem);
  };
  useRepeated(load, () => jobs === null || jobs.some(isOpen));
  return html`<div class="page">
    <header><h1>Ideas</h1><p class="sub">What is being explored, and what was found.</p></header>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}
    <${StartIdea} onStarted=${load} />
    <section class="stack"><h2>Explorations</h2><div class="card">${jobs === null ? html`<p class="empty" role="status">Loading …</p>`
      : jobs.length === 0 ? html`<p class="empty">No idea was queued yet.</p>` : html`<${Queue} jobs=${jobs} />`}</div></section>
    ${library && html`<section class="stack"><h2>Documents</h2><${Library} found=${library} /></section>`}
  </div>`;
}

function Activities({ found }) {
  if (!found || !found.activities.length) return html`<p class="small">Nothing was searched for yet.</p>`;
  const icons = { query: "search", page: "file", call: "tool", failed: "alert" };
  const words = { query: "searched", page: "found", call: "used", failed: "failed" };
  return html`<ol class="activities" aria-live="polite">${found.activities.map((one) => html`<li key=${`${one.at}${one.kind}${one.text}`} class=${one.kind}>
    <${Icon} name=${icons[one.kind]} /><span><span class="small">${words[one.kind]}</span> ${one.kind === "page" && isWeb(one.url)
      ? html`<a href=${one.url} rel="noopener noreferrer" target="_blank">${one.text}</a>` : html`<span>${one.text}</span>`}
      ${one.kind === "failed" && html` <span class="small">${one.detail}</span>`}</span></li>`)}</ol>
    ${found.written > 0 && html`<p class="small" role="status">${found.written.toLocaleString("en")} characters written</p>`}`;
}

// Marks of footnotes become links to their source; their definitions are listed beside the text instead. Code stays.
function withSources(text, sources) {
  const urls = new Map(sources.map((one) => [String(one.number), one]));
  return text.split(/(```[\s\S]*?(?:```|$)|`[^`\n]*`)/).map((part, place) => (place % 2 ? part : part
    .replace(/^\[\^\d{1,9}\]:.*\n?/gm, "")
    .replace(/\[\^(\d{1,9})\]/g, (mark, number) => {
      const found = urls.get(number);
      return found && isWeb(found.url) ? ` [\\[${number}\\]](<${found.url.replace(/[<>]/g, "")}>)` : mark;
    }))).join("");
}

function Sources({ sources }) {
  if (!sources.length) return null;
  return html`<aside class="card pad stack sources" aria-label="Sources"><h2>Sources</h2><ol>${sources.map((one) => html`<li key=${one.number} value=${one.number}>
    ${isWeb(one.url) ? html`<a href=${one.url} rel="noopener noreferrer" target="_blank">${one.title}</a>` : one.title}
    <span class="small">${one.found}</span></li>`)}</ol></aside>`;
}

function useDocument(path) {
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    setFound(null);
    if (path) get(`/api/ideas/document?path=${encodeURIComponent(path)}`).then(setFound, setProblem);
  }, [path]);
  return [found, problem];
}

function Versions({ found }) {
  const [chosen, setChosen] = useState(-1);
  const shown = chosen < 0 ? found.versions : [found.versions[chosen]];
  return html`${found.versions.length > 1 && html`<div class="row" role="group" aria-label="Versions">
      <button class="btn small" aria-pressed=${chosen < 0} onClick=${() => setChosen(-1)}>Whole document</button>
      ${found.versions.map((one, place) => html`<button key=${place} class="btn small" aria-pressed=${chosen === place} onClick=${() => setChosen(place)}>
        ${place === 0 ? "First version" : `Update of ${one.date}`}</button>`)}</div>`}
    <div class="document"><article class="card pad"><${Markdown} text=${withSources(shown.map((one) => one.text).join("\n"), found.sources)} /></article>
      <${Sources} sources=${found.sources} /></div>`;
}

export function Document({ id }) {
  const path = decodeURIComponent(id || "");
  const [found, problem] = useDocument(path);
  const [failed, setFailed] = useState(null);
  const title = path.split("/")[0].replace(/^\d{4}-\d{2}-\d{2}-/, "").replaceAll("-", " ");
  const update = async () => {
    try {
      const job = await post("/api/explorations", { idea: found.runs.length ? found.runs[0].idea : title, update: true, mode: (found.runs[0] || {}).mode === "business" ? "business" : "exploration" });
      location.hash = `#/idea/${job.id}`;
    } catch (error) {
      setFailed(error);
    }
  };
  if (!found) return html`<div class="page">${problem ? html`<p class="notice bad" role="alert">${problem.message}</p>` : html`<p class="sub" role="status">Loading …</p>`}</div>`;
  return html`<div class="page wide"><header><div class="row"><a class="btn small" href="#/ideas">Back</a><span class="grow"></span>
      <button class="btn small" onClick=${update}><${Icon} name="replay" />Update it</button></div>
    <h1>${title}</h1><p class="small"><code>${found.where}</code></p></header>
    ${failed && html`<p class="notice bad" role="alert">${failed.message}</p>`}
    <${Versions} found=${found} />
    ${found.runs.length > 0 && html`<section class="stack"><h2>Explorations</h2><ul class="list card">${found.runs.map((one, place) => html`<li class="pad row" key=${place}>
      <span class="grow">${one.completed.slice(0, 10)} ${one.is_update ? "update" : one.mode}, ${one.model}</span>
      <span class="small">${one.steps} steps${one.cost !== null ? `, ${money(one.cost)}` : ""}</span>
      ${one.runs.map((run, number) => html`<a class="btn small" key=${run} href=${`#/chat/${run}`}>Run ${number + 1}</a>`)}</li>`)}</ul></section>`}</div>`;
}

export function Compare({ id }) {
  const [one, two] = (id || "").split(/\||%7C/i).map(decodeURIComponent);
  const [before, firstProblem] = useDocument(one);
  const [after, secondProblem] = useDocument(two);
  const problem = firstProblem || secondProblem;
  if (!before || !after) return html`<div class="page">${problem ? html`<p class="notice bad" role="alert">${problem.message}</p>` : html`<p class="sub" role="status">Loading …</p>`}</div>`;
  const known = new Set(after.sources.map((source) => source.url));
  const shared = before.sources.filter((source) => known.has(source.url));
  const side = (found) => html`<article class="card pad" aria-label=${found.path}><p class="small"><a href=${docLink(found.path)}>${found.path}</a>, sources: ${found.sources.length}</p>
    <${Markdown} text=${withSources(found.versions.map((part) => part.text).join("\n"), found.sources)} /></article>`;
  return html`<div class="page wide"><header><a class="btn small back" href="#/ideas">Back</a><h1>Two explorations side by side</h1>
      <p class="sub">${shared.length ? `${shared.length === 1 ? "One source is" : `${shared.length} sources are`} in both:` : "They share no source."} ${shared.map((source) => source.title).join(", ")}</p></header>
    <div class="sides">${side(before)}${side(after)}</div></div>`;
}

export function Idea({ id }) {
  const [job, setJob] = useState(null);
  const [text, setText] = useState(null);
  const [activity, setActivity] = useState(null);
  const [problem, setProblem] = useState(null);
  const load = async () => {
    try {
      const found = await get(`/api/jobs/${id}`);
      setJob(found);
      setActivity(await get(`/api/jobs/${id}/activity`));
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
  const sources = activity ? activity.activities.filter((one) => one.kind === "page").map((one, place) => ({ number: place + 1, title: one.text, url: one.url, found: "" })) : [];
  return html`<div class="page wide">
    <header><div class="row"><a class="btn small" href="#/ideas">Back</a><span class=${`tag ${look}`}>${words}</span></div><h1>${job.title}</h1>
      <p class="sub">${job.model}</p></header>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}
    <div class="two"><section class="card pad stack" aria-label="Steps"><h2>Steps</h2><${Steps} job=${job} />
      <ul class="list small">${job.steps.map((step) => html`<li key=${step.name}>${NAMES[step.name] || step.name}: ${step.state}
        ${step.attempts > 1 && ` after ${step.attempts} tries`}${step.error && `: ${step.error}`}</li>`)}</ul>
      ${job.last_error && html`<p class="notice bad">${job.last_error}</p>`}
      <div class="row">${isOpen(job) && html`<button class="btn small" onClick=${act("cancel")}>Cancel</button>`}
        ${(job.state === "dead" || job.state === "cancelled") && html`<button class="btn small" onClick=${act("retry")}>Try again</button>`}
        ${job.runs.map((run, place) => html`<a class="btn small" key=${run} href=${`#/chat/${run}`}>Run ${place + 1}</a>`)}</div></section>
    <section class="card pad stack" aria-label="What it did"><h2>Searches and pages</h2><${Activities} found=${activity} /></section></div>
    ${job.questions.map((one) => html`<section class="ask" key=${one.call_id}><header><h2>${one.tool}</h2><p>${one.why}</p></header>
      <div class="body"><pre class="box" tabindex="0">${one.preview}</pre></div>
      <footer><button class="btn primary" onClick=${act("answers", { call_id: one.call_id, decision: "approve" })}>Approve</button>
        <button class="btn" onClick=${act("answers", { call_id: one.call_id, decision: "reject" })}>Reject</button></footer></section>`)}
    ${text && html`<article class="card pad"><${Markdown} text=${withSources(text, footnotesOf(text, sources))} /></article>`}
  </div>`;
}

// The footnotes that a document itself defines: number, title and address.
function footnotesOf(text, otherwise) {
  const found = [...text.matchAll(/^\[\^(\d{1,9})\]: \[(.*)\]\(<([^>]*)>\)/gm)].map(([, number, title, url]) => ({ number: Number(number), title, url }));
  return found.length ? found : otherwise;
}

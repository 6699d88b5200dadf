// All runs: find and filter them; and lists of runs for other screens.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get } from "./api.js";
import { ago, folderName, money, stateOf, tokens } from "./format.js";
import { Icon } from "./icons.js";

const FIRST = 60;
const APPS = [["", "Every kind"], ["code", "Code"], ["explore", "Ideas"], ["write", "Posts"], ["run", "Other"]];
const STATES = [["", "Every state"], ["approval_pending", "Waits for you"], ["answer", "Answered"], ["open", "At work"], ["condition", "At a limit"],
  ["interrupted", "Stopped"], ["failed", "Failed"]];

export function RunList({ runs, empty, icon = "runs" }) {
  const [isWhole, setWhole] = useState(false);
  if (!runs.length) return html`<p class="empty"><${Icon} name=${icon} />${empty}</p>`;
  const shown = isWhole ? runs : runs.slice(0, FIRST);
  return html`<ul class="list">${shown.map((run) => {
    const [words, look] = stateOf(run.state);
    const used = [`${run.steps} ${run.steps === 1 ? "step" : "steps"}`, `${tokens(run.input_tokens + run.output_tokens)} tokens`];
    if (run.cost) used.push(money(run.cost));
    return html`<li key=${run.id}><a class="line" href=${`#/chat/${run.id}`}>
      <span class=${`dot ${run.state}`}></span>
      <span class="grow"><span class="title">${run.title || "Untitled"}</span>
        <span class="small">${[ago(run.updated), run.folder && folderName(run.folder), run.model, ...used].filter(Boolean).join(" · ")}</span></span>
      <span class=${`tag ${look}`}>${words}</span>
    </a></li>`;
  })}</ul>
  ${shown.length < runs.length && html`<div class="pad"><button class="btn small" onClick=${() => setWhole(true)}>Show all ${runs.length}</button></div>`}`;
}

function Choice({ label, value, options, onChange }) {
  return html`<label><span class="sr">${label}</span><select value=${value} onChange=${(event) => onChange(event.target.value)}>
    ${options.map(([key, words]) => html`<option value=${key}>${words}</option>`)}</select></label>`;
}

export function Runs({ home }) {
  const [page, setPage] = useState(null);
  const [wanted, setWanted] = useState({ find: "", app: "", state: "", folder: "" });
  const change = (name) => (value) => setWanted({ ...wanted, [name]: value });
  useEffect(() => {
    const timer = setTimeout(() => get(`/api/runs?${new URLSearchParams(wanted)}`).then(setPage, () => setPage({ runs: [], total: 0 })), 120);
    return () => clearTimeout(timer);
  }, [wanted, home]);
  const isFiltered = Object.values(wanted).some(Boolean);
  return html`<div class="page">
    <header><div class="head"><h1 class="grow">Runs</h1><a class="btn small" href="#/figures"><${Icon} name="chart" />Figures</a></div>
      <p class="sub">Every chat, run and exploration on record, from the terminal too, the newest first.</p></header>
    <div class="row" role="search">
      <label class="grow"><span class="sr">Find</span><input type="search" placeholder="Find by words, folder, model or state" value=${wanted.find}
        onInput=${(event) => change("find")(event.target.value)} /></label>
      <${Choice} label="Kind" value=${wanted.app} options=${APPS} onChange=${change("app")} />
      <${Choice} label="State" value=${wanted.state} options=${STATES} onChange=${change("state")} />
      <${Choice} label="Folder" value=${wanted.folder} onChange=${change("folder")}
        options=${[["", "Every folder"], ...home.folders.map((folder) => [folder, folderName(folder)])]} />
    </div>
    <div class="card">${page ? html`<${RunList} runs=${page.runs} icon="search" empty=${isFiltered ? "Nothing fits this." : "Nothing is on record yet."} />`
      : html`<p class="empty" role="status">Loading …</p>`}</div>
    ${page && page.total > page.runs.length && !isFiltered && html`<p class="small">The newest ${page.runs.length} of ${page.total} are searched.</p>`}
  </div>`;
}

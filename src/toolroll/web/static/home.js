// The first screen: start something, what waits for you, what was finished, and what was done last.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { FileButton, FileChips, readFiles } from "./files.js";
import { ago, folderName, money, tokens } from "./format.js";
import { Icon } from "./icons.js";
import { RunList } from "./runs.js";
import { SCREENS } from "./screens.js";

const WEEK = 7;

// What was begun and not sent stays in this browser.
function useDraft(key) {
  const [text, setText] = useState(() => localStorage.getItem(key) || "");
  const change = (value) => {
    setText(value);
    if (value) localStorage.setItem(key, value);
    else localStorage.removeItem(key);
  };
  return [text, change];
}

const sendsOn = (event, send) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && send(event);

export function StartCode({ home }) {
  const [text, change] = useDraft("draft:new");
  const [folder, setFolder] = useState(home.folder);
  const [model, setModel] = useState(home.model || "");
  const [isReading, setReading] = useState(false);
  const [files, setFiles] = useState([]);
  const [problem, setProblem] = useState(null);
  const start = async (event) => {
    event.preventDefault();
    if (!text.trim()) return;
    if (!model.trim() && !home.model) {
      setProblem({ message: "Name a model below: sonnet (needs a key of Anthropic), openai:NAME (needs a key of OpenAI), or ollama:NAME (runs on this machine). Keys are kept under Settings." });
      event.currentTarget.closest("form")?.querySelector("[list=models]")?.focus();
      return;
    }
    try {
      const chat = await post("/api/chats", { text, folder, model: model || null, read_only: isReading, files });
      change("");
      location.hash = `#/chat/${chat.id}`;
    } catch (failed) {
      setProblem(failed);
    }
  };
  return html`<form class="card start" onSubmit=${start}>
    <label><span class="sr">What should be found or changed?</span>
      <textarea rows="3" value=${text} onInput=${(event) => change(event.target.value)} onKeyDown=${(event) => sendsOn(event, start)}
        placeholder="Where is the price computed, and who depends on it?"></textarea></label>
    ${files.length > 0 && html`<div class="pad"><${FileChips} names=${files.map((one) => one.name)} onRemove=${(place) => setFiles(files.filter((_, one) => one !== place))} /></div>`}
    ${problem && html`<div class="pad"><p class="notice bad" role="alert">${problem.message}</p></div>`}
    <footer>
      <label class="chip long" title=${folder}><${Icon} name="folder" /><span class="sr">Folder</span><input type="text" class="mono" value=${folder} list="folders" onInput=${(event) => setFolder(event.target.value)} /></label>
      <label class="chip"><${Icon} name="model" /><span class="sr">Model</span><input type="text" value=${model} list="models" placeholder="Model, such as sonnet"
        onInput=${(event) => setModel(event.target.value)} /></label>
      <label class="chip"><input type="checkbox" checked=${isReading} onChange=${(event) => setReading(event.target.checked)} />Only read</label>
      <${FileButton} onFiles=${(list) => readFiles(list, files).then(setFiles, setProblem)} />
      <span class="grow"></span>
      <button class="btn primary" disabled=${!text.trim()}><${Icon} name="send" />Start</button>
    </footer>
    <datalist id="models">${home.models.map((one) => html`<option value=${one} />`)}</datalist>
    <datalist id="folders">${home.folders.map((one) => html`<option value=${one} />`)}</datalist>
  </form>`;
}

export function StartIdea({ onStarted }) {
  const [idea, setIdea] = useDraft("draft:idea");
  const [mode, setMode] = useState("exploration");
  const [problem, setProblem] = useState(null);
  const start = async (event) => {
    event.preventDefault();
    if (!idea.trim()) return;
    try {
      const ideas = idea.split("\n").map((line) => line.trim()).filter(Boolean);
      let job = null;
      for (const one of ideas) job = await post("/api/explorations", { idea: one, mode });
      setIdea("");
      setProblem(null);
      if (onStarted) onStarted();
      else location.hash = ideas.length === 1 ? `#/idea/${job.id}` : "#/ideas";
    } catch (failed) {
      setProblem(failed);
    }
  };
  return html`<form class="card start" onSubmit=${start}>
    <label><span class="sr">One idea a line</span>
      <textarea rows="3" value=${idea} onInput=${(event) => setIdea(event.target.value)} onKeyDown=${(event) => sendsOn(event, start)}
        placeholder="A kettle that reports its temperature. One idea a line."></textarea></label>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}
    <footer>
      <label class="row"><span class="small">Look at it as</span>
        <select class="grow" value=${mode} onChange=${(event) => setMode(event.target.value)}>
          <option value="exploration">an exploration</option><option value="business">a business</option></select></label>
      <span class="grow"></span>
      <button class="btn primary" disabled=${!idea.trim()}><${Icon} name="idea" />Explore</button>
    </footer>
  </form>`;
}

const has = (name) => SCREENS.some((one) => one.name === name);

function FirstRun({ onError }) {
  const begin = async () => {
    try {
      location.hash = `#/chat/${(await post("/api/demo")).id}`;
    } catch (failed) {
      onError(failed);
    }
  };
  return html`<section class="card pad stack" aria-label="First steps">
    <h2>Welcome. Look first, or choose a model.</h2>
    <p class="sub">The demo works on a copy of a small project: it finds a definition, asks who depends on it, and proposes a change that you approve and undo. It needs no key and no network.</p>
    <div class="row"><button class="btn primary" onClick=${begin}><${Icon} name="play" />Try the demo</button>${has("settings") && html`<a class="btn" href="#/settings"><${Icon} name="gear" />Choose a model and a key</a>`}</div>
    <p class="small">Or in a terminal: <code>toolroll config set model sonnet</code> and <code>toolroll config key set ANTHROPIC_API_KEY</code>. A model on this machine needs no key: <code>ollama:NAME</code>.</p>
  </section>`;
}

// Half-written messages, by the chat that they are for.
const drafts = (runs) => runs.filter((run) => localStorage.getItem(`draft:${run.id}`));

function Waits({ home }) {
  const half = drafts(home.runs);
  if (!home.waiting.length && !home.finished.length && !half.length) return null;
  const line = (key, href, look, title, words, tag) => html`<li key=${key}><a class="line" href=${href}><span class=${`dot ${look}`}></span>
    <span class="grow"><span class="title">${title || "Untitled"}</span><span class="small">${words}</span></span>${tag}</a></li>`;
  return html`<section class="stack" aria-label="Waits for you"><div class="head"><h2>Waits for you</h2>
      ${home.waiting.length > 1 && html`<a class="btn small" href="#/waiting"><${Icon} name="inbox" />Answer all ${home.waiting.length}</a>`}</div>
    <div class=${`card${home.waiting.length ? " waits" : ""}`}><ul class="list">
      ${home.waiting.map((one) => line(one.id, one.kind === "chat" ? `#/chat/${one.id}` : `#/idea/${one.id}`, "waiting", one.title,
        [one.folder && folderName(one.folder), ago(one.updated)].filter(Boolean).join(" · "), html`<span class="tag wait">needs an answer</span>`))}
      ${half.map((run) => line(`d${run.id}`, `#/chat/${run.id}`, "", run.title, localStorage.getItem(`draft:${run.id}`), html`<span class="tag">half written</span>`))}
      ${home.finished.map((one) => line(one.id, `#/idea/${one.id}`, "done", one.title, ago(one.updated), html`<span class="tag good">to read</span>`))}
    </ul></div></section>`;
}

function Week() {
  const [found, setFound] = useState(null);
  useEffect(() => {
    get(`/api/figures?days=${WEEK}`).then(setFound, () => {});
  }, []);
  if (!found || !found.runs) return null;
  const sum = (name) => found.days.reduce((all, day) => all + day[name], 0);
  return html`<a class="btn plain small" href="#/figures"><${Icon} name="chart" />${`This week: ${found.runs} ${found.runs === 1 ? "run" : "runs"}, ${tokens(sum("tokens"))} tokens${sum("cost") ? `, ${money(sum("cost"))}` : ""}`}</a>`;
}

const KINDS = [["code", "Code in a folder", "terminal", StartCode], ["idea", "Explore an idea", "idea", StartIdea]];

export function Home({ home }) {
  const [kind, setKind] = useState("code");
  const [problem, setProblem] = useState(null);
  const Start = KINDS.find((one) => one[0] === kind)[3];
  return html`<div class="page">
    <header><h1>What would you like to do?</h1></header>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}
    ${!home.model && html`<${FirstRun} onError=${setProblem} />`}
    <section class="stack" aria-label="Start">
      <div class="row"><div class="tabs" role="group" aria-label="What to start">${KINDS.map(([key, words, icon]) => html`<button key=${key} aria-pressed=${kind === key}
        onClick=${() => setKind(key)}><${Icon} name=${icon} />${words}</button>`)}</div>
        ${has("write") && html`<a class="btn plain small" href="#/write"><${Icon} name="pen" />Write a post</a>`}</div>
      <${Start} home=${home} /></section>
    <${Waits} home=${home} />
    <section class="stack" aria-label="Recent"><div class="head"><h2>Recent</h2><${Week} /></div>
      <div class="card"><${RunList} runs=${home.runs} icon="chat" empty="Nothing yet. What you start appears here, and what you start in a terminal does, too." /></div></section>
  </div>`;
}

// The first screen: what waits for you, how to begin, and what was done last. Also the list of all runs.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { ago, folderName, stateOf } from "./format.js";
import { Icon } from "./icons.js";

export function RunList({ runs, empty }) {
  if (!runs.length) return html`<p class="empty">${empty}</p>`;
  return html`<ul class="list">${runs.map((run) => {
    const [words, look] = stateOf(run.state);
    return html`<li key=${run.id}><a class="line" href=${`#/chat/${run.id}`}>
      <span class=${`dot ${run.state}`}></span>
      <span class="grow"><span class="title">${run.title || "Untitled"}</span>
        <span class="small">${run.app} ${run.folder && `in ${folderName(run.folder)}`}, ${run.model}, ${ago(run.updated)}</span></span>
      <span class=${`tag ${look}`}>${words}</span>
    </a></li>`;
  })}</ul>`;
}

function StartCode({ home }) {
  const saved = localStorage.getItem("draft:new") || "";
  const [text, setText] = useState(saved);
  const [folder, setFolder] = useState(home.folder);
  const [model, setModel] = useState(home.model || "");
  const [isReading, setReading] = useState(false);
  const [problem, setProblem] = useState(null);
  const change = (value) => {
    setText(value);
    localStorage.setItem("draft:new", value);
  };
  const start = async (event) => {
    event.preventDefault();
    try {
      const chat = await post("/api/chats", { text, folder, model: model || null, read_only: isReading });
      localStorage.removeItem("draft:new");
      location.hash = `#/chat/${chat.id}`;
    } catch (failed) {
      setProblem(failed);
    }
  };
  return html`<form class="card pad stack" onSubmit=${start}>
    <h2>Work on a project</h2>
    <label class="field"><span>What should be found or changed?</span>
      <textarea rows="3" required value=${text} onInput=${(event) => change(event.target.value)}
        placeholder="Where is the price computed, and who depends on it?"></textarea></label>
    <label class="field"><span>Folder</span><input type="text" class="mono" value=${folder} onInput=${(event) => setFolder(event.target.value)} /></label>
    <label class="field"><span>Model</span><input type="text" value=${model} list="models" placeholder="sonnet, openai:NAME, ollama:NAME"
      onInput=${(event) => setModel(event.target.value)} /></label>
    <datalist id="models"><option value="sonnet" /><option value="opus" /><option value="haiku" /></datalist>
    <label class="row"><input type="checkbox" checked=${isReading} onChange=${(event) => setReading(event.target.checked)} /> Only read, change nothing</label>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}
    <div><button class="btn primary" disabled=${!text.trim()}><${Icon} name="send" />Start</button></div>
  </form>`;
}

export function StartIdea({ onStarted }) {
  const [idea, setIdea] = useState("");
  const [mode, setMode] = useState("exploration");
  const [problem, setProblem] = useState(null);
  const start = async (event) => {
    event.preventDefault();
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
  return html`<form class="card pad stack" onSubmit=${start}>
    <h2>Explore an idea</h2>
    <label class="field"><span>One idea a line</span>
      <textarea rows="3" required value=${idea} onInput=${(event) => setIdea(event.target.value)}
        placeholder="A kettle that reports its temperature"></textarea></label>
    <label class="field"><span>Look at it as</span>
      <select value=${mode} onChange=${(event) => setMode(event.target.value)}>
        <option value="exploration">an exploration</option><option value="business">a business</option></select></label>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}
    <div><button class="btn primary" disabled=${!idea.trim()}><${Icon} name="idea" />Explore</button></div>
  </form>`;
}

export function Home({ home }) {
  return html`<div class="page">
    <header><h1>${home.waiting.length ? "Something waits for you" : "What would you like to do?"}</h1>
      <p class="sub">In <code>${home.folder}</code></p></header>
    ${home.waiting.length > 0 && html`<section class="card" aria-label="Waits for you"><${RunList} runs=${home.waiting} /></section>`}
    ${!home.model && html`<p class="notice">${"No model is chosen yet. Name one below, or once for all in a terminal: "}
      <code>toolroll config set model sonnet</code>${" and "}<code>toolroll config key set ANTHROPIC_API_KEY</code></p>`}
    <section class="starts" aria-label="Start"><${StartCode} home=${home} /><${StartIdea} /></section>
    <section class="stack" aria-label="Recent"><h2>Recent</h2>
      <div class="card"><${RunList} runs=${home.runs} empty="Nothing yet. What you start appears here, and what you start in a terminal does, too." /></div></section>
  </div>`;
}

export function Runs() {
  const [page, setPage] = useState(null);
  const [words, setWords] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => get(`/api/runs?find=${encodeURIComponent(words)}`).then(setPage, () => setPage({ runs: [], total: 0 })), 120);
    return () => clearTimeout(timer);
  }, [words]);
  return html`<div class="page">
    <header><h1>Runs</h1><p class="sub">Every chat, run and exploration on record, the newest first.</p></header>
    <label><span class="sr">Find</span><input type="search" placeholder="Find by words, folder, model or state" value=${words}
      onInput=${(event) => setWords(event.target.value)} /></label>
    <div class="card">${page ? html`<${RunList} runs=${page.runs} empty=${words ? "Nothing fits these words." : "Nothing is on record yet."} />`
      : html`<p class="empty" role="status">Loading …</p>`}</div>
  </div>`;
}

// Settings: models, keys (never shown), services, rules and trust, and what the doctor finds.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { folderName } from "./format.js";
import { Icon } from "./icons.js";

function Setting({ one, onChange }) {
  const isList = one.kind === "list";
  const shown = one.words.join("\n");
  const [text, setText] = useState(shown);
  useEffect(() => setText(shown), [shown]);
  const isMine = one.origin === "user";
  const save = (event) => {
    event.preventDefault();
    onChange({ name: one.name, words: isList ? text.split("\n").map((line) => line.trim()).filter(Boolean) : [text.trim()] });
  };
  const on = (event) => setText(event.target.value);
  return html`<form class="setting" onSubmit=${save}>
    <label class="field"><span><code>${one.name}</code> ${one.summary}</span>
      ${isList ? html`<textarea rows=${Math.max(1, text.split("\n").length)} value=${text} placeholder="one a line" onInput=${on}></textarea>`
        : html`<input type="text" value=${text} placeholder=${one.usual || "not set"} onInput=${on} />`}</label>
    <span class="small">${one.origin === "default" ? "not set by anybody" : `from ${one.origin}${one.place ? `: ${one.place}` : ""}`}</span>
    <span class="row">${text !== shown && html`<button class="btn small primary" disabled=${!isList && !text.trim()}>Save</button>`}
      ${isMine && html`<button type="button" class="btn small" onClick=${() => onChange({ name: one.name, words: null })}>Remove</button>`}</span>
  </form>`;
}

const GROUPS = [["", "General"], ["code.", "Coding agent"], ["jobs.", "Jobs"], ["webhooks.", "Webhooks"], ["timeouts.", "Time limits of models"]];

function SettingGroups({ settings, onChange }) {
  const groupOf = (one) => GROUPS.filter(([start]) => start && one.name.startsWith(start)).map(([start]) => start)[0] || "";
  return GROUPS.map(([start, title]) => {
    const found = settings.filter((one) => groupOf(one) === start);
    return found.length > 0 && html`<details class="card group" key=${title} open=${start === ""}><summary><h2>${title}</h2><span class="small">${found.length}</span></summary>
      <div class="stack pad">${found.map((one) => html`<${Setting} key=${one.name} one=${one} onChange=${onChange} />`)}</div></details>`;
  });
}

function Key({ one, onChange }) {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const save = async (event) => {
    event.preventDefault();
    if (await onChange({ name: one.name, key: text })) {
      setText("");
      setOpen(false);
    }
  };
  return html`<li class="key"><div class="row"><span class=${`dot ${one.place ? "" : "none"}`}></span><span class="grow"><code>${one.name}</code> <span class="small">${one.use}</span></span>
      <span class=${`tag ${one.place ? "run" : ""}`}>${one.place === "environment" ? "from the environment" : one.place || "missing"}</span>
      ${one.place === "keyring" && html`<button class="btn small danger" onClick=${() => onChange({ name: one.name, key: null })}>Delete</button>`}
      ${one.place !== "environment" && html`<button class="btn small" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${one.place ? "Replace" : "Add"}</button>`}</div>
    ${isOpen && html`<form class="row" onSubmit=${save}><label class="grow"><span class="sr">The key for ${one.name}</span>
      <input type="password" autocomplete="off" value=${text} placeholder="It goes into the keyring of this system, and is not shown again."
        onInput=${(event) => setText(event.target.value)} ref=${(box) => box && box.focus()} /></label>
      <button class="btn primary" disabled=${!text.trim()}>Store</button></form>`}</li>`;
}

function Keys({ keys, onChange }) {
  const [isAll, setAll] = useState(false);
  const first = keys.filter((one) => one.place);
  const shown = isAll || !first.length ? keys : first;
  return html`<section class="stack"><h2>Keys and services</h2><p class="sub">Keys are in the keyring of this system or in the environment. The page never shows one.</p>
    <div class="card"><ul class="list">${shown.map((one) => html`<${Key} key=${one.name} one=${one} onChange=${onChange} />`)}</ul></div>
    ${shown.length < keys.length && html`<div><button class="btn small" onClick=${() => setAll(true)}>Show all ${keys.length} services</button></div>`}</section>`;
}

function Remembered({ found, onRule, onTrust }) {
  return html`<section class="stack"><h2>Rules and trust</h2>
    <div class="card">${found.deny.length + found.rules.length === 0 && html`<p class="empty">No rule is remembered. "Always" in a question adds one.</p>`}
      <ul class="list">${found.deny.map((one) => html`<li class="pad row" key=${one}><span class="tag bad">never</span><code class="grow">${one}</code></li>`)}
        ${found.rules.map((one) => html`<li class="pad row" key=${one.id}><span class="tag run">always</span><span class="grow"><b>${one.tool}</b> <code>${one.path}</code>
          <span class="small">in ${folderName(one.workspace)}, since ${one.added.slice(0, 10)}</span></span>
          <button class="btn small" onClick=${() => onRule({ id: one.id })}>Forget</button></li>`)}</ul></div>
    <h3>Trusted files</h3><div class="card">${found.trusted.length === 0 ? html`<p class="empty">No file of a project is trusted. <code>toolroll trust add FILE</code> shows one and asks.</p>`
      : html`<ul class="list">${found.trusted.map((one) => html`<li class="pad row" key=${one.workspace + one.path}><span class="grow"><code>${one.path}</code>
          <span class="small">in ${one.workspace}</span></span>
          <button class="btn small" onClick=${() => onTrust(one)}>Trust no longer</button></li>`)}</ul>`}</div></section>`;
}

function Servers({ servers }) {
  return html`<section class="stack"><h2>MCP servers</h2><div class="card">${servers.length === 0
    ? html`<p class="empty">No MCP server is used here. <code>toolroll mcp add NAME -- COMMAND</code> adds one.</p>`
    : html`<ul class="list">${servers.map((one) => html`<li class="pad" key=${one.name}><div class="row"><b>${one.name}</b><code class="grow cut">${one.place}</code>
        <span class="tag">${one.origin}</span><span class=${`tag ${one.problem ? "bad" : one.tools ? "run" : ""}`}>
        ${one.problem ? "did not answer" : one.tools ? `${one.tools.length} tools, ${one.accepted} accepted` : "tools not known yet"}</span></div>
      ${one.problem && html`<p class="small">${one.problem}</p>`}${one.tools && html`<p class="small">${one.tools.join(", ")}</p>`}</li>`)}</ul>`}</div></section>`;
}

function Doctor() {
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const look = async () => {
    setBusy(true);
    try {
      setFound((await post("/api/settings/doctor")).findings);
      setProblem(null);
    } catch (failed) {
      setProblem(failed);
    } finally {
      setBusy(false);
    }
  };
  const looks = { ok: "run", missing: "", warning: "wait", broken: "bad" };
  const areas = found ? [...new Set(found.map((one) => one.area))] : [];
  return html`<section class="stack"><div class="row"><h2 class="grow">Doctor</h2><button class="btn" disabled=${isBusy} onClick=${look}><${Icon} name="search" />Look at everything</button></div>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}<p class="sr" role="status">${found && `${found.length} things looked at`}</p>
    ${areas.map((area) => html`<div class="card" key=${area}><h3 class="pad">${area}</h3><ul class="list">${found.filter((one) => one.area === area).map((one) => html`<li class="pad" key=${one.name}>
      <div class="row"><span class=${`tag ${looks[one.status]}`}>${one.status}</span><b>${one.name}</b><span class="grow">${one.text}</span></div>
      ${one.fix && html`<p class="small">${one.fix}</p>`}</li>`)}</ul></div>`)}</section>`;
}

export function Settings() {
  const [found, setFound] = useState(null);
  const [problem, setProblem] = useState(null);
  useEffect(() => {
    get("/api/settings").then(setFound, setProblem);
  }, []);
  const change = (path) => async (body) => {
    try {
      setFound(await post(path, body));
      setProblem(null);
      return true;
    } catch (failed) {
      setProblem(failed);
      return false;
    }
  };
  return html`<div class="page"><header><h1>Settings</h1><p class="sub">Yours, for every project; a project's own settings count only in it, and only if you trust them.</p></header>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}
    ${!found ? html`<p class="sub" role="status">Loading …</p>` : html`
      ${found.notes.map((note) => html`<p class="notice" key=${note}>${note}</p>`)}
      <section class="stack"><h2>Model and limits</h2>
        <p class="small">Names of models: ${found.models.map((one, place) => html`${place > 0 && ", "}<code title=${one.stands_for} key=${one.name}>${one.name}</code>`)}</p>
        <${SettingGroups} settings=${found.settings} onChange=${change("/api/settings")} /></section>
      <${Keys} keys=${found.keys} onChange=${change("/api/settings/keys")} />
      <${Remembered} found=${found} onRule=${change("/api/settings/rules/forget")} onTrust=${change("/api/settings/trust/forget")} />
      <${Servers} servers=${found.servers} />
      <${Doctor} />
      <section class="stack"><h2>Where things are</h2><dl class="portrait">${found.places.map((one) => html`<div key=${one.name}><dt>${one.name}</dt><dd><code>${one.path}</code></dd></div>`)}</dl></section>`}
  </div>`;
}

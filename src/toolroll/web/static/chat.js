// One conversation: what was said and done, what waits for an answer, and the next message.
import { html, useEffect, useMemo, useRef, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { Approval } from "./approval.js";
import { colour } from "./code.js";
import { Composer, Usage } from "./composer.js";
import { Diff } from "./diff.js";
import { FileChips } from "./files.js";
import { callIcon, callTitle, endOf, folderName, money, pretty, stateOf, took, tokens } from "./format.js";
import { Icon } from "./icons.js";
import { Markdown } from "./markdown.js";
import { listen, watch } from "./news.js";
import { Timeline } from "./timeline.js";

const PART = 80; // entries that are drawn at once, the newest first

function CallBody({ item, chatId }) {
  const [whole, setWhole] = useState(null);
  const shown = whole || item;
  const more = () => get(`/api/chats/${chatId}/call?call=${encodeURIComponent(item.call_id)}`).then(setWhole, () => {});
  return html`<div class="inside">
    <div><p class="cap"><span>Arguments</span><span>Step ${item.step}</span></p>
      <pre class="box" tabindex="0" aria-label="Arguments">${colour(pretty(shown.arguments), "json")}</pre></div>
    ${item.reason && html`<p class="small">Your reason: ${item.reason}</p>`}
    ${item.text && html`<div><p class="cap"><span>Result</span><span>${took(item.duration_ms)}, about ${tokens(item.tokens)} tokens</span></p>
      <pre class="box" tabindex="0" aria-label="Result">${shown.text}</pre></div>`}
    ${item.is_cut && !whole && html`<div><button class="btn small" onClick=${more}>Show all of it</button></div>`}
  </div>`;
}

const STALE = ["stale_approval", "stale_edit"];

function Call({ item, chatId }) {
  const [isOpen, setOpen] = useState(false);
  const [verb, object] = callTitle(item.name, item.arguments);
  const words = { running: "at work", waiting: "waits for you", failed: "failed", rejected: "rejected" };
  return html`${STALE.includes(item.code) && html`<p class="notice" role="alert">${object || "The file"} has changed since you were shown this, so nothing was written. The model was told.</p>`}
  <details class=${`call ${item.state}`} onToggle=${(event) => setOpen(event.target.open)}>
    <summary>${item.state === "running" ? html`<span class="dot running"></span>` : html`<${Icon} name=${item.state === "failed" ? "alert" : callIcon(item.name)} />`}
      <span class="what"><b>${verb}</b> ${object && html`<code>${object}</code>`}</span>
      <span class="took">${words[item.state] ? `${words[item.state]} ` : ""}${took(item.duration_ms)}</span></summary>
    ${isOpen && html`<${CallBody} item=${item} chatId=${chatId} />`}
  </details>`;
}

function Said({ item, onResend }) {
  const [text, setText] = useState(null);
  if (text !== null) {
    return html`<li class="said edit"><label><span class="sr">Your message, edited</span>
        <textarea rows="4" value=${text} onInput=${(event) => setText(event.target.value)} ref=${(one) => one && !one.dataset.seen && ((one.dataset.seen = "1"), one.focus())}></textarea></label>
      <div class="row"><button class="btn primary small" disabled=${!text.trim()} onClick=${() => onResend(item.step, text)}>Send in a new chat</button>
        <button class="btn small" onClick=${() => setText(null)}>Back</button>
        <span class="small">This chat stays as it is.</span></div></li>`;
  }
  return html`<li class="said"><div class="bubble"><span class="sr">You: </span>${item.text}</div><${FileChips} names=${item.files} />
    ${onResend && html`<button class="btn plain small" onClick=${() => setText(item.text)}><${Icon} name="edit" />Edit and resend</button>`}</li>`;
}

function Entry({ entry, chatId, onResend }) {
  const { kind } = entry;
  const key = kind === "calls" ? entry.items.map((item) => `${item.state}${item.duration_ms}`).join() : entry.item.text;
  return useMemo(() => {
    if (kind === "calls") return html`<li class="calls">${entry.items.map((item) => html`<${Call} key=${item.call_id} item=${item} chatId=${chatId} />`)}</li>`;
    if (kind === "user") return html`<${Said} item=${entry.item} onResend=${onResend} />`;
    if (kind === "text") return html`<li><${Markdown} text=${entry.item.text} /></li>`;
    return html`<li><p class="notice">${endOf(entry.item.reason, entry.item.text)}</p></li>`;
  }, [key, Boolean(onResend)]);
}

// Calls that follow each other stand together. An end that was followed by something is over: only the last one counts.
function entriesOf(items) {
  const found = [];
  items.forEach((item, place) => {
    const last = found[found.length - 1];
    if (item.kind === "end" && place < items.length - 1) return;
    if (item.kind !== "call") found.push({ kind: item.kind, key: `${item.index}${item.kind}`, item });
    else if (last && last.kind === "calls" && last.items.length < 20) last.items.push(item);
    else found.push({ kind: "calls", key: `${item.index}${item.call_id}`, items: [item] });
  });
  return found;
}

// The newest entries; older ones come when a person scrolls up to them: a long run must not keep the page waiting.
function Entries({ items, chatId, onResend }) {
  const all = useMemo(() => entriesOf(items), [items]);
  const [count, setCount] = useState(PART);
  const more = useRef(null);
  useEffect(() => {
    if (!more.current) return undefined;
    const observer = new IntersectionObserver((found) => found.some((one) => one.isIntersecting) && setCount(count + PART));
    observer.observe(more.current);
    return () => observer.disconnect();
  }, [count, all.length > count]);
  return html`${all.length > count && html`<li key="more" ref=${more}><button class="btn plain small" onClick=${() => setCount(count + PART)}>
      ${(all.length - count).toLocaleString("en")} earlier entries</button></li>`}
    ${all.slice(-count).map((entry) => html`<${Entry} key=${entry.key} entry=${entry} chatId=${chatId} onResend=${onResend} />`)}`;
}

function Busy({ since }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return html`<li class="busy"><span class="dot running"></span><span role="status">At work</span>, ${Math.max(0, Math.floor((now - since) / 1000))} s</li>`;
}

function Change({ chatId, change, onDone, onError }) {
  const [files, setFiles] = useState(null);
  const act = async () => {
    try {
      await post(`/api/chats/${chatId}/undo`, { change: change.id, redo: change.state === "undone" });
    } catch (problem) {
      onError(problem);
    }
    onDone();
  };
  const show = () => (files ? setFiles(null) : get(`/api/chats/${chatId}/change?change=${change.id}`).then((found) => setFiles(found.files), onError));
  return html`<div class="stack">
    <div class="row"><span class="grow small"><code>${change.files.join(", ")}</code> ${change.state === "undone" && html`<span class="tag">undone</span>`}</span>
      <button class="btn small" aria-expanded=${Boolean(files)} onClick=${show}><${Icon} name="eye" />Diff</button>
      <button class="btn small" onClick=${act}><${Icon} name="undo" />${change.state === "undone" ? "Redo" : "Undo"}</button></div>
    ${files && (files.length ? html`<${Diff} files=${files} isSplit=${false} />` : html`<p class="small">Its text is no longer kept.</p>`)}
  </div>`;
}

function Changes({ chatId, version, onError }) {
  const [changes, setChanges] = useState([]);
  const load = () => get(`/api/chats/${chatId}/changes`).then((one) => setChanges(one.changes), () => setChanges([]));
  useEffect(() => {
    load();
  }, [chatId, version]);
  const shown = changes.filter((one) => one.state === "applied" || one.state === "undone");
  if (!shown.length) return null;
  return html`<li class="card"><div class="pad stack"><h3>Changed files</h3>
    ${shown.map((one) => html`<${Change} key=${one.id} chatId=${chatId} change=${one} onDone=${load} onError=${onError} />`)}</div></li>`;
}

const TODO_ICONS = { completed: "check", in_progress: "half", pending: "circle" };
const Todos = ({ todos }) => html`<ul class="todos">${todos.map((one) => html`<li class=${one.status}><${Icon} name=${TODO_ICONS[one.status] || "circle"} />
  <span><span class="sr">${one.status.replace("_", " ")}: </span>${one.content || one.text}</span></li>`)}</ul>`;

function About({ chat }) {
  return html`${chat.todos.length > 0 && html`<section aria-label="Plan"><h2>Plan</h2><${Todos} todos=${chat.todos} /></section>`}
    <${Usage} chat=${chat} />
    <section aria-label="Where"><h2>Where</h2><dl class="facts"><dt>Folder</dt><dd title=${chat.folder}>${folderName(chat.folder) || "none"}</dd>
      <dt>Model</dt><dd title=${chat.model}>${chat.model.split(/[/:]/).pop()}</dd></dl></section>`;
}

const Panel = ({ chat }) => html`<aside class="panel" aria-label="About this chat"><${About} chat=${chat} /></aside>`;

// The same where there is no room beside the chat: one line that unfolds.
function Line({ chat }) {
  const done = chat.todos.filter((one) => one.status === "completed").length;
  const facts = [chat.todos.length > 0 && `Plan ${done} of ${chat.todos.length}`, `${tokens(chat.context_tokens)} of ${tokens(chat.window_tokens)} tokens`, chat.cost && money(chat.cost)];
  return html`<details class="about"><summary>${facts.filter(Boolean).join(" · ")}</summary><div class="stack"><${About} chat=${chat} /></div></details>`;
}

// What the items were, with those that have come since: what is settled is not sent again.
const settled = (items) => {
  const open = items.find((item) => item.state === "running" || item.state === "waiting");
  return open ? open.index - 1 : items.length ? items[items.length - 1].index - 1 : 0;
};

// Whether the record itself ends with why it failed: then it need not be said twice.
const saysWhy = (items) => items.length > 0 && items[items.length - 1].reason === "failed";

function useChat(id) {
  const [chat, setChat] = useState(null);
  const [problem, setProblem] = useState(null);
  const [writing, setWriting] = useState("");
  const current = useRef({ writing: "", items: [], isLoading: false, isStale: false });
  const load = async () => {
    const state = current.current;
    if (state.isLoading) {
      state.isStale = true;
      return;
    }
    state.isLoading = true;
    try {
      do {
        state.isStale = false;
        const after = settled(state.items);
        const found = await get(`/api/chats/${id}?after=${after}`);
        state.items = [...state.items.filter((item) => item.index <= after), ...found.items];
        state.writing = found.writing;
        setChat({ ...found, items: state.items });
        setWriting(found.writing);
        setProblem(null);
      } while (state.isStale);
    } catch (error) {
      setProblem(error);
    } finally {
      state.isLoading = false;
    }
  };
  useEffect(() => {
    load();
    watch(id);
    return listen((news) => {
      if (news.kind === "reopened" || (news.kind === "changed" && news.chat === id)) load();
      if (news.kind === "text" && news.chat === id) {
        const state = current.current;
        if (state.isLoading) state.isStale = true; // what is on its way may be older than this piece
        else if (news.at > state.writing.length) load(); // a piece is missing
        else {
          state.writing = state.writing.slice(0, news.at) + news.text;
          setWriting(state.writing);
        }
      }
    });
  }, [id]);
  return { chat, writing, problem, load };
}

function Menu({ id, onFork, canFork }) {
  const [isOpen, setOpen] = useState(false);
  return html`<div class="menu" onKeyDown=${(event) => event.key === "Escape" && setOpen(false)}
      onFocusOut=${(event) => event.relatedTarget && !event.currentTarget.contains(event.relatedTarget) && setOpen(false)}>
    <button class="btn small" aria-expanded=${isOpen} aria-label="More" onClick=${() => setOpen(!isOpen)}><${Icon} name="more" /></button>
    ${isOpen && html`<div class="float">
      ${canFork && html`<button class="btn plain small" onClick=${onFork}><${Icon} name="fork" />Fork at the last step</button>`}
      <a class="btn plain small" href=${`/api/chats/${id}/export?form=html`} download><${Icon} name="download" />Export as a page</a>
      <a class="btn plain small" href=${`/api/chats/${id}/export?form=jsonl`} download><${Icon} name="download" />Export as JSON lines</a></div>`}
  </div>`;
}

export function Chat({ id, home }) {
  const { chat, writing, problem, load } = useChat(id);
  const [error, setError] = useState(null);
  const [view, setView] = useState("talk");
  const [since, setSince] = useState(Date.now());
  const log = useRef(null);
  const follows = useRef(true);
  const isBusy = chat !== null && (chat.state === "running" || chat.state === "elsewhere");
  useEffect(() => setSince(Date.now()), [isBusy, chat && chat.items.length]);
  useEffect(() => {
    // What grows, an answer or a diff that is drawn in parts, is followed as long as the person is at the end.
    if (!log.current) return undefined;
    const follow = () => follows.current && log.current && (log.current.scrollTop = log.current.scrollHeight);
    const observer = new ResizeObserver(follow);
    observer.observe(log.current.firstElementChild);
    follow();
    return () => observer.disconnect();
  }, [chat === null, view]);
  if (problem && !chat) return html`<div class="page"><p class="notice bad" role="alert">${problem.message}</p></div>`;
  if (!chat) return html`<div class="page"><p class="sub" role="status">Loading …</p></div>`;
  const act = (work) => async () => {
    try {
      setError(null);
      await work();
      return true;
    } catch (failed) {
      setError(failed);
      return false;
    } finally {
      load();
    }
  };
  const send = (text, files) => act(() => post(`/api/chats/${id}/messages`, { text, files }))();
  const fork = (step, text = null) => act(async () => {
    location.hash = `#/chat/${(await post(`/api/chats/${id}/fork`, { at_step: step, text })).id}`;
  })();
  const [words, look] = stateOf(chat.state);
  const canTalk = chat.app === "code" || chat.app === "run";
  const canFork = canTalk && !isBusy;
  return html`<div class="chat">
    <header><h1 class="grow" title=${chat.title}>${chat.title || "Run"}</h1>
      <span class=${`tag ${look}`}>${words}</span>
      <div class="tabs" role="group" aria-label="View">
        <button aria-pressed=${view === "talk"} title="Conversation" onClick=${() => setView("talk")}><${Icon} name="chat" /><span class="word">Conversation</span></button>
        <button aria-pressed=${view === "time"} onClick=${() => setView("time")} title="Timeline"><${Icon} name="chart" /><span class="word">Timeline</span></button></div>
      <${Menu} id=${id} canFork=${canFork} onFork=${() => fork(chat.steps)} />
    </header>
    <div class=${`body2${view === "talk" ? " with-panel" : ""}`}>
    ${view === "time"
      ? html`<div class="log" tabindex="0" aria-label="Timeline" role="region"><${Timeline} chat=${chat} onFork=${canFork ? fork : null} onError=${setError} /></div>`
      : html`<div class="talk"><div class="log" ref=${log} tabindex="0" aria-label="Conversation" role="region"
          onScroll=${(event) => { const one = event.target; follows.current = one.scrollHeight - one.scrollTop - one.clientHeight < 80; }}>
        <ol aria-live="polite" class=${chat.questions.length ? "has-ask" : ""}>
          ${chat.notes.map((note) => html`<li><p class="small">${note}</p></li>`)}
          <${Entries} items=${chat.items} chatId=${id} onResend=${canFork ? fork : null} />
          ${writing && html`<li><${Markdown} text=${writing} /></li>`}
          ${isBusy && !writing && html`<${Busy} since=${since} />`}
          ${chat.questions.map((question, place) => html`<li key=${question.digest}><${Approval} chatId=${id} question=${question}
            isFirst=${place === 0} onAnswered=${load} onError=${setError} /></li>`)}
          ${chat.error && !saysWhy(chat.items) && html`<li><p class="notice bad" role="alert">${chat.error}</p></li>`}
          ${error && html`<li><p class="notice bad" role="alert">${error.message}</p></li>`}
          ${chat.can_continue && canTalk && html`<li><button class="btn" onClick=${act(() => post(`/api/chats/${id}/continue`))}><${Icon} name="play" />Continue</button></li>`}
          <${Changes} chatId=${id} version=${chat.items.length + (isBusy ? 0 : 0.5)} onError=${setError} />
        </ol>
      </div>
      <div><${Line} chat=${chat} />${canTalk
      ? html`<${Composer} key=${id} chat=${chat} models=${home.models} isBusy=${isBusy} onSend=${send} onStop=${chat.state === "running" ? act(() => post(`/api/chats/${id}/stop`)) : null} onError=${setError} onChanged=${load} />`
      : html`<div class="composer"><p class="small">This run can be read here; it goes on where it was started.</p></div>`}</div></div>`}
    ${view === "talk" && html`<${Panel} chat=${chat} />`}</div>
  </div>`;
}

// One conversation: what was said and done, what waits for an answer, and the next message.
import { html, useEffect, useRef, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { Approval } from "./approval.js";
import { callTitle, endOf, folderName, money, pretty, stateOf, took, tokens } from "./format.js";
import { Icon } from "./icons.js";
import { GrowingMarkdown, Markdown } from "./markdown.js";
import { listen, watch } from "./news.js";
import { Timeline } from "./timeline.js";

const draftKey = (id) => `draft:${id}`;

function Call({ item }) {
  const [verb, object] = callTitle(item.name, item.arguments);
  const words = { running: "at work", waiting: "waits for you", failed: "failed", rejected: "rejected" };
  return html`<details class="call">
    <summary><span class=${`dot ${item.state}`}></span>
      <span class="what"><b>${verb}</b> ${object && html`<code>${object}</code>`}</span>
      <span class="took">${words[item.state] ? `${words[item.state]} ` : ""}${took(item.duration_ms)}</span></summary>
    <div class="inside">
      <pre class="box" tabindex="0" aria-label="Arguments">${pretty(item.arguments)}</pre>
      ${item.reason && html`<p class="small">Your reason: ${item.reason}</p>`}
      ${item.text && html`<pre class="box" tabindex="0" aria-label="Result">${item.text}</pre>`}
    </div>
  </details>`;
}

function Entry({ item }) {
  if (item.kind === "user") return html`<li class="said"><div class="bubble"><span class="sr">You: </span>${item.text}</div></li>`;
  if (item.kind === "text") return html`<li><${Markdown} text=${item.text} /></li>`;
  if (item.kind === "call") return html`<li class="calls"><${Call} item=${item} /></li>`;
  return html`<li><p class="notice">${endOf(item.reason, item.text)}</p></li>`;
}

// An end that was followed by something is over: only the last one says where things stand.
const shownItems = (items) => items.filter((item, place) => item.kind !== "end" || place === items.length - 1);

function Busy({ since }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return html`<li class="busy" role="status"><span class="dot running"></span>At work, ${Math.max(0, Math.floor((now - since) / 1000))} s</li>`;
}

function Changes({ chatId, version, onError }) {
  const [changes, setChanges] = useState([]);
  const load = () => get(`/api/chats/${chatId}/changes`).then((one) => setChanges(one.changes), () => setChanges([]));
  useEffect(() => {
    load();
  }, [chatId, version]);
  const act = (change) => async () => {
    try {
      await post(`/api/chats/${chatId}/undo`, { change: change.id, redo: change.state === "undone" });
    } catch (problem) {
      onError(problem);
    }
    load();
  };
  const shown = changes.filter((one) => one.state === "applied" || one.state === "undone");
  if (!shown.length) return null;
  return html`<li class="card"><div class="pad stack"><h3>Changed files</h3>
    ${shown.map((one) => html`<div class="row" key=${one.id}>
      <span class="grow small"><code>${one.files.join(", ")}</code> ${one.state === "undone" && html`<span class="tag">undone</span>`}</span>
      <button class="btn small" onClick=${act(one)}><${Icon} name="undo" />${one.state === "undone" ? "Redo" : "Undo"}</button>
    </div>`)}</div></li>`;
}

function Composer({ chat, isBusy, onSend, onStop }) {
  const [text, setText] = useState(() => localStorage.getItem(draftKey(chat.id)) || "");
  const change = (value) => {
    setText(value);
    if (value) localStorage.setItem(draftKey(chat.id), value);
    else localStorage.removeItem(draftKey(chat.id));
  };
  const send = async (event) => {
    event.preventDefault();
    if (text.trim() && !isBusy && (await onSend(text))) change("");
  };
  return html`<div class="composer"><form onSubmit=${send}>
      <label class="grow"><span class="sr">Your message</span>
        <textarea rows="2" value=${text} placeholder="Say what to do next. Enter sends, Shift+Enter begins a new line."
          onInput=${(event) => change(event.target.value)}
          onKeyDown=${(event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && send(event)}></textarea></label>
      ${isBusy
        ? html`<button type="button" class="btn" onClick=${onStop}><${Icon} name="stop" />Stop</button>`
        : html`<button class="btn primary" disabled=${!text.trim()}><${Icon} name="send" />Send</button>`}
    </form>
    <div class="meta"><span title=${chat.model}>${chat.model.split("/").pop()}</span><span title=${chat.folder}>${folderName(chat.folder)}</span>
      <span>${chat.steps} ${chat.steps === 1 ? "step" : "steps"}</span>
      <span>${tokens(chat.input_tokens)} in, ${tokens(chat.output_tokens)} out</span>
      ${chat.cost !== null && html`<span>${money(chat.cost)}</span>`}</div>
  </div>`;
}

function useChat(id) {
  const [chat, setChat] = useState(null);
  const [problem, setProblem] = useState(null);
  const [writing, setWriting] = useState("");
  const current = useRef({ writing: "", isLoading: false, isStale: false });
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
        const found = await get(`/api/chats/${id}`);
        state.writing = found.writing;
        setChat(found);
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
    setChat(null);
    load();
    watch(id);
    return listen((news) => {
      if (news.kind === "reopened" || (news.kind === "changed" && news.chat === id)) load();
      if (news.kind === "text" && news.chat === id) {
        const state = current.current;
        if (news.at > state.writing.length) return load(); // a piece is missing
        state.writing = state.writing.slice(0, news.at) + news.text;
        setWriting(state.writing);
      }
      return undefined;
    });
  }, [id]);
  return { chat, writing, problem, load };
}

export function Chat({ id }) {
  const { chat, writing, problem, load } = useChat(id);
  const [error, setError] = useState(null);
  const [view, setView] = useState("talk");
  const [since, setSince] = useState(Date.now());
  const log = useRef(null);
  const follows = useRef(true);
  const isBusy = chat !== null && chat.state === "running";
  useEffect(() => setSince(Date.now()), [isBusy, chat && chat.items.length]);
  useEffect(() => {
    if (log.current && follows.current) log.current.scrollTop = log.current.scrollHeight;
  }, [chat, writing]);
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
  const send = (text) => act(() => post(`/api/chats/${id}/messages`, { text }))();
  const [words, look] = stateOf(chat.state);
  const canTalk = chat.app === "code" || chat.app === "run";
  return html`<div class="chat">
    <header><h1 class="grow" title=${chat.title}>${chat.title || "Run"}</h1>
      <span class=${`tag ${look}`}>${words}</span>
      <div class="row" role="group" aria-label="View">
        <button class="btn small" aria-pressed=${view === "talk"} onClick=${() => setView(view === "talk" ? "time" : "talk")}>
          <${Icon} name=${view === "talk" ? "chart" : "chat"} />${view === "talk" ? "Timeline" : "Conversation"}</button></div>
    </header>
    ${view === "time"
      ? html`<div class="log" tabindex="0" aria-label="Timeline"><${Timeline} chat=${chat} /></div>`
      : html`<div class="log" ref=${log} tabindex="0" aria-label="Conversation"
          onScroll=${(event) => { const one = event.target; follows.current = one.scrollHeight - one.scrollTop - one.clientHeight < 80; }}>
        <ol aria-live="polite">
          ${chat.notes.map((note) => html`<li><p class="small">${note}</p></li>`)}
          ${shownItems(chat.items).map((item) => html`<${Entry} key=${`${item.index}${item.call_id}`} item=${item} />`)}
          ${writing && html`<li><${GrowingMarkdown} text=${writing} /></li>`}
          ${isBusy && !writing && html`<${Busy} since=${since} />`}
          ${chat.questions.map((question, place) => html`<li key=${question.digest}><${Approval} chatId=${id} question=${question}
            isFirst=${place === 0} onAnswered=${load} onError=${setError} /></li>`)}
          <${Changes} chatId=${id} version=${chat.items.length + (isBusy ? 0 : 0.5)} onError=${setError} />
          ${chat.error && html`<li><p class="notice bad" role="alert">${chat.error}</p></li>`}
          ${error && html`<li><p class="notice bad" role="alert">${error.message}</p></li>`}
          ${chat.can_continue && canTalk && html`<li><button class="btn" onClick=${act(() => post(`/api/chats/${id}/continue`))}>Continue</button></li>`}
        </ol>
      </div>`}
    ${canTalk
      ? html`<${Composer} key=${id} chat=${chat} isBusy=${isBusy} onSend=${send} onStop=${act(() => post(`/api/chats/${id}/stop`))} />`
      : html`<div class="composer"><p class="small">This run can be read here; it goes on where it was started.</p></div>`}
  </div>`;
}

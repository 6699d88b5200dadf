// The next message of a chat: text, files, the model. What is sent while the chat is at work waits until it is not.
import { html, useEffect, useRef, useState } from "./vendor/ui.js";
import { post } from "./api.js";
import { Meter } from "./charts.js";
import { FileButton, FileChips, readFiles } from "./files.js";
import { folderName, money, tokens } from "./format.js";
import { Icon } from "./icons.js";

const draftKey = (id) => `draft:${id}`;
const queueKey = (id) => `queue:${id}`;

// A message that waits stays in this browser, so that neither a reload nor the server's end loses it. Of several tabs,
// the one that gets the lock sends it.
async function sendQueued(id, onSend) {
  await navigator.locks.request(queueKey(id), async () => {
    const text = localStorage.getItem(queueKey(id));
    if (!text) return;
    localStorage.removeItem(queueKey(id));
    if (!(await onSend(text, []))) localStorage.setItem(draftKey(id), text);
  });
}

function ModelMenu({ chat, models, isBusy, onError, onChanged }) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState(chat.model);
  const use = async (event) => {
    event.preventDefault();
    event.stopPropagation();
    try {
      await post(`/api/chats/${chat.id}/model`, { model: name });
      setOpen(false);
      onChanged();
    } catch (problem) {
      onError(problem);
    }
  };
  return html`<div class="menu up" onKeyDown=${(event) => event.key === "Escape" && setOpen(false)}
      onFocusOut=${(event) => event.relatedTarget && !event.currentTarget.contains(event.relatedTarget) && setOpen(false)}>
    <button type="button" class="btn plain small" aria-expanded=${isOpen} title=${chat.model} onClick=${() => setOpen(!isOpen)}><${Icon} name="model" />${chat.model.split(/[/:]/).pop()}</button>
    ${isOpen && html`<div class="float">
      <label class="field"><span>Model from the next message on</span><input type="text" value=${name} list="chat-models" onInput=${(event) => setName(event.target.value)}
        onKeyDown=${(event) => event.key === "Enter" && use(event)} ref=${(one) => one && !one.dataset.seen && ((one.dataset.seen = "1"), one.focus())} /></label>
      <datalist id="chat-models">${models.map((one) => html`<option value=${one} />`)}</datalist>
      <div><button type="button" class="btn small" disabled=${isBusy || !name.trim()} onClick=${use}>Use it</button></div></div>`}
  </div>`;
}

export function Composer({ chat, models, isBusy, onSend, onStop, onError, onChanged }) {
  const [text, setText] = useState(() => localStorage.getItem(draftKey(chat.id)) || "");
  const [files, setFiles] = useState([]);
  const [queued, setQueued] = useState(() => localStorage.getItem(queueKey(chat.id)) || "");
  const box = useRef(null);
  const change = (value) => {
    setText(value);
    if (value) localStorage.setItem(draftKey(chat.id), value);
    else localStorage.removeItem(draftKey(chat.id));
  };
  useEffect(() => {
    // What another tab writes or sends is seen here, too.
    const follow = (event) => event.key === queueKey(chat.id) && setQueued(event.newValue || "");
    window.addEventListener("storage", follow);
    return () => window.removeEventListener("storage", follow);
  }, []);
  useEffect(() => {
    if (queued && (chat.state === "idle" || chat.state === "stopped")) sendQueued(chat.id, onSend).then(() => setQueued(""));
  }, [queued, chat.state]);
  useEffect(() => {
    if (!box.current) return;
    box.current.rows = Math.min(10, Math.max(2, text.split("\n").length));
  }, [text]);
  const send = async (event) => {
    event.preventDefault();
    if (!text.trim()) return;
    if (isBusy) {
      const all = queued ? `${queued}\n\n${text}` : text;
      localStorage.setItem(queueKey(chat.id), all);
      setQueued(all);
      change("");
    } else if (await onSend(text, files)) {
      change("");
      setFiles([]);
    }
  };
  const unqueue = () => {
    localStorage.removeItem(queueKey(chat.id));
    change(text ? `${queued}\n\n${text}` : queued);
    setQueued("");
  };
  const add = (list) => list.length && readFiles(list, files).then(setFiles, onError);
  const pasted = (event) => {
    const list = [...event.clipboardData.files];
    if (list.length) {
      event.preventDefault();
      add(list);
    }
  };
  return html`<div class="composer" onDragOver=${(event) => event.preventDefault()} onDrop=${(event) => { event.preventDefault(); add([...event.dataTransfer.files]); }}>
    ${queued && html`<div class="row"><span class="tag wait">Sent when it has finished</span><span class="grow small">${queued}</span>
      <button class="btn small" onClick=${unqueue}>Take back</button></div>`}
    <form class="card" onSubmit=${send}>
      <${FileChips} names=${files.map((one) => one.name)} onRemove=${(place) => setFiles(files.filter((_, one) => one !== place))} />
      <label><span class="sr">Your message</span>
        <textarea rows="2" ref=${box} value=${text} placeholder=${isBusy ? "Say what comes next; it is sent when this has finished." : "Say what to do next. Shift+Enter begins a new line."}
          onInput=${(event) => change(event.target.value)} onPaste=${pasted}
          onKeyDown=${(event) => event.key === "Enter" && !event.shiftKey && !event.isComposing && send(event)}></textarea></label>
      <footer><${FileButton} onFiles=${add} /><${ModelMenu} chat=${chat} models=${models} isBusy=${isBusy} onError=${onError} onChanged=${onChanged} />
        <span class="small word" title=${chat.folder}>${folderName(chat.folder)}</span><span class="grow"></span>
        ${onStop && html`<button type="button" class="btn" onClick=${onStop}><${Icon} name="stop" />Stop</button>`}
        <button class="btn primary" disabled=${!text.trim()}><${Icon} name="send" />${isBusy ? "Send later" : "Send"}</button></footer>
    </form>
  </div>`;
}

export function Usage({ chat }) {
  const share = chat.window_tokens ? Math.round((chat.context_tokens / chat.window_tokens) * 100) : 0;
  return html`<section aria-label="Use"><h2>Context</h2>
    <${Meter} label="Context" used=${chat.context_tokens} all=${chat.window_tokens} />
    <p class="cap"><span>${tokens(chat.context_tokens)} of ${tokens(chat.window_tokens)} tokens</span><span>${share || (chat.context_tokens ? "less than 1" : 0)} %</span></p>
    <dl class="facts"><dt>Steps</dt><dd>${chat.steps}</dd>
      <dt>Sent</dt><dd>${tokens(chat.input_tokens)}</dd><dt>Written</dt><dd>${tokens(chat.output_tokens)}</dd>
      <dt>Cost</dt><dd>${chat.cost === null ? "not known" : money(chat.cost)}</dd></dl></section>`;
}

// A question: what would happen, exactly as the answer is bound to it, and every way to answer.
import { html, useEffect, useRef, useState } from "./vendor/ui.js";
import { post } from "./api.js";
import { Diff, isLong } from "./diff.js";
import { Editor } from "./editor.js";
import { Icon } from "./icons.js";
import { callTitle } from "./format.js";

const WIDE = "(min-width: 1100px)";
const isTyping = (element) => element && /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) && element.type !== "checkbox";
const taken = (files, value) => files.map((file) => (file.hunks.length ? file.hunks.map(() => value) : [value]));
const approved = new Map(); // by call, the digest of what this person said yes to

function questionTitle(question) {
  const [verb] = callTitle(question.tool, "{}");
  const paths = question.paths.slice(0, 3).join(", ") + (question.paths.length > 3 ? ", …" : "");
  return paths ? `${verb} ${paths}?` : `Run ${question.tool}?`;
}

export function Approval({ chatId, question, isFirst, onAnswered, onError }) {
  const [mode, setMode] = useState("look"); // look, hunks, edit, reject
  const [isSplit, setSplit] = useState(matchMedia(WIDE).matches);
  const [choice, setChoice] = useState(() => (question.files ? taken(question.files, true) : null));
  const [text, setText] = useState(question.editable || "");
  const [edited, setEdited] = useState(null);
  const [reason, setReason] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [isSeen, setSeen] = useState(!question.files || !isLong(question.files));
  const box = useRef(null);
  const canEdit = question.editable !== null && question.original !== null;
  const isStale = approved.has(question.call_id) && approved.get(question.call_id) !== question.digest;

  useEffect(() => {
    // Somebody who is writing is left alone; else the keys answer at once, as in a terminal.
    if (isFirst && box.current && !(isTyping(document.activeElement) && document.activeElement.value)) box.current.focus({ preventScroll: true });
  }, [question.digest]);

  const answer = async (more) => {
    setBusy(true);
    try {
      if (more.decision === "approve") approved.set(question.call_id, question.digest);
      const one = { call_id: question.call_id, digest: question.digest, ...more };
      await post(`/api/chats/${chatId}/answers`, { answers: [one] });
      onAnswered();
    } catch (problem) {
      onError(problem);
      onAnswered();
    } finally {
      setBusy(false);
    }
  };
  const approve = (more = {}) => answer({ decision: "approve", ...more });
  const preview = async () => {
    try {
      setEdited(await post(`/api/chats/${chatId}/preview`, { call_id: question.call_id, edited: text }));
    } catch (problem) {
      onError(problem);
    }
  };
  const look = () => {
    setMode("look");
    setEdited(null);
    box.current?.focus();
  };
  const count = choice ? choice.flat().filter(Boolean).length : 0;
  const all = choice ? choice.flat().length : 0;

  const onKey = (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target) || isBusy) return;
    const acts = {
      y: () => isSeen && mode === "look" && approve(),
      n: () => setMode("reject"),
      h: () => question.can_choose && all > 1 && setMode("hunks"),
      e: () => canEdit && setMode("edit"),
      a: () => isSeen && mode === "look" && question.always && approve({ always: question.always }),
      Escape: look,
    };
    if (acts[event.key]) {
      event.preventDefault();
      acts[event.key]();
    }
  };

  let body;
  if (mode === "edit" && !edited) {
    body = html`<${Editor} before=${question.original} text=${text} isSplit=${isSplit} onChange=${setText}
      label=${`The text of ${question.files ? question.files[0].name : question.paths[0]} after the change`} />`;
  } else if (mode === "edit") {
    body = html`<p class="small">This is what would be written now.</p>
      ${edited.files.length ? html`<${Diff} files=${edited.files} isSplit=${isSplit} />` : html`<p>Nothing would change.</p>`}`;
  } else if (question.files) {
    const choose = (place, number, take) =>
      setChoice(choice.map((hunks, one) => (one === place ? hunks.map((old, two) => (number === null || two === number ? take : old)) : hunks)));
    body = html`<${Diff} files=${question.files} isSplit=${isSplit} choice=${mode === "hunks" ? choice : null}
      onChoose=${choose} onAllShown=${() => setSeen(true)} />`;
  } else {
    body = html`<pre class="box" tabindex="0">${question.preview}</pre>`;
  }

  return html`<section class="ask" ref=${box} tabindex="-1" onKeyDown=${onKey} aria-label=${questionTitle(question)}>
    <header>
      <div class="head"><${Icon} name="alert" /><h2 class="grow">${questionTitle(question)}</h2>
        ${question.files && html`<div class="tabs" role="group" aria-label="How to show it">
          <button aria-pressed=${isSplit} onClick=${() => setSplit(true)}>Side by side</button>
          <button aria-pressed=${!isSplit} onClick=${() => setSplit(false)}>One column</button></div>`}</div>
      ${isStale && html`<p class="notice" role="alert">The file has changed since you said yes, so nothing was written. This is what would happen now.</p>`}
      ${question.why && html`<p>${question.why}</p>`}
      ${question.notes.map((note) => html`<p class="small">${note}</p>`)}
    </header>
    <div class="body">${body}</div>
    <footer>
      ${mode === "look" && html`
        <button class="btn primary" disabled=${isBusy || !isSeen} onClick=${() => approve()}><${Icon} name="check" />Approve <kbd>y</kbd></button>
        <button class="btn" disabled=${isBusy} onClick=${() => setMode("reject")}>Reject <kbd>n</kbd></button>
        ${canEdit && html`<button class="btn" onClick=${() => setMode("edit")}>Edit <kbd>e</kbd></button>`}
        ${question.can_choose && all > 1 && html`<button class="btn" onClick=${() => setMode("hunks")}>Choose parts <kbd>h</kbd></button>`}
        ${question.always && html`<button class="btn plain" disabled=${isBusy || !isSeen} onClick=${() => approve({ always: question.always })}
          title="From now on without asking, in this folder">Always for ${question.always} <kbd>a</kbd></button>`}
        ${!isSeen && html`<span class="small">Show all lines before you approve.</span>`}`}
      ${mode === "hunks" && html`
        <button class="btn primary" disabled=${isBusy || !count || !isSeen} onClick=${() => approve({ hunks: choice })}>
          Approve ${count} of ${all}</button>
        <button class="btn" onClick=${look}>Back</button>`}
      ${mode === "edit" && !edited && html`
        <button class="btn primary" onClick=${preview}>Preview</button>
        <button class="btn" onClick=${look}>Back</button>`}
      ${mode === "edit" && edited && html`
        <button class="btn primary" disabled=${isBusy} onClick=${() => approve({ edited: text })}>Approve my text</button>
        <button class="btn" onClick=${() => setEdited(null)}>Edit again</button>`}
      ${mode === "reject" && html`
        <label class="grow"><span class="sr">Why not? The model reads it.</span>
          <input type="text" placeholder="Why not? The model reads it (you can leave it empty)." value=${reason}
            ref=${(one) => one && !one.dataset.seen && ((one.dataset.seen = "1"), one.focus())}
            onInput=${(event) => setReason(event.target.value)}
            onKeyDown=${(event) => {
              if (event.key === "Enter") answer({ decision: "reject", reason: reason || null });
              if (event.key === "Escape") look();
            }} /></label>
        <button class="btn danger" disabled=${isBusy} onClick=${() => answer({ decision: "reject", reason: reason || null })}>Reject</button>
        <button class="btn" onClick=${look}>Back</button>`}
    </footer>
  </section>`;
}

// Everything that waits for an answer, over all chats and jobs, to be answered one after the other.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { Approval } from "./approval.js";
import { ago, folderName } from "./format.js";
import { Icon } from "./icons.js";

function ChatQuestions({ id, onError }) {
  const [chat, setChat] = useState(null);
  const load = () => get(`/api/chats/${id}`).then(setChat, onError);
  useEffect(() => {
    load();
  }, [id]);
  if (!chat) return html`<p class="empty" role="status">Loading …</p>`;
  if (!chat.questions.length) return html`<p class="small pad">Answered. <a href=${`#/chat/${id}`}>See how it goes on</a></p>`;
  return chat.questions.map((question, place) => html`<${Approval} key=${question.digest} chatId=${id} question=${question} isFirst=${place === 0}
    onAnswered=${load} onError=${onError} />`);
}

function JobQuestions({ id, onError }) {
  const [job, setJob] = useState(null);
  useEffect(() => {
    get(`/api/jobs/${id}`).then(setJob, onError);
  }, [id]);
  if (!job) return html`<p class="empty" role="status">Loading …</p>`;
  const answer = (one, decision) => () => post(`/api/jobs/${id}/answers`, { call_id: one.call_id, decision }).then(setJob, onError);
  if (!job.questions.length) return html`<p class="small pad">Answered. <a href=${`#/idea/${id}`}>See how it goes on</a></p>`;
  return job.questions.map((one) => html`<section class="ask" key=${one.call_id} aria-label=${one.tool}><header><h2>${one.tool}</h2><p>${one.why}</p></header>
    <div class="body"><pre class="box" tabindex="0">${one.preview}</pre></div>
    <footer><button class="btn primary" onClick=${answer(one, "approve")}><${Icon} name="check" />Approve</button>
      <button class="btn" onClick=${answer(one, "reject")}>Reject</button></footer></section>`);
}

function Item({ one, isOpen, onOpen, onError }) {
  const where = one.kind === "chat" ? `#/chat/${one.id}` : `#/idea/${one.id}`;
  const Questions = one.kind === "chat" ? ChatQuestions : JobQuestions;
  return html`<section class="stack" aria-label=${one.title || "Untitled"}>
    <div class="row"><span class="dot waiting"></span><h2 class="grow"><button class="btn plain" aria-expanded=${isOpen} onClick=${onOpen}>${one.title || "Untitled"}</button></h2>
      <span class="small">${[one.folder && folderName(one.folder), ago(one.updated)].filter(Boolean).join(" · ")}</span>
      <a class="btn small" href=${where}>Open</a></div>
    ${isOpen && html`<${Questions} id=${one.id} onError=${onError} />`}
  </section>`;
}

export function Waiting({ home }) {
  const [open, setOpen] = useState(null);
  const [seen, setSeen] = useState([]);
  const [problem, setProblem] = useState(null);
  // What was answered here stays until the screen is left, so that nothing jumps away under the person's hand.
  useEffect(() => {
    const known = new Set(seen.map((one) => one.id));
    const added = home.waiting.filter((one) => !known.has(one.id));
    if (added.length) setSeen([...seen, ...added]);
    const still = new Set(home.waiting.map((one) => one.id));
    if (open === null || !still.has(open)) setOpen(home.waiting.length ? home.waiting[0].id : open);
  }, [home]);
  const shown = seen.filter((one) => home.waiting.some((other) => other.id === one.id) || one.id === open);
  return html`<div class="page wideask">
    <header><h1>Waiting for you</h1><p class="sub">Questions of all chats and jobs. Nothing is held meanwhile: answer here, in the chat, or in a terminal.</p></header>
    ${problem && html`<p class="notice bad" role="alert">${problem.message}</p>`}
    ${shown.map((one) => html`<${Item} key=${one.id} one=${one} isOpen=${one.id === open} onOpen=${() => setOpen(one.id === open ? "" : one.id)} onError=${setProblem} />`)}
    ${!home.waiting.length && html`<div class="card"><p class="empty"><${Icon} name="inbox" />Nothing waits for you.</p></div>`}
  </div>`;
}

// A run by time: every step and call on one line of time, what it used, and what came of playing it again.
import { html, useEffect, useState } from "./vendor/ui.js";
import { get, post } from "./api.js";
import { Bars, Span } from "./charts.js";
import { callTitle, money, took, tokens } from "./format.js";
import { Icon } from "./icons.js";

const LOOKS = { reads: "b3", edit: "b2", edit_file: "b2", create_file: "b2", apply_changes: "b2", run_check: "b5" };
const FIRST = 400;

function Row({ span, whole, onFork }) {
  const [verb, object] = span.kind === "call" ? callTitle(span.name, span.arguments) : [`Step ${span.step}`, ""];
  const look = span.is_error ? "b4" : span.kind === "step" ? "b1" : LOOKS[span.name] || "b3";
  const used = span.kind === "step" ? `${tokens(span.input_tokens)} in, ${tokens(span.output_tokens)} out${span.cost ? `, ${money(span.cost)}` : ""}` : "";
  return html`<li class=${span.kind}>
    <span class="name" title=${`${verb} ${object} ${used}`}>${verb} ${object ? html`<code>${object}</code>` : html`<span class="small">${used}</span>`}</span>
    ${span.start_s === null ? html`<span></span>` : html`<${Span} start=${span.start_s} length=${(span.duration_ms || 0) / 1000} whole=${whole} look=${look} />`}
    <span class="took">${span.kind === "step" && onFork && html`<button class="btn plain small" onClick=${() => onFork(span.step)}
      title=${`Begin a new chat after step ${span.step}`} aria-label=${`Fork after step ${span.step}`}><${Icon} name="fork" /></button>`}${took(span.duration_ms)}</span></li>`;
}

function Replay({ chatId, onError }) {
  const [report, setReport] = useState(null);
  const [isBusy, setBusy] = useState(false);
  const run = async () => {
    setBusy(true);
    try {
      setReport(await post(`/api/chats/${chatId}/replay`));
    } catch (problem) {
      onError(problem);
    } finally {
      setBusy(false);
    }
  };
  return html`<section class="card pad stack" aria-label="Replay"><div class="head"><h2>Replay</h2>
      <button class="btn small" disabled=${isBusy} onClick=${run}><${Icon} name="replay" />${isBusy ? "Playing …" : "Play it again"}</button></div>
    ${!report && html`<p class="small">Runs the recorded turns with the tools of today: nothing is changed, no model is asked, and every difference is shown.</p>`}
    ${report && html`<p class=${`notice ${report.is_same ? "good" : ""}`} role="status">${report.is_same ? "Everything came out the same." : `${report.differences.length} differences.`}
      ${` ${report.steps} steps, ${report.calls_run} calls run, ${report.calls_from_record} taken from the record.`}</p>`}
    ${report && [...report.notes, ...report.differences].map((one) => html`<pre class="box" tabindex="0">${one}</pre>`)}
  </section>`;
}

export function Timeline({ chat, onFork, onError }) {
  const [time, setTime] = useState(null);
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    get(`/api/chats/${chat.id}/timeline`).then(setTime, onError);
  }, [chat.id, chat.items.length]);
  if (!time) return html`<div class="page"><p class="sub" role="status">Loading …</p></div>`;
  const steps = time.spans.filter((span) => span.kind === "step");
  const calls = time.spans.filter((span) => span.kind === "call");
  const counted = {};
  for (const span of calls) counted[span.name] = (counted[span.name] || 0) + 1;
  const names = Object.entries(counted).sort((a, b) => b[1] - a[1]).slice(0, 12);
  const inCalls = calls.reduce((sum, span) => sum + (span.duration_ms || 0), 0);
  const inModel = steps.reduce((sum, span) => sum + (span.duration_ms || 0), 0);
  return html`<div class="page wide">
    ${time.forked_from && html`<p class="small">Forked from <a href=${`#/chat/${time.forked_from}`}>another run</a> after step ${time.forked_at}.</p>`}
    <div class="tiles">
      <div class="card tile"><span class="small">Steps</span><b>${steps.length}</b></div>
      <div class="card tile"><span class="small">Calls</span><b>${calls.length}</b></div>
      <div class="card tile"><span class="small">Tokens</span><b>${tokens(chat.input_tokens + chat.output_tokens)}</b></div>
      <div class="card tile"><span class="small">Cost</span><b>${chat.cost === null ? "–" : money(chat.cost)}</b></div>
      <div class="card tile"><span class="small">Model</span><b>${took(inModel)}</b></div>
      <div class="card tile"><span class="small">Tools</span><b>${took(inCalls)}</b></div>
    </div>
    <section class="card" aria-label="Steps and calls by time"><div class="head pad"><h2>By time</h2>
        <span class="legend"><span><i class="b1"></i>model</span><span><i class="b3"></i>reads</span><span><i class="b2"></i>changes</span><span><i class="b4"></i>failed</span></span></div>
      <ol class="waterfall">${(isWhole ? time.spans : time.spans.slice(0, FIRST)).map((span) => html`<${Row} key=${`${span.step}${span.call_id}`} span=${span}
        whole=${time.seconds || 1} onFork=${onFork} />`)}</ol>
      ${!time.spans.length && html`<p class="empty">No step was taken yet.</p>`}
      ${!isWhole && time.spans.length > FIRST && html`<div class="pad"><button class="btn" onClick=${() => setWhole(true)}>Show all ${time.spans.length}</button></div>`}
    </section>
    <div class="columns">
      <${Bars} title="Tokens sent at each step" rows=${steps.slice(-12).map((span) => ({ label: `Step ${span.step}`, value: span.input_tokens, shown: tokens(span.input_tokens) }))} />
      <${Bars} title="Calls by tool" rows=${names.map(([name, count]) => ({ label: name, value: count, shown: String(count), look: "b3" }))} />
    </div>
    <${Replay} chatId=${chat.id} onError=${onError} />
  </div>`;
}

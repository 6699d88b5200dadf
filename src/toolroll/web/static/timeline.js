// A run in figures: tokens of each step, the time of each call, and what it cost.
import { html } from "./vendor/ui.js";
import { callTitle, money, took, tokens } from "./format.js";

const WIDTH = 800, BAR = 22, GAP = 6, LABEL = 230;

// Bars with their values as text beside them, so that no colour and no hovering is needed to read them.
export function Bars({ title, rows }) {
  const most = Math.max(1, ...rows.map((row) => row.value));
  const height = rows.length * (BAR + GAP);
  const room = WIDTH - LABEL - 100;
  if (!rows.length) return null;
  return html`<figure class="card pad stack"><figcaption><h2>${title}</h2></figcaption>
    <svg class="chart" viewBox=${`0 0 ${WIDTH} ${height}`} role="img" aria-label=${`${title}: ${rows.map((row) => `${row.label} ${row.shown}`).join("; ")}`}>
      ${rows.map((row, place) => {
        const y = place * (BAR + GAP);
        return html`<g key=${place}>
          <text x=${LABEL - 8} y=${y + BAR * 0.7} text-anchor="end">${row.label.length > 34 ? `${row.label.slice(0, 33)}…` : row.label}</text>
          <rect class=${`bar${row.isWeak ? " alt" : ""}`} x=${LABEL} y=${y} rx="4" width=${Math.max(2, (row.value / most) * room)} height=${BAR} />
          <text x=${LABEL + Math.max(2, (row.value / most) * room) + 8} y=${y + BAR * 0.7}>${row.shown}</text>
        </g>`;
      })}
    </svg></figure>`;
}

export function Timeline({ chat }) {
  const calls = chat.items.filter((item) => item.kind === "call");
  const timed = calls.filter((item) => item.duration_ms !== null).map((item) => {
    const [verb, object] = callTitle(item.name, item.arguments);
    return { label: `${verb} ${object}`, value: item.duration_ms, shown: took(item.duration_ms), isWeak: item.state !== "done" };
  });
  const counted = {};
  for (const item of calls) counted[item.name] = (counted[item.name] || 0) + 1;
  const names = Object.entries(counted).sort((a, b) => b[1] - a[1]);
  return html`<div class="page">
    <dl class="row small"><dt class="sr">Steps</dt><dd>${chat.steps} steps</dd>
      <dt class="sr">Tokens</dt><dd>${tokens(chat.input_tokens)} in, ${tokens(chat.output_tokens)} out</dd>
      ${chat.cost !== null && html`<dt class="sr">Cost</dt><dd>${money(chat.cost)}</dd>`}</dl>
    <${Bars} title="Time of each call" rows=${timed.slice(0, 200)} />
    <${Bars} title="Calls by tool" rows=${names.map(([name, count]) => ({ label: name, value: count, shown: String(count) }))} />
    ${!calls.length && html`<p class="empty">No tool was called.</p>`}
  </div>`;
}

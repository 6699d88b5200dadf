// Charts as SVG of our own. Each says its values in words too, so that no colour and no hovering is needed to read it.
import { html } from "./vendor/ui.js";

const WIDTH = 600, BAR = 16, GAP = 10, LABEL = 190, VALUE = 90;
const short = (text, most) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Bars with a name and a value each: rows of { label, value, shown, look }.
export function Bars({ title, rows }) {
  if (!rows.length) return null;
  const most = Math.max(...rows.map((row) => row.value)) || 1;
  const room = WIDTH - LABEL - VALUE;
  return html`<figure class="card pad stack"><figcaption><h2>${title}</h2></figcaption>
    <svg class="chart" viewBox=${`0 0 ${WIDTH} ${rows.length * (BAR + GAP)}`} role="img"
      aria-label=${`${title}: ${rows.map((row) => `${row.label} ${row.shown}`).join("; ")}`}>
      ${rows.map((row, place) => {
        const y = place * (BAR + GAP), wide = Math.max(2, (row.value / most) * room);
        return html`<g key=${place}>
          <text class="strong" x="0" y=${y + 13}>${short(row.label, 28)}</text>
          <rect class="track" x=${LABEL} y=${y + 2} rx="4" width=${room} height=${BAR - 4} />
          <rect class=${row.look || "b1"} x=${LABEL} y=${y + 2} rx="4" width=${wide} height=${BAR - 4} />
          <text x=${WIDTH} y=${y + 13} text-anchor="end">${row.shown}</text>
        </g>`;
      })}
    </svg></figure>`;
}

// Columns over days: { day, value } each, with the largest value at the top of the scale.
export function Columns({ title, days, format, look = "b1" }) {
  const most = Math.max(...days.map((one) => one.value)) || 1;
  const high = 120, step = WIDTH / days.length, wide = Math.max(1, Math.min(28, step * 0.7));
  const total = days.reduce((sum, one) => sum + one.value, 0);
  const every = Math.ceil(days.length / 6);
  return html`<figure class="card pad stack"><figcaption class="head"><h2>${title}</h2><span class="small num">${format(total)}</span></figcaption>
    <svg class="chart" viewBox=${`0 0 ${WIDTH} ${high + 34}`} role="img"
      aria-label=${`${title}, ${format(total)} in all: ${days.filter((one) => one.value).map((one) => `${one.day} ${format(one.value)}`).join("; ") || "nothing"}`}>
      <text x="0" y="10">${format(most)}</text>
      ${[0, 0.5, 1].map((share) => html`<line class="grid" x1="0" x2=${WIDTH} y1=${14 + high * share} y2=${14 + high * share} />`)}
      ${days.map((one, place) => {
        const tall = one.value ? Math.max(2, (one.value / most) * high) : 0;
        return html`<g key=${one.day}><rect class=${look} x=${place * step + (step - wide) / 2} y=${14 + high - tall} width=${wide} height=${tall} rx="2">
            <title>${`${one.day}: ${format(one.value)}`}</title></rect>
          ${place % every === 0 && html`<text x=${place * step} y=${high + 30}>${one.day.slice(5).replace("-", "/")}</text>`}</g>`;
      })}
    </svg></figure>`;
}

// One bar on the line of time, from `start` to `start + length` of `whole`.
export function Span({ start, length, whole, look }) {
  const x = (start / whole) * WIDTH, wide = Math.max(3, (length / whole) * WIDTH);
  return html`<svg class="chart" viewBox=${`0 0 ${WIDTH} 12`} preserveAspectRatio="none" aria-hidden="true">
    <rect class="track" width=${WIDTH} height="12" /><rect class=${look} x=${Math.min(x, WIDTH - 3)} y="1" width=${wide} height="10" rx="2" /></svg>`;
}

// How much of something is used.
export function Meter({ label, used, all }) {
  const share = Math.min(1, all ? used / all : 0);
  const look = share > 0.9 ? "full" : share > 0.7 ? "much" : "";
  return html`<svg class="meter" viewBox="0 0 100 6" preserveAspectRatio="none" role="meter" aria-label=${label} aria-valuemin="0" aria-valuemax=${all}
      aria-valuenow=${used}><rect class="all" width="100" height="6" /><rect class=${`used ${look}`} width=${used ? Math.max(1, share * 100) : 0} height="6" /></svg>`;
}

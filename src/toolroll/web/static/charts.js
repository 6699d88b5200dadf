// Charts as SVG of our own. Each says its values in words too, so that no colour and no hovering is needed to read it.
import { html } from "./vendor/ui.js";

const WIDTH = 600;

// Bars with a name and a value each: rows of { label, value, shown, look }.
export function Bars({ title, rows }) {
  if (!rows.length) return null;
  const most = Math.max(...rows.map((row) => row.value)) || 1;
  return html`<figure class="card pad stack"><figcaption><h2>${title}</h2></figcaption>
    <ol class="bars">${rows.map((row, place) => html`<li key=${place}><span class="name" title=${row.label}>${row.label}</span>
      <${Span} start=${0} length=${row.value} whole=${most} look=${row.look || "b1"} /><span class="took">${row.shown}</span></li>`)}</ol></figure>`;
}

// Columns over days: { day, value } each, with the largest value at the top of the scale.
export function Columns({ title, days, format, look = "b1" }) {
  const most = Math.max(...days.map((one) => one.value)) || 1;
  const high = 120, step = WIDTH / days.length, wide = Math.max(1, Math.min(28, step * 0.7));
  const total = days.reduce((sum, one) => sum + one.value, 0);
  return html`<figure class="card pad stack"><figcaption class="head"><h2>${title}</h2><span class="small num">${format(total)}</span></figcaption>
    <div><p class="cap"><span>${total ? format(most) : ""}</span></p>
    <svg class="chart days" viewBox=${`0 0 ${WIDTH} ${high}`} preserveAspectRatio="none" role="img"
      aria-label=${`${title}, ${format(total)} in all: ${days.filter((one) => one.value).map((one) => `${one.day} ${format(one.value)}`).join("; ") || "nothing"}`}>
      ${[0, 0.5, 1].map((share) => html`<line class="grid" x1="0" x2=${WIDTH} y1=${high * share} y2=${high * share} />`)}
      ${days.map((one, place) => {
        const tall = one.value ? Math.max(2, (one.value / most) * high) : 0;
        return html`<rect key=${one.day} class=${look} x=${place * step + (step - wide) / 2} y=${high - tall} width=${wide} height=${tall}>
          <title>${`${one.day}: ${format(one.value)}`}</title></rect>`;
      })}
    </svg>
    <p class="cap"><span>${days[0].day}</span><span>${days[days.length - 1].day}</span></p></div></figure>`;
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

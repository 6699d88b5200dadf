// Diffs: side by side or one below the other, with marks on the words that differ. Hunks come from the server.
import { html, useState, useMemo } from "./vendor/ui.js";

const FIRST_LINES = 600;

// The parts of two lines that differ: what they share at the beginning and at the end is not marked.
function marks(before, after) {
  let start = 0;
  const most = Math.min(before.length, after.length);
  while (start < most && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < most - start && before[before.length - 1 - end] === after[after.length - 1 - end]) end += 1;
  if (start + end < Math.max(before.length, after.length) * 0.2) return null; // nothing in common to speak of
  const cut = (text) => [text.slice(0, start), text.slice(start, text.length - end), text.slice(text.length - end)];
  return [cut(before), cut(after)];
}

const shown = (text, parts) => (parts ? html`${parts[0]}${parts[1] && html`<mark>${parts[1]}</mark>`}${parts[2]}` : text);

// Rows of a hunk: a removed line stands beside the added one that follows in its place.
function rowsOf(hunk) {
  const rows = [];
  let old = hunk.old_start, now = hunk.new_start, at = 0;
  while (at < hunk.lines.length) {
    if (hunk.lines[at].sign === " ") {
      rows.push({ old: { n: old++, text: hunk.lines[at].text }, now: { n: now++, text: hunk.lines[at].text }, same: true });
      at += 1;
      continue;
    }
    const removed = [], added = [];
    while (at < hunk.lines.length && hunk.lines[at].sign !== " ") {
      const line = hunk.lines[at++];
      (line.sign === "-" ? removed : added).push(line.text);
    }
    for (let place = 0; place < Math.max(removed.length, added.length); place += 1) {
      const pair = place < removed.length && place < added.length ? marks(removed[place], added[place]) : null;
      rows.push({
        old: place < removed.length ? { n: old++, text: removed[place], parts: pair && pair[0] } : null,
        now: place < added.length ? { n: now++, text: added[place], parts: pair && pair[1] } : null,
      });
    }
  }
  return rows;
}

function SplitRow({ row }) {
  const side = (cell, look) => html`<i>${cell ? cell.n : ""}</i>
    <span class=${cell ? (row.same ? "" : look) : "none"}>${cell ? shown(cell.text, cell.parts) : ""}</span>`;
  return html`<div class="ln">${side(row.old, "del")}${side(row.now, "add")}</div>`;
}

function unifiedLines(rows) {
  const lines = [];
  let removed = [], added = [];
  const flush = () => {
    lines.push(...removed, ...added);
    removed = [];
    added = [];
  };
  for (const row of rows) {
    if (row.same) {
      flush();
      lines.push({ old: row.old.n, now: row.now.n, sign: " ", text: row.old.text });
      continue;
    }
    if (row.old) removed.push({ old: row.old.n, sign: "-", look: "del", text: row.old.text, parts: row.old.parts });
    if (row.now) added.push({ now: row.now.n, sign: "+", look: "add", text: row.now.text, parts: row.now.parts });
  }
  flush();
  return lines;
}

function Hunk({ hunk, isSplit, limit, taken, onTake, name, number }) {
  const rows = useMemo(() => rowsOf(hunk).slice(0, limit), [hunk, limit]);
  const body = isSplit
    ? rows.map((row) => html`<${SplitRow} row=${row} />`)
    : unifiedLines(rows).map((line) => html`<div class=${`ln ${line.look || ""}`}>
        <i>${line.old || ""}</i><i>${line.now || ""}</i><i aria-hidden="true">${line.sign}</i>
        <span>${line.look && html`<span class="sr">${line.sign === "+" ? "added " : "removed "}</span>`}${shown(line.text, line.parts)}</span>
      </div>`);
  return html`<div class=${`hunk${taken === false ? " left-out" : ""}`} tabindex="0" role="group"
      aria-label=${`Change ${number} of ${name}`}>
    ${onTake && html`<label><input type="checkbox" checked=${taken} onChange=${(event) => onTake(event.target.checked)} />
      Take this change</label>`}
    <div class="lines">${body}</div>
  </div>`;
}

export const countLines = (file) =>
  file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);

const countSign = (file, sign) =>
  file.hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.sign === sign).length, 0);

// `choice` is null, or which hunks of each file are taken; `onAllShown` is told once every line is on the page.
export function Diff({ files, isSplit, choice, onChoose, onAllShown }) {
  const total = files.reduce((sum, file) => sum + countLines(file), 0);
  const [isWhole, setWhole] = useState(total <= FIRST_LINES);
  let left = isWhole ? Infinity : FIRST_LINES;
  const show = () => {
    setWhole(true);
    if (onAllShown) onAllShown();
  };
  const parts = files.map((file, place) => {
    const hunks = file.hunks.map((hunk, number) => {
      if (left <= 0) return null;
      const limit = left;
      left -= hunk.lines.length;
      return html`<${Hunk} key=${number} hunk=${hunk} isSplit=${isSplit} limit=${limit} name=${file.name} number=${number + 1}
        taken=${choice ? choice[place][number] : undefined}
        onTake=${choice ? (take) => onChoose(place, number, take) : null} />`;
    });
    return html`<section class=${`diff${isSplit ? " split" : ""}`} key=${file.name} aria-label=${`Changes of ${file.name}`}>
      <header><code>${file.name}</code><span class="grow"></span>
        <span class="tag">+${countSign(file, "+")}</span><span class="tag">−${countSign(file, "-")}</span></header>
      ${hunks}
      ${file.hunks.length === 0 && html`<div class="pad small">No line changes.</div>`}
    </section>`;
  });
  return html`<div class="stack">${parts}
    ${!isWhole && html`<button class="btn" onClick=${show}>Show all ${total.toLocaleString("en")} lines</button>`}
  </div>`;
}

export const isLong = (files) => files.reduce((sum, file) => sum + countLines(file), 0) > FIRST_LINES;

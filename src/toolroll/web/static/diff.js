// Diffs: side by side or one below the other, with marks on the words that differ. Hunks come from the server.
import { html, useEffect, useMemo, useState } from "./vendor/ui.js";

const FIRST_LINES = 600;
const CHUNK = 120; // lines that are drawn at once: the rest of a long diff follows, a chunk a frame

const tokens = (text) => text.match(/\w+|\s+|[^\w\s]/g) || [];

// The words of two lines that differ: what they share at the beginning, at the end and in between is not marked.
function marks(before, after) {
  const old = tokens(before), now = tokens(after);
  let start = 0, end = 0;
  const most = Math.min(old.length, now.length);
  while (start < most && old[start] === now[start]) start += 1;
  while (end < most - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const middle = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const [left, right] = middle[0].length * middle[1].length <= 2500 ? shared(...middle) : middle.map((one) => one.map(() => false));
  const kept = [...old.slice(0, start), ...old.slice(old.length - end), ...middle[0].filter((_, place) => left[place])];
  if (kept.join("").trim().length < Math.max(before.trim().length, after.trim().length) * 0.2) return null; // two other lines
  const cut = (all, inner) => all.map((word, place) => ({
    word, isMarked: place >= start && place < all.length - end && !inner[place - start],
  }));
  return [joined(cut(old, left)), joined(cut(now, right))];
}

// Which words of each of two lists are in their longest common part.
function shared(a, b) {
  const width = b.length + 1;
  const table = new Uint16Array((a.length + 1) * width);
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      table[i * width + j] = a[i] === b[j] ? table[(i + 1) * width + j + 1] + 1 : Math.max(table[(i + 1) * width + j], table[i * width + j + 1]);
  const left = a.map(() => false), right = b.map(() => false);
  for (let i = 0, j = 0; i < a.length && j < b.length;) {
    if (a[i] === b[j]) {
      left[i++] = true;
      right[j++] = true;
    } else if (table[(i + 1) * width + j] >= table[i * width + j + 1]) i += 1;
    else j += 1;
  }
  return [left, right];
}

const joined = (words) => words.reduce((parts, one) => {
  const last = parts[parts.length - 1];
  if (last && last.isMarked === one.isMarked) last.text += one.word;
  else parts.push({ text: one.word, isMarked: one.isMarked });
  return parts;
}, []);

const shown = (text, parts) => (parts ? parts.map((one) => (one.isMarked ? html`<mark>${one.text}</mark>` : one.text)) : text);

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
      const pair = place < removed.length && place < added.length ? [removed[place], added[place]] : null;
      rows.push({
        old: place < removed.length ? { n: old++, text: removed[place] } : null,
        now: place < added.length ? { n: now++, text: added[place] } : null,
        pair,
      });
    }
  }
  return rows;
}

function SplitRow({ row }) {
  const parts = row.pair ? marks(...row.pair) : null;
  const side = (cell, look, which) => html`<i>${cell ? cell.n : ""}</i>
    <span class=${cell ? (row.same ? "" : look) : "none"}>${cell ? shown(cell.text, parts && parts[which]) : ""}</span>`;
  return html`<div class="ln">${side(row.old, "del", 0)}${side(row.now, "add", 1)}</div>`;
}

function UnifiedLines({ rows }) {
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
    const parts = row.pair ? marks(...row.pair) : null;
    if (row.old) removed.push({ old: row.old.n, sign: "-", look: "del", text: row.old.text, parts: parts && parts[0] });
    if (row.now) added.push({ now: row.now.n, sign: "+", look: "add", text: row.now.text, parts: parts && parts[1] });
  }
  flush();
  return lines.map((line) => html`<div class=${`ln ${line.look || ""}`}>
    <i>${line.old || ""}</i><i>${line.now || ""}</i><i aria-hidden="true">${line.sign}</i>
    <span>${line.look && html`<span class="sr">${line.sign === "+" ? "added " : "removed "}</span>`}${shown(line.text, line.parts)}</span>
  </div>`);
}

function Chunk({ rows, isSplit }) {
  return useMemo(() => html`<div class="lines">${isSplit
    ? rows.map((row) => html`<${SplitRow} row=${row} />`) : html`<${UnifiedLines} rows=${rows} />`}</div>`, [rows, isSplit]);
}

// The chunks of a hunk, cut where a line is the same on both sides if there is one near.
function chunksOf(rows) {
  const found = [];
  for (let at = 0; at < rows.length;) {
    let end = Math.min(at + CHUNK, rows.length);
    while (end < rows.length && end < at + 2 * CHUNK && !rows[end].same) end += 1;
    found.push(rows.slice(at, end));
    at = end;
  }
  return found;
}

function Hunk({ hunk, isSplit, limit, taken, onTake, name, number }) {
  const chunks = useMemo(() => chunksOf(rowsOf(hunk).slice(0, limit)), [hunk, limit]);
  const [count, setCount] = useState(1);
  useEffect(() => {
    if (count >= chunks.length) return undefined;
    const timer = setTimeout(() => setCount(count + 1), 0);
    return () => clearTimeout(timer);
  }, [count, chunks.length]);
  return html`<div class=${`hunk${taken === false ? " left-out" : ""}`} tabindex="0" role="group"
      aria-label=${`Change ${number} of ${name}`}>
    ${onTake ? html`<label><input type="checkbox" checked=${taken} onChange=${(event) => onTake(event.target.checked)} />
      Take this change</label>` : html`<div class="where">Lines ${hunk.new_start} to ${hunk.new_start + Math.max(0, hunk.lines.filter((line) => line.sign !== "-").length - 1)}</div>`}
    ${chunks.slice(0, count).map((rows, place) => html`<${Chunk} key=${place} rows=${rows} isSplit=${isSplit} />`)}
  </div>`;
}

export const countLines = (file) => file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);

const countSign = (file, sign) =>
  file.hunks.reduce((sum, hunk) => sum + hunk.lines.filter((line) => line.sign === sign).length, 0);

export const Counts = ({ file }) => html`<span class="plus">+${countSign(file, "+")}</span><span class="minus">−${countSign(file, "-")}</span>`;

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
    const takes = choice ? choice[place] : null;
    const hunks = file.hunks.map((hunk, number) => {
      if (left <= 0) return null;
      const limit = left;
      left -= hunk.lines.length;
      return html`<${Hunk} key=${number} hunk=${hunk} isSplit=${isSplit} limit=${limit} name=${file.name} number=${number + 1}
        taken=${takes ? takes[number] : undefined}
        onTake=${takes ? (take) => onChoose(place, number, take) : null} />`;
    });
    return html`<section class=${`diff${isSplit ? " split" : ""}`} key=${file.name} aria-label=${`Changes of ${file.name}`}>
      <header>${takes && takes.length > 1 && html`<input type="checkbox" aria-label=${`Take all changes of ${file.name}`}
          checked=${takes.every(Boolean)} onChange=${(event) => onChoose(place, null, event.target.checked)} />`}
        <code class="grow">${file.name}</code><${Counts} file=${file} /></header>
      ${hunks}
      ${file.hunks.length === 0 && html`<div class="pad small">${takes
        ? html`<label class="row"><input type="checkbox" checked=${takes[0]} onChange=${(event) => onChoose(place, 0, event.target.checked)} /> Take this change</label>`
        : "No line changes."}</div>`}
    </section>`;
  });
  return html`<div class="stack">${parts}
    ${!isWhole && html`<button class="btn" onClick=${show}>Show all ${total.toLocaleString("en")} lines</button>`}
  </div>`;
}

export const isLong = (files) => files.reduce((sum, file) => sum + countLines(file), 0) > FIRST_LINES;

// Markdown as nodes. The lexer only reads; nothing here makes HTML of text, so that text stays text (XW4).
import { html, useEffect, useMemo, useState } from "./vendor/ui.js";
import { lexer } from "./vendor/marked.js";
import { colour } from "./code.js";

const SAFE = /^(https?:|mailto:)/i;
const MAX_DEPTH = 24;
const PIECE = 1500; // characters that are read and shown at once: a long answer must not keep the page waiting

function link(token, depth) {
  const shown = inline(token.tokens, depth);
  if (!SAFE.test(token.href)) return html`<span>${shown} <code>${token.href}</code></span>`;
  return html`<a href=${token.href} rel="noopener noreferrer" target="_blank" title=${token.href}>${shown}</a>`;
}

function inline(tokens, depth) {
  if (!tokens || depth > MAX_DEPTH) return null;
  return tokens.map((token) => {
    switch (token.type) {
      case "strong": return html`<strong>${inline(token.tokens, depth + 1)}</strong>`;
      case "em": return html`<em>${inline(token.tokens, depth + 1)}</em>`;
      case "del": return html`<del>${inline(token.tokens, depth + 1)}</del>`;
      case "codespan": return html`<code>${unescape(token.text)}</code>`;
      case "br": return html`<br />`;
      case "link": return link(token, depth + 1);
      // An image from elsewhere would tell its server who reads this: its address is shown instead.
      case "image": return html`<span>[image: ${token.text}] <code>${token.href}</code></span>`;
      case "text": return token.tokens ? inline(token.tokens, depth + 1) : unescape(token.text);
      case "escape": return unescape(token.text);
      default: return token.raw;
    }
  });
}

const ENTITIES = { "&lt;": "<", "&gt;": ">", "&amp;": "&", "&quot;": '"', "&#39;": "'" };
const unescape = (text) => text.replace(/&(lt|gt|amp|quot|#39);/g, (found) => ENTITIES[found]);

function block(token, depth) {
  if (depth > MAX_DEPTH) return token.raw;
  switch (token.type) {
    case "space": return null;
    case "heading": return html`<${`h${Math.min(token.depth + 1, 6)}`}>${inline(token.tokens, depth + 1)}<//>`;
    case "paragraph": return html`<p>${inline(token.tokens, depth + 1)}</p>`;
    case "text": return token.tokens ? html`<span>${inline(token.tokens, depth + 1)}</span>` : unescape(token.text);
    case "code": return html`<pre tabindex="0"><code>${colour(token.text, (token.lang || "").split(/[\s{]/)[0])}</code></pre>`;
    case "blockquote": return html`<blockquote>${blocks(token.tokens, depth + 1)}</blockquote>`;
    case "hr": return html`<hr />`;
    case "list": {
      const items = token.items.map((item) => html`<li>
        ${item.task && html`<input type="checkbox" checked=${item.checked} disabled aria-label="done" /> `}
        ${blocks(item.tokens, depth + 1)}
      </li>`);
      return token.ordered ? html`<ol start=${token.start || 1}>${items}</ol>` : html`<ul>${items}</ul>`;
    }
    case "table": return html`<table tabindex="0">
      <thead><tr>${token.header.map((cell) => html`<th>${inline(cell.tokens, depth + 1)}</th>`)}</tr></thead>
      <tbody>${token.rows.map((row) => html`<tr>${row.map((cell) => html`<td>${inline(cell.tokens, depth + 1)}</td>`)}</tr>`)}</tbody>
    </table>`;
    default: return html`<p>${token.raw}</p>`;
  }
}

const blocks = (tokens, depth) => tokens.map((token) => block(token, depth));

function render(text) {
  try {
    return blocks(lexer(text, { gfm: true }), 0);
  } catch {
    return html`<pre>${text}</pre>`; // too deep for the lexer: shown as it is
  }
}

// Pieces of a text, each of whole blocks: cut at empty lines that are in no fence, and before no list or indented line.
export function pieces(text) {
  const found = [];
  let fence = "", begun = 0, at = 0, wasEmpty = false;
  for (const line of text.split("\n")) {
    if (wasEmpty && !fence && at - begun >= PIECE && /^[^\s>*+\-\d]/.test(line)) {
      found.push(text.slice(begun, at));
      begun = at;
    }
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line);
    if (mark && !fence) fence = mark[1][0];
    else if (mark && mark[1][0] === fence) fence = "";
    wasEmpty = line.trim() === "";
    at += line.length + 1;
  }
  found.push(text.slice(begun));
  return found;
}

function Piece({ text }) {
  return useMemo(() => html`<div class="md">${render(text)}</div>`, [text]);
}

// A text, also one that grows: pieces that are complete are read once, and a long text comes a piece a frame.
export function Markdown({ text }) {
  const all = useMemo(() => pieces(text), [text]);
  const [shown, setShown] = useState(1);
  useEffect(() => {
    if (shown >= all.length) return undefined;
    const timer = setTimeout(() => setShown(shown + 1), 0);
    return () => clearTimeout(timer);
  }, [shown, all.length]);
  return html`<div>${all.slice(0, shown).map((one, place) => html`<${Piece} key=${place} text=${one} />`)}</div>`;
}

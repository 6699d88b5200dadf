// Markdown as nodes. The lexer only reads; nothing here makes HTML of text, so that text stays text (XW4).
import { html, useMemo } from "./vendor/ui.js";
import { lexer } from "./vendor/marked.js";

const SAFE = /^(https?:|mailto:)/i;
const MAX_DEPTH = 24;

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
    case "code": return html`<pre tabindex="0"><code>${token.text}</code></pre>`;
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

export function Markdown({ text }) {
  const nodes = useMemo(() => render(text), [text]);
  return html`<div class="md">${nodes}</div>`;
}

// Where complete blocks end: at the last empty line that is in no fence. Only what follows is read again and again.
export function completeLength(text) {
  let fence = "", end = 0, at = 0;
  for (const line of text.split("\n")) {
    const found = /^ {0,3}(`{3,}|~{3,})/.exec(line);
    if (found && !fence) fence = found[1][0];
    else if (found && found[1][0] === fence) fence = "";
    at += line.length + 1;
    if (!fence && line.trim() === "") end = at;
  }
  return Math.min(end, text.length);
}

// Text that grows: its complete part is rendered once for each block that is added.
export function GrowingMarkdown({ text }) {
  const end = completeLength(text);
  return html`<div>
    <${Markdown} text=${text.slice(0, end)} />
    <${Markdown} text=${text.slice(end)} />
  </div>`;
}

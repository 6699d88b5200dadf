// Colours for code: a small reader of words, strings, numbers and comments. It makes nodes, never HTML.
import { html } from "./vendor/ui.js";

const words = (text) => new Set(text.split(" "));
const C_LIKE = words("abstract async await break case catch class const continue default delete do else enum export extends false finally fn for from func function go if implements import in instanceof interface let loop match mod mut new nil null of package private protected pub public return self static struct super switch this throw trait true try type typeof undefined use var void while yield");
const PYTHON = words("and as assert async await break case class continue def del elif else except False finally for from global if import in is lambda match None nonlocal not or pass raise return self True try while with yield");
const SHELL = words("case do done echo elif else esac exit export fi for function if in local return set source then while cd");
const SQL = words("select from where and or not null insert into values update set delete create table index join left right inner outer on as group by order limit having distinct primary key references union all case when then else end SELECT FROM WHERE AND OR NOT NULL INSERT INTO VALUES UPDATE SET DELETE CREATE TABLE INDEX JOIN LEFT RIGHT INNER OUTER ON AS GROUP BY ORDER LIMIT HAVING DISTINCT PRIMARY KEY REFERENCES UNION ALL CASE WHEN THEN ELSE END");
const DATA = words("true false null yes no on off");
const NONE = new Set();

const STRINGS = String.raw`"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?`;
const REST = String.raw`|(\b\d[\w.]*)|([A-Za-z_$][\w$]*)(?=(\s*\()?)`;
const reader = (comments, strings = STRINGS) => new RegExp(`(${comments})|(${strings})${REST}`, "g");
const HASH = "#[^\\n]*";
const SLASHES = String.raw`\/\/[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`;
const TEMPLATES = "`(?:[^`\\\\]|\\\\.)*`?|" + STRINGS;

const LANGUAGES = {
  python: [reader(HASH, String.raw`"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|` + STRINGS), PYTHON],
  clike: [reader(SLASHES, TEMPLATES), C_LIKE],
  shell: [reader(HASH), SHELL],
  sql: [reader(String.raw`--[^\n]*|\/\*[\s\S]*?(?:\*\/|$)`), SQL],
  data: [reader(HASH), DATA],
  css: [reader(String.raw`\/\*[\s\S]*?(?:\*\/|$)`), NONE],
  html: [reader(String.raw`<!--[\s\S]*?(?:-->|$)`), NONE],
};
const NAMES = {
  py: "python", python: "python", pyi: "python", js: "clike", jsx: "clike", mjs: "clike", ts: "clike", tsx: "clike", javascript: "clike",
  typescript: "clike", java: "clike", c: "clike", h: "clike", cpp: "clike", cs: "clike", go: "clike", rs: "clike", rust: "clike",
  kt: "clike", swift: "clike", php: "clike", json: "data", yaml: "data", yml: "data", toml: "data", ini: "data", sh: "shell",
  bash: "shell", shell: "shell", zsh: "shell", console: "shell", sql: "sql", css: "css", scss: "css", html: "html", xml: "html", svg: "html",
};
const MOST = 50000; // longer texts stay plain: nobody reads them for their colours

const isKnown = (language) => Object.hasOwn(NAMES, language);
export const languageOf = (path) => path.slice(path.lastIndexOf(".") + 1).toLowerCase();

// The text as a list of strings and of spans with a class: k keyword, s string, n number, c comment, f function.
export function colour(text, language) {
  const name = (language || "").toLowerCase();
  if (!isKnown(name) || text.length > MOST) return text;
  const [pattern, keywords] = LANGUAGES[NAMES[name]];
  const nodes = [];
  let at = 0;
  for (const found of text.matchAll(pattern)) {
    const [whole, comment, string, number, word, call] = found;
    const look = comment ? "c" : string ? "s" : number ? "n" : word && keywords.has(word) ? "k" : call ? "f" : "";
    if (!look) continue;
    if (found.index > at) nodes.push(text.slice(at, found.index));
    nodes.push(html`<span class=${look}>${whole}</span>`);
    at = found.index + whole.length;
  }
  nodes.push(text.slice(at));
  return nodes;
}

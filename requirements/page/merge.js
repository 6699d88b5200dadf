// An editor beside the text that it began with. It stands in a shadow root, where its styles are allowed (see docs/page.md).
import { MergeView, unifiedMergeView } from "@codemirror/merge";
import { EditorState } from "@codemirror/state";
import { EditorView, keymap, lineNumbers, drawSelection } from "@codemirror/view";
import { defaultKeymap, history, historyKeymap } from "@codemirror/commands";

const look = EditorView.theme({
  "&": { backgroundColor: "var(--surface)", color: "var(--text)", fontSize: "12px", maxHeight: "60vh" },
  ".cm-content, .cm-gutters": { fontFamily: "var(--mono)", lineHeight: "18px" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--muted)", border: "0" },
  "&.cm-focused": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--accent-soft) !important" },
  "&.cm-merge-a .cm-changedLine, .cm-deletedChunk": { backgroundColor: "var(--del-bg) !important" },
  "&.cm-merge-b .cm-changedLine, .cm-changedLine, .cm-inlineChangedLine": { backgroundColor: "var(--add-bg) !important" },
  "&.cm-merge-a .cm-changedText, .cm-deletedChunk .cm-deletedText": { background: "var(--del-mark) !important" },
  "&.cm-merge-b .cm-changedText, .cm-changedText": { background: "var(--add-mark) !important" },
  ".cm-collapsedLines": { background: "var(--sunken)", color: "var(--muted)" },
});
const diffConfig = { scanLimit: 100000, timeout: 200 };
const collapseUnchanged = { margin: 3, minSize: 8 };

export function openEditor(host, { before, after, label, isSplit, onChange }) {
  const root = host.shadowRoot || host.attachShadow({ mode: "open" });
  const named = (text) => EditorView.contentAttributes.of({ "aria-label": text, spellcheck: "false" });
  const told = EditorView.updateListener.of((update) => update.docChanged && onChange(update.state.doc.toString()));
  // Tab is left alone, so that a person without a mouse gets out again.
  const shared = [lineNumbers(), drawSelection(), EditorView.lineWrapping, EditorState.tabSize.of(4), look];
  const own = [...shared, history(), keymap.of([...defaultKeymap, ...historyKeymap]), named(label), told];
  if (!isSplit) {
    const one = new EditorView({
      doc: after, root, parent: root,
      extensions: [...own, unifiedMergeView({ original: before, mergeControls: false, diffConfig, collapseUnchanged })],
    });
    return { focus: () => one.focus(), destroy: () => one.destroy() };
  }
  const view = new MergeView({
    a: { doc: before, extensions: [...shared, EditorState.readOnly.of(true), EditorView.editable.of(false), named("The text before")] },
    b: { doc: after, extensions: own },
    parent: root, root, diffConfig, collapseUnchanged, gutter: true,
  });
  return { focus: () => view.b.focus(), destroy: () => view.destroy() };
}

// A text that is edited beside what it was. The editor is large, so it is loaded when it is first needed.
import { html, useEffect, useRef, useState } from "./vendor/ui.js";

export function Editor({ before, text, label, isSplit, onChange }) {
  const host = useRef(null);
  const [isPlain, setPlain] = useState(false);
  useEffect(() => {
    if (isPlain) return undefined;
    let editor = null, isGone = false;
    import("./vendor/merge.js").then((one) => {
      if (isGone) return;
      editor = one.openEditor(host.current, { before, after: text, label, isSplit, onChange });
      editor.focus();
    }, () => setPlain(true));
    return () => {
      isGone = true;
      if (editor) editor.destroy();
    };
  }, [isSplit, isPlain]);
  if (isPlain) {
    return html`<label class="field"><span>${label}</span>
      <textarea class="code" spellcheck=${false} value=${text} onInput=${(event) => onChange(event.target.value)}></textarea></label>`;
  }
  // Keys in the editor are text: they must not answer the question around it.
  return html`<div class="editor" ref=${host} onKeyDown=${(event) => event.key !== "Escape" && event.stopPropagation()}></div>`;
}

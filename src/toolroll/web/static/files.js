// Files for a message: chosen, dropped or pasted. Large images are made smaller here; what is too large is said.
import { html, useRef } from "./vendor/ui.js";
import { Icon } from "./icons.js";

const MOST_BYTES = 600000; // of all files together: a request may have 1 MB, and base64 makes them larger
const MOST_SIDE = 1568; // models see no more of an image
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const base64 = (blob) => new Promise((done, fail) => {
  const reader = new FileReader();
  reader.onload = () => done(reader.result.slice(reader.result.indexOf(",") + 1));
  reader.onerror = () => fail(new Error("The file could not be read."));
  reader.readAsDataURL(blob);
});

async function shrink(file) {
  const bitmap = await createImageBitmap(file);
  const scale = Math.min(1, MOST_SIDE / Math.max(bitmap.width, bitmap.height));
  if (scale === 1 && file.size <= MOST_BYTES / 2) return file;
  const canvas = new OffscreenCanvas(Math.round(bitmap.width * scale), Math.round(bitmap.height * scale));
  canvas.getContext("2d").drawImage(bitmap, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/jpeg", quality: 0.8 });
}

// The files as the server takes them; an Error says which one it cannot take.
export async function readFiles(list, earlier) {
  const found = [...earlier];
  for (const file of list) {
    const blob = IMAGES.includes(file.type) ? await shrink(file) : file;
    const type = /^[a-z]+\/[a-z0-9.+-]+$/.test(blob.type) ? blob.type : "text/plain";
    found.push({ name: (file.name || "pasted image").slice(0, 200), media_type: type, data: await base64(blob) });
    const size = found.reduce((sum, one) => sum + one.data.length * 0.75, 0);
    if (size > MOST_BYTES) throw new Error(`'${file.name}' does not fit: all files of a message together may have ${MOST_BYTES / 1000} KB. In a project, name its path instead.`);
  }
  return found;
}

export const FileChips = ({ names, onRemove }) => names.length > 0 && html`<div class="files">${names.map((name, place) => html`<span class="tag" key=${place}>
  <${Icon} name="file" />${name}${onRemove && html`<button type="button" class="btn plain small" aria-label=${`Remove ${name}`} onClick=${() => onRemove(place)}><${Icon} name="cross" /></button>`}</span>`)}</div>`;

export function FileButton({ onFiles }) {
  const input = useRef(null);
  return html`<button type="button" class="btn plain small" title="Attach images, PDFs or texts" aria-label="Attach files" onClick=${() => input.current.click()}><${Icon} name="clip" /></button>
    <input type="file" class="sr" multiple tabindex="-1" aria-hidden="true" ref=${input} onChange=${(event) => {
      onFiles([...event.target.files]);
      event.target.value = "";
    }} />`;
}

// Icons, drawn as strokes of the text's colour. A new one is a path on a field of 24 by 24.
import { html } from "./vendor/ui.js";

const PATHS = {
  home: "M3 11l9-8 9 8v9a1 1 0 0 1-1 1h-5v-6h-6v6H4a1 1 0 0 1-1-1z",
  chat: "M21 12a8 8 0 0 1-8 8H4l2-3a8 8 0 1 1 15-5z",
  runs: "M4 6h16M4 12h16M4 18h10",
  idea: "M9 18h6M10 21h4M12 3a6 6 0 0 0-4 10c1 1 1 2 1 3h6c0-1 0-2 1-3a6 6 0 0 0-4-10z",
  inbox: "M4 13l3-8h10l3 8v6H4zM4 13h5l1 3h4l1-3h5",
  pen: "M4 20l1-5L16 4l4 4L9 19zM13 7l4 4",
  gear: "M12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM12 3v3M12 18v3M3 12h3M18 12h3M5.6 5.6l2.2 2.2M16.2 16.2l2.2 2.2M5.6 18.4l2.2-2.2M16.2 7.8l2.2-2.2",
  plus: "M12 5v14M5 12h14",
  search: "M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5",
  file: "M6 3h8l4 4v14H6zM14 3v4h4",
  folder: "M3 6h6l2 2h10v11H3z",
  image: "M4 5h16v14H4zM4 16l5-5 4 4 3-3 4 4M9 9h.01",
  clip: "M20 11l-8.5 8.5a5 5 0 0 1-7-7L13 4a3.3 3.3 0 0 1 4.7 4.7L9.5 17a1.6 1.6 0 0 1-2.3-2.3L15 7",
  model: "M7 7h10v10H7zM10 3v4M14 3v4M10 17v4M14 17v4M3 10h4M3 14h4M17 10h4M17 14h4",
  terminal: "M4 5h16v14H4zM8 10l2.5 2L8 14M13 15h3",
  plan: "M4 6l1.5 1.5L8 5M4 12l1.5 1.5L8 11M4 18l1.5 1.5L8 17M12 6h8M12 12h8M12 18h8",
  tool: "M14 7a4 4 0 0 1 5-4l-2.5 2.5 2 2L21 5a4 4 0 0 1-5 5l-8 8a2 2 0 0 1-3-3l8-8z",
  fork: "M6 4v10M6 14a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM18 4a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM18 10c0 4-4 5-9.5 5.5",
  replay: "M4 12a8 8 0 1 0 3-6.2M4 4v4h4",
  download: "M12 4v11M7 11l5 5 5-5M4 20h16",
  more: "M5 12h.01M12 12h.01M19 12h.01",
  clock: "M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2",
  circle: "M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14z",
  half: "M12 5a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM12 5v14",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12zM12 9a3 3 0 1 0 0 6 3 3 0 0 0 0-6z",
  alert: "M12 4l9 16H3zM12 10v4M12 17h.01",
  send: "M12 19V5M6 11l6-6 6 6",
  stop: "M7 7h10v10H7z",
  play: "M8 5l11 7-11 7z",
  undo: "M9 14l-5-5 5-5M4 9h10a6 6 0 0 1 0 12h-3",
  check: "M4 12l5 5L20 6",
  cross: "M6 6l12 12M18 6L6 18",
  edit: "M4 20h4L19 9l-4-4L4 16zM14 6l4 4",
  chart: "M4 20V4M4 20h16M9 16v-5M14 16V7M19 16v-8",
};

export const Icon = ({ name }) => html`<svg class="icon" viewBox="0 0 24 24" fill="none" stroke="currentColor" stroke-width="2"
  stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><path d=${PATHS[name] || PATHS.tool} /></svg>`;

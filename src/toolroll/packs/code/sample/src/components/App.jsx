import { formatCups } from "../services/format.js";

export function App({ title, rows }) {
  const lines = rows.map((row) => `${row.from} owes ${row.to} ${formatCups(row.cups)}`);
  return [title, ...lines].join("\n");
}

import { readFileSync, writeFileSync } from "node:fs";

/** The board in one JSON file. */
export class DatabaseService {
  constructor({ path }) {
    this.path = path;
    this.debts = [];
  }

  load() {
    this.debts = JSON.parse(readFileSync(this.path, "utf8"));
    return this.debts;
  }

  save() {
    // TODO: write to a temporary file first
    writeFileSync(this.path, JSON.stringify(this.debts, null, 2));
  }

  add(from, to, cups) {
    this.debts.push({ from, to, cups });
  }
}

import { DatabaseService } from "./DatabaseService.js";

/** What the board says, largest debt first. */
export class ReportService {
  constructor(database) {
    if (!(database instanceof DatabaseService)) throw new TypeError("a DatabaseService is needed");
    this.database = database;
  }

  rows() {
    return [...this.database.debts].sort((one, other) => other.cups - one.cups);
  }
}

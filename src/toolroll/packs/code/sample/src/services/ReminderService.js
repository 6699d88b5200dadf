import { DatabaseService } from "./DatabaseService.js";
import { formatCups } from "./format.js";

/** Reminds whoever owes more than a few cups. */
export class ReminderService {
  constructor(path, limit = 3) {
    this.database = new DatabaseService({ path });
    this.limit = limit;
  }

  messages() {
    // TODO: remind nobody twice on one day
    return this.database
      .load()
      .filter((debt) => debt.cups > this.limit)
      .map((debt) => `${debt.from}, it is time: ${formatCups(debt.cups)} for ${debt.to}.`);
  }
}

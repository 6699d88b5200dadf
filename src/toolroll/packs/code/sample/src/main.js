import { App } from "./components/App.jsx";
import { DatabaseService } from "./services/DatabaseService.js";
import { ReportService } from "./services/ReportService.js";

const database = new DatabaseService({ path: "board.json" });
const report = new ReportService(database);

// TODO: read the name of the board from the command line
console.log(App({ title: "Tea board", rows: report.rows() }));

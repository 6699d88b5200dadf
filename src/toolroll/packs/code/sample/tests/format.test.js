import assert from "node:assert";
import { test } from "node:test";

import { formatCups } from "../src/services/format.js";

test("one cup is a cup", () => assert.equal(formatCups(1), "1 cup"));
test("two are cups", () => assert.equal(formatCups(2), "2 cups"));

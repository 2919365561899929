import assert from "node:assert/strict";
import * as plugin from "ngraph/prettier";
import { format } from "prettier";

const text = await format("graph g { start->a  node a=print(1) }", { parser: "ngraph", plugins: [plugin] });
assert.match(text, /^graph g \{\n/);

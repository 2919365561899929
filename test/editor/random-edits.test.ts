/** Random edits of the examples: what the server has after them equals what a new server finds, and nothing throws. */
import { readFileSync } from "node:fs";
import fc from "fast-check";
import { expect, test } from "vitest";
import { emptyHost } from "../../compiler/load/host.ts";
import { SourceFile } from "../../diagnostics/source.ts";
import { findCompletions } from "../../editor/complete.ts";
import { findCodeActions } from "../../editor/find-code-actions.ts";
import { findDiagnostics, type Links } from "../../editor/find-diagnostics.ts";
import { toRange } from "../../editor/positions.ts";
import { Workspace } from "../../editor/workspace.ts";
import { convert } from "../../grammar/convert.ts";
import { scale } from "../support/depth.ts";
import { exampleFiles } from "../support/example-files.ts";

const EXAMPLES = exampleFiles(".ngraph")
  .map((name) => ({ name, text: readFileSync(name, "utf8") }))
  .filter(({ text }) => text.length < 3000);

const IN_YAML = EXAMPLES.flatMap(({ name, text }) => {
  const { text: converted } = convert(text, { to: "yaml" });
  return converted === "" ? [] : [{ name: `${name}.yaml`, text: converted }];
});

const links: Links = { uriOf: (path) => path, pageOf: () => undefined };
const INSERTED = [
  "",
  "",
  "{",
  "}",
  '"',
  "`",
  "\r",
  "\r\n",
  "\n  node a = print(b)\n",
  " -> ",
  "😀",
  "\ud83d",
  "/*",
  "- ",
  "start",
];

const EDITS = fc.array(
  fc.record({
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    length: fc.nat(12),
    text: fc.constantFrom(...INSERTED),
    steps: fc.nat(8),
  }),
  { minLength: 1, maxLength: 8 },
);

test("random edits lead to the findings of a new server", { timeout: 300_000 }, () => {
  fc.assert(
    fc.property(fc.constantFrom(...EXAMPLES), EDITS, ({ name, text }, edits) => {
      const uri = `/p/${name}`;
      const edited = newWorkspace();
      edited.open(uri, "", 1, text);
      let expected = text;
      for (const [index, edit] of edits.entries()) {
        const source = new SourceFile(uri, expected);
        const range = toRange(source, spanOf(expected, edit));
        const span = spanOf(expected, edit);
        expected = expected.slice(0, span.start) + edit.text + expected.slice(span.end);
        edited.change(uri, index + 2, [{ range, text: edit.text }]);
        // The next edit ends the check.
        for (let step = 0; step < edit.steps; step++) edited.advance(uri);
      }
      const fresh = newWorkspace();
      fresh.open(uri, "", edits.length + 1, expected);
      const [one, other] = [edited.check(uri), fresh.check(uri)];
      if (one === undefined || other === undefined) throw new Error("the document is not open");
      expect(one.document).toEqual(other.document);
      expect(findDiagnostics(one, links)).toEqual(findDiagnostics(other, links));
      const whole = toRange(one.source, { start: 0, end: expected.length });
      expect(findCodeActions(one, whole, undefined, { host: emptyHost, links })).toEqual(
        findCodeActions(other, whole, undefined, { host: emptyHost, links }),
      );
    }),
    // At full depth, about 10,000 edits.
    { numRuns: scale(2_200, 25) },
  );
});

test("completion in a text that has been checked depends on this text alone", { timeout: 300_000 }, () => {
  fc.assert(
    fc.property(fc.constantFrom(...EXAMPLES, ...IN_YAML), EDITS, ({ name, text }, edits) => {
      const uri = `/p/${name}`;
      const edited = newWorkspace();
      edited.open(uri, "", 1, text);
      let now = text;
      for (const [index, edit] of edits.entries()) {
        const span = spanOf(now, edit);
        edited.change(uri, index + 2, [{ range: toRange(new SourceFile(uri, now), span), text: edit.text }]);
        now = now.slice(0, span.start) + edit.text + now.slice(span.end);
        if (edit.steps > 3) edited.check(uri);
        if (edit.steps > 5) edited.recent(uri);
      }
      const fresh = newWorkspace();
      fresh.open(uri, "", edits.length + 1, now);
      for (const { at } of edits) {
        const offset = Math.floor(at * now.length);
        expect(completionsOf(edited, uri, offset)).toEqual(completionsOf(fresh, uri, offset));
      }
    }),
    { numRuns: scale(2_200, 40) },
  );
});

function completionsOf(workspace: Workspace, uri: string, offset: number): unknown {
  workspace.check(uri);
  const index = workspace.index();
  const [checked, file] = [workspace.recent(uri), workspace.names(uri, index)];
  if (checked === undefined || file === undefined) throw new Error("the document is not open");
  return findCompletions(checked, file, offset, { index, host: workspace.host() });
}

function newWorkspace(): Workspace {
  return new Workspace(
    () => emptyHost,
    (uri) => uri,
  );
}

/** The span of an edit. It does not divide `\r\n`, which has no position in the protocol. */
function spanOf(text: string, { at, length }: { readonly at: number; readonly length: number }) {
  const start = outsideBreak(text, Math.floor(at * text.length));
  return { start, end: outsideBreak(text, Math.min(text.length, start + length)) };
}

function outsideBreak(text: string, offset: number): number {
  return text.slice(offset - 1, offset + 1) === "\r\n" ? offset + 1 : offset;
}

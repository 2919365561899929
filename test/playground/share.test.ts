/** Addresses that contain a project: of this page, damaged, and hostile. */
import { deflateRawSync } from "node:zlib";
import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_TEXT } from "../../playground/project.ts";
import { fromFragment, toFragment } from "../../playground/share.ts";

const encoded = (value: unknown): string =>
  `#code=${deflateRawSync(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url")}`;

test("a project comes back from its address as it was", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string({ unit: "grapheme", maxLength: 300 }), fc.string(), async (graph, module) => {
      const project = {
        files: { "graph.ngraph": graph, "nodes.ts": module },
        main: "graph.ngraph",
      } as const;
      expect(await fromFragment(await toFragment(project))).toEqual(project);
    }),
    { numRuns: 100 },
  );
});

test("other fragments name no project", async () => {
  expect(await fromFragment("")).toBeUndefined();
  expect(await fromFragment("#top")).toBeUndefined();
});

test.each<[string, string, string]>([
  ["text that is no base64url", "#code=<script>", "it is damaged"],
  ["an empty address", "#code=", "it is damaged"],
  ["bytes that are not compressed", "#code=AAAA_-8", "it is damaged, or was cut"],
  ["an address of any length", `#code=${"A".repeat(300_000)}`, "it is too long"],
  ["text that becomes a gigabyte", encoded(" ".repeat(50_000_000)), "it is too large"],
  ["text that is not JSON", encoded("{"), "it is damaged"],
  [
    "bytes that are not UTF-8",
    `#code=${deflateRawSync(Buffer.from([0xff, 0xfe])).toString("base64url")}`,
    "it is damaged",
  ],
  ["JSON without files", encoded(null), "it has no files"],
  ["a list", encoded({ v: 1, main: "graph.ngraph", files: [] }), "it has no files"],
  ["no graph file", encoded({ v: 1, main: "graph.ngraph", files: { "a.ts": "" } }), "it has no graph file"],
  ["a graph file of another name", encoded({ v: 1, main: "__proto__", files: {} }), "it has no graph file"],
  [
    "a path",
    encoded({ v: 1, main: "graph.ngraph", files: { "graph.ngraph": "", "../x.ts": "" } }),
    "a file with the name",
  ],
  [
    "a file that is no text",
    encoded({ v: 1, main: "graph.ngraph", files: { "graph.ngraph": "", "x.ts": 1 } }),
    "is not a text",
  ],
  [
    "text of any length",
    encoded({ v: 1, main: "graph.ngraph", files: { "graph.ngraph": "x".repeat(MAX_TEXT + 1) } }),
    "longer than",
  ],
  [
    "files of any number",
    encoded({
      v: 1,
      main: "graph.ngraph",
      files: Object.fromEntries([["graph.ngraph", ""], ...Array.from({ length: 30 }, (_, at) => [`m${at}.ts`, ""])]),
    }),
    "more than 20 files",
  ],
  ["a later version", encoded({ v: 2 }), "a newer version"],
])("%s is refused with a sentence", async (_, fragment, message) => {
  await expect(fromFragment(fragment)).rejects.toThrow(message);
});

test("any bytes are a project or are refused with a sentence", async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async (bytes) => {
      const found = await fromFragment(`#code=${Buffer.from(bytes).toString("base64url")}`).catch(
        (error: unknown) => error,
      );
      if (found instanceof Error) expect(found.message).toMatch(/^(?:it |its |a newer )/);
      else expect(found).toHaveProperty("main");
    }),
    { numRuns: 200 },
  );
});

test("a project that is too large is not shared", async () => {
  const files = { "graph.ngraph": "x".repeat(MAX_TEXT + 1) };
  await expect(toFragment({ files, main: "graph.ngraph" })).rejects.toThrow("longer than");
});

import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { withoutPassword } from "../../cli/output/mask-password.ts";
import { createRedactor } from "../../runtime/event/redact.ts";
import { http } from "../../stdlib/nodes/http.ts";
import { fakeContext } from "../stdlib/fake-context.ts";
import { numRuns } from "../support/depth.ts";

const KEY = "-----BEGIN KEY-----\nAAAABBBBCCCC\nDDDDEEEEFFFF\n-----END KEY-----\n";

/** The base64 text of a value, in lines. */
function wrapped(value: string, width: number, lineBreak: string): string {
  return (
    Buffer.from(value)
      .toString("base64")
      .match(new RegExp(`.{1,${width}}`, "g")) ?? []
  ).join(lineBreak);
}

describe("redaction", () => {
  const redact = createRedactor(
    new Map([
      ["K", 's3cr3t "quoted" value/+&?'],
      ["PEM", KEY],
      ["ESCAPES", "\\bs3cr3t-before\\tDDDD-after\\\\"],
      ["PIN", "417"],
      ["ONE", "x"],
    ]),
  );

  test.each([
    ["the value", 'before s3cr3t "quoted" value/+&? after'],
    ["JSON-escaped", JSON.stringify({ a: 's3cr3t "quoted" value/+&?' })],
    ["URL-encoded", `https://h/?q=${encodeURIComponent('s3cr3t "quoted" value/+&?')}`],
    ["base64", Buffer.from('s3cr3t "quoted" value/+&?').toString("base64")],
    ["base64 behind a user", Buffer.from('user:s3cr3t "quoted" value/+&?').toString("base64")],
    ["base64 behind a longer user", Buffer.from('user1:s3cr3t "quoted" value/+&?').toString("base64")],
    ["wrapped base64", `x\n${wrapped(`${"-".repeat(50)}s3cr3t "quoted" value/+&?${"-".repeat(50)}`, 76, "\n")}`],
    ["wrapped base64 with CRLF", wrapped(`${"-".repeat(40)}s3cr3t "quoted" value/+&?`, 64, "\r\n")],
    ["wrapped base64 in JSON", JSON.stringify(wrapped(`${"-".repeat(41)}s3cr3t "quoted" value/+&?`, 64, "\n"))],
    ["wrapped base64 of a key", wrapped(KEY, 20, "\n")],
    ["base64url", Buffer.from('s3cr3t "quoted" value/+&?').toString("base64url")],
    ["JSON-escaped twice", JSON.stringify(JSON.stringify({ a: 's3cr3t "quoted" value/+&?' }))],
    ["escaped as HTML", "<p>s3cr3t &quot;quoted&quot; value/+&amp;?</p>"],
    ["in a form", new URLSearchParams({ a: 's3cr3t "quoted" value/+&?' }).toString()],
    ["in hexadecimal digits", `x${Buffer.from('s3cr3t "quoted" value/+&?').toString("hex")}`],
    ["in capital hexadecimal digits", Buffer.from('s3cr3t "quoted" value/+&?').toString("hex").toUpperCase()],
    ["cut at its end", `${"x".repeat(10)}s3cr3t "quo…`],
    ["cut at its beginning", `…ed" value/+&? and more`],
    ["one line of a key", "the key has DDDDEEEEFFFF in it"],
    ["the last lines of a key", "DDDDEEEEFFFF\n-----END KEY-----"],
    ["a value whose escapes `echo` has replaced", "a \u0008s3cr3t-before\tDDDD-after\\ b"],
    ["a short value as a word", "the pin is 417."],
  ])("replaces %s", (_, text) => {
    const shown = redact(text);
    expect(shown).toMatch(/\[secret (K|PEM|PIN|ESCAPES)\]/);
    for (const part of ["s3cr3t", "quoted", "value/", "DDDD", "EEEE", "417", "c2VjcjN0", "Y3IzdC", "733363"])
      expect(shown).not.toContain(part);
  });

  test("keeps other texts: short values inside of words, single characters, common lines", () => {
    for (const text of ["4171 and x417", "x marks it", "…", "a … b"]) expect(redact(text)).toBe(text);
  });

  test("no part of at least four characters of a long value remains, wherever a text is cut", () => {
    fc.assert(
      fc.property(
        fc.string({ minLength: 12, maxLength: 40, unit: fc.constantFrom(..."abcdefghijkABCDEFGHIJK0123456789") }),
        fc.nat(40),
        fc.nat(40),
        (secret, before, length) => {
          const text = `${"-".repeat(before)}${secret}${"-".repeat(20)}`;
          const cut = `…${text.slice(text.length - Math.max(20, length))}`;
          const shown = createRedactor(new Map([["S", secret]]))(cut);
          const end = shown.replaceAll("[secret S]", "");
          for (let at = 0; at + 4 <= secret.length; at++) expect(end).not.toContain(secret.slice(at, at + 4));
        },
      ),
      { seed: 3, numRuns: numRuns(500) },
    );
  });
});

test.each([
  "postgres:u:Hunter2PW@127.0.0.1/x",
  "postgres://u:Hunter2PW@127.0.0.1/x",
  "postgresql://u:Hunter2PW@h:1/x?y=z",
  "postgres:postgres://u:Hunter2PW@h/x",
  "postgres://u:a/Hunter2PW@h/x",
  "postgres://h/x?password=Hunter2PW",
  "postgres://h/x?p%61ssword=Hunter2PW",
  "host=h password=Hunter2PW user=u",
  "host=h password = 'Hunter2PW x'",
  "u:Hunter2PW@h",
  "https://u:Hunter2PW@h?token=Hunter2PW",
  "POSTGRES://u:Hunter2PW@h",
  " postgres://u:Hunter2PW@h",
  "postgres:/u:Hunter2PW@h/x",
  "postgres:\\\\u:Hunter2PW@h/x",
  "postgresql:u:Hunter2PW@h",
  "postgres://:Hunter2PW@h/x",
  "postgres://u:a@Hunter2PW@h/x",
  "postgres://u:a%40Hunter2PW@h/x",
  "postgres://u:a?Hunter2PW@h/x",
  "postgres://u:12?Hunter2PW@h/x",
  "postgres://u:12#Hunter2PW@h/x",
  "postgres://u:Hunter2PW@h1,h2:5432/x",
  "postgres://u:Hunter2PW",
  "postgres://u:Hunter2PW/x",
  "postgres:u:Hunter2PW",
  "postgres://h/x?sslpassword=Hunter2PW&user=u",
  "postgres://h/x?user=u&PASSWORD=Hunter2PW",
  "postgres://h/x?options=-c%20a.password%3DHunter2PW",
  "jdbc:postgresql://h/x?user=u&password=Hunter2PW",
  "PGPASSWORD=Hunter2PW",
  "host=h password='it\\'s Hunter2PW'",
  "host=h password='it''s Hunter2PW'",
  "host=h password=it\\ Hunter2PW user=u",
  'host=h password="it Hunter2PW" user=u',
  "password:Hunter2PW@h",
])("a password is not shown: %s", (spec) => {
  expect(withoutPassword(spec)).not.toContain("Hunter2PW");
});

test("a path with an @ is shown", () => {
  expect(withoutPassword("sqlite:a@b/runs.db")).toBe("sqlite:a@b/runs.db");
});

test.each([
  "http://u:p4ssw0rd@127.0.0.1:1/auth",
  "http://p4ssw0rd@127.0.0.1:1/auth",
  "http://127.0.0.1:1/auth?token=p4ssw0rd",
  "ftp://u:p4ssw0rd@h/x",
  "//u:p4ssw0rd@h/x?p4ssw0rd",
  "HTTP://u:p4ssw0rd@127.0.0.1:1/auth",
  " http://u:p4ssw0rd@127.0.0.1:1/auth",
  "http:u:p4ssw0rd@127.0.0.1:1/auth",
  "http:\\\\u:p4ssw0rd@127.0.0.1:1/auth",
  "http:///u:p4ssw0rd@127.0.0.1:1/auth",
  "http://:p4ssw0rd@127.0.0.1:1/",
  "http://u:p%40p4ssw0rd@127.0.0.1:1/",
  "http://u:a@p4ssw0rd@127.0.0.1:1/",
  "http://u:a/p4ssw0rd@127.0.0.1:1/",
  "http://u:a?p4ssw0rd@127.0.0.1:1/",
  "http://u:12#p4ssw0rd@127.0.0.1:1/",
  "http://127.0.0.1:1/auth#p4ssw0rd",
  "http://127.0.0.1:99999/auth?token=p4ssw0rd",
  "http://127.0.0.1:1:2/auth?token=p4ssw0rd",
  "htp://u:p4ssw0rd@h/x",
  "u:p4ssw0rd@h/x",
  "ws://u:p4/ssw0rdp4ssw0rd@h",
  "ftp:\\\\u:p4ssw0rd@h",
  "ftp://u:a?p4ssw0rd@h",
  "data:u:p4ssw0rd@h",
  "http://u:p4ssw0rd@[::1",
  "https://u:p4ssw0rd@",
])("`http` does not show credentials or a query: %s", async (url) => {
  const context = fakeContext();
  const failure: unknown = await Promise.resolve(http({ url }, context)).catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(Error);
  expect((failure as Error).message).not.toContain("p4ssw0rd");
});

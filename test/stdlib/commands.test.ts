import { execFileSync } from "node:child_process";
import { describe, expect, test } from "vitest";
import { builtinNodes } from "../../stdlib/builtin-nodes.ts";
import { compileText } from "../lower/compile-text.ts";
import { commandOf } from "./command-of.ts";
import { fakeContext } from "./fake-context.ts";

const HOSTILE = `it's "a" $HOME \`id\` $(id) \\ ; # * ~ -n {a,b} !x\n$'`;

describe("a value in a command is literal", () => {
  test.each([
    ["as a word", "`printf '%s|' ${x}`"],
    ["in double quotes", '`printf "%s|" "${x}"`'],
    ["in single quotes", "`printf '%s|' '${x}'`"],
    ["in a substitution in double quotes", "`printf '%s|' \"$(printf '%s.' ${x})\"`", `${HOSTILE}.|`],
    ["in double quotes in a substitution", '`printf "%s|" "$(printf %s. "${x}")"`', `${HOSTILE}.|`],
    ["beside other text", "`printf '%s|' a${x}b\"c${x}d\"'e${x}f'`", `a${HOSTILE}bc${HOSTILE}de${HOSTILE}f|`],
    ["after a variable", "`A=1; printf '%s|' $A\\${A}${x}`", `11${HOSTILE}|`],
    ["after a comment", "`# it's\nprintf '%s|' ${x}`"],
    ["after an arithmetic expansion", "`printf '%s|' $((1 + 2))${x}`", `3${HOSTILE}|`],
    ["as an assigned value", "`A=${x}; printf '%s|' \"$A\"`"],
    ["in a case pattern", "`case ${x} in ${x}) printf '%s|' ${x};; esac`"],
    ["as the author's quote", "`eval ${`printf '%s|' ${quote(x)}`}`"],
  ])("%s", (_, command, output = `${HOSTILE}|`) => {
    const { codes, text } = commandOf(command, HOSTILE);
    expect(codes).toEqual([]);
    for (const shell of ["/bin/sh", "/bin/bash"]) {
      expect(execFileSync(shell, ["-c", String(text)], { encoding: "utf8" })).toBe(output);
    }
  });

  test.each([
    ["string[]", ["a b", "$c", ""], "'a b' '$c' ''"],
    ["string[]", [], ""],
    ["int[]", [1, 2], "'1' '2'"],
    ["int", -3, "'-3'"],
    ["bool", true, "'true'"],
    ["{ a: string }", { a: "it's" }, `'{"a":"it'\\''s"}'`],
    ["{ a: int }[]", [{ a: 1 }], `'{"a":1}'`],
    ["json", ["a", 1], "'a' '1'"],
    ['"a" | "b"', "b", "'b'"],
  ])("%s %j", (type, value, quoted) => {
    expect(commandOf("`echo ${x}`", value, type)).toEqual({ codes: [], text: `echo ${quoted}` });
  });

  test("`null`, a list in a list and a NUL character fail at run time where types do not show them", () => {
    const run = (value: Parameters<typeof commandOf>[1], command = "`echo ${x}`") => commandOf(command, value, "json");
    expect(() => run(null)).toThrow("expected a value for the command, found null");
    expect(() => run([["a"]])).toThrow("expected a list of single values");
    expect(() => run(["a", null])).toThrow("found null");
    expect(() => run("a\0b")).toThrow("NUL");
    expect(() => run(["a"], '`echo "${x}"`')).toThrow("a list becomes several words");
    expect(() => run(["a"], "`echo --file=${x}`")).toThrow("a list becomes several words");
  });
});

describe("where no value can be quoted, the compiler says so", () => {
  test.each([
    ["in backticks", "`echo \\`ls ${x}\\``"],
    ["in a comment", "`true # ${x}`"],
    ["in a comment after raw text", "`echo ${raw(x)}#${x}`"],
    ["in an expansion", "`echo \\${A:-${x}}`"],
    ["in an expansion, in quotes", '`echo "\\${A:-"b"}${x}"`'],
    ["in arithmetic", "`echo $((1 + ${x}))`"],
    ["in an arithmetic command", "`((a = ${x}))`"],
    ["in old arithmetic", "`echo $[${x}]`"],
    ["in an escaped string", "`echo $'a\\\\'${x}'`"],
    ["in a here-document", "`cat <<E\n${x}\nE`"],
    ["as the delimiter of a here-document", "`cat << ${x}\nx`"],
    ["after a backslash", "`echo \\\\${x}`"],
    ["after a backslash in quotes", '`echo "\\\\${x}"`'],
    ["after a dollar sign", "`echo \\$${x}`"],
    ["after a dollar sign in quotes", '`echo "\\$${x}"`'],
    ["after a process id", '`echo "\\$\\$${x}"`'],
    ["after a process id and a bracket", '`echo "\\$\\$(${x})"`'],
    ["where shells differ", '`echo "$(case a in a) echo ${x};; esac)"`'],
  ])("%s", (_, command) => {
    expect(commandOf(command).codes).toEqual(["NG415"]);
  });

  test.each([
    ['`echo "${x}"`', "string[]"],
    ["`echo '${x}'`", "string[]"],
    ["`echo --file=${x}`", "string[]"],
    ["`echo ${x}${x}`", "string[]"],
  ])("a list in %s", (command, type) => {
    expect(new Set(commandOf(command, "", type).codes)).toEqual(new Set(["NG415"]));
  });

  test.each([
    ["string | null", "NG509"],
    ["string[][]", "NG508"],
    ["(string | null)[]", "NG508"],
    ["string[] | null", "NG509"],
  ])("a value of type %s", (type, code) => {
    expect(commandOf("`echo ${x}`", "", type).codes).toEqual([code]);
  });
});

describe("a command", () => {
  test.each([
    ['"ls *.ts"', []],
    ["`ls *.ts`", []],
    ['x == "a" ? "ls" : `ls ${x}`', []],
    ['["ls", x]', []],
    ['[f for f in split(x, " ")]', ["NG412"]],
    ["x", ["NG414"]],
    ["upper(x)", ["NG414"]],
    ['x == "a" ? x : "ls"', ["NG414"]],
    ['x + "b"', ["NG414"]],
    ["raw(x)", ["NG412"]],
    ["raw(`ls ${x}`)", ["NG412"]],
    ["raw(quote(x))", []],
    ["raw()", ["NG510"]],
    ["raw(1)", ["NG508"]],
    ['["ls", raw(x)]', ["NG510"]],
    ["1", ["NG408"]],
    ["[[x]]", ["NG408"]],
  ])("%s", (command, codes) => {
    expect(commandOf(command).codes).toEqual(codes);
  });

  test("the fix of NG414 marks the text as a command", () => {
    const { diagnostics } = compileText(`graph g { input x: string  node a = shell(x)  start -> a -> end }`);
    const found = diagnostics.find(({ code }) => code === "NG414");
    expect(found?.fixes[0]?.edits).toEqual([expect.objectContaining({ text: "raw(x)" })]);
  });

  test("a list runs a program without a shell", async () => {
    const run = async (args: Parameters<NonNullable<(typeof builtinNodes)[string]>>[0]): Promise<unknown> =>
      builtinNodes["shell"]?.(args, fakeContext());
    expect(await run({ command: ["printf", "%s|", HOSTILE, "", 5, true] })).toEqual({
      code: 0,
      stdout: `${HOSTILE}||5|true|`,
      stderr: "",
    });
    await expect(run({ command: ["false", "it's"] })).rejects.toThrow("`false 'it'\\''s'` ended with exit code 1");
    await expect(run({ command: ["no-such-program"] })).rejects.toMatchObject({
      message: 'the program "no-such-program" does not exist',
      retryable: false,
    });
    await expect(run({ command: ["true"], cwd: "/nowhere" })).rejects.toThrow(
      'the directory "/nowhere" does not exist',
    );
    await expect(run({ command: [] })).rejects.toThrow("begins with the name of a program");
    await expect(run({ command: ["echo", "a\0"] })).rejects.toThrow("NUL");
    await expect(run({ command: "echo a\0" })).rejects.toThrow("NUL");
  });

  test("quoted values are refused on Windows, whose shell reads other quotes", async () => {
    const descriptor = Object.getOwnPropertyDescriptor(process, "platform") ?? {};
    Object.defineProperty(process, "platform", { ...descriptor, value: "win32" });
    try {
      const run = async (): Promise<unknown> =>
        builtinNodes["shell"]?.({ command: "echo 'a'", quoted: true }, fakeContext());
      await expect(run()).rejects.toMatchObject({ message: expect.stringContaining("cmd.exe"), retryable: false });
    } finally {
      Object.defineProperty(process, "platform", descriptor);
    }
  });
});

/** A command waits until the host has recorded it, and then behaves as in a shell of its own. */
import { describe, expect, test } from "vitest";
import { createShell, shell } from "../../stdlib/nodes/shell.ts";
import type { Json } from "../../runtime/value/json.ts";
import { fakeContext } from "./fake-context.ts";

const gated = createShell({ onStart: () => undefined });

describe.skipIf(process.platform === "win32")("a command that is recorded before it runs", () => {
  test.each<[string, Json]>([
    ["has the name of the shell and no arguments", 'echo "$0" $#'],
    ["has the line numbers of its text in messages", "echo a\nno-such-command"],
    ["may begin with a comment", "# first\necho a"],
    ["may be blank", "  "],
    ["may read a text that follows it", "cat <<END\na $HOME\nEND"],
    ["is refused if it is not complete", "if true; then\n  echo ("],
    ["is refused if it begins with a separator", "; echo a"],
    ["ends with its own code", "exit 7"],
    ["ends with the code of a signal", "kill -9 $$"],
    [
      "has no variable and no descriptor of the gate",
      'env | grep -c GATE; (echo a >&3) 2>/dev/null || echo "$NGRAPH_GATE."',
    ],
    ["may be a list", ["printf", "%s|", "a b", "$HOME", ""]],
  ])("%s", async (_, command) => {
    const run = (node: typeof shell): unknown => node({ command, check: false }, fakeContext());
    expect(await run(gated)).toEqual(await run(shell));
  });

  test("does not begin before it is recorded, and not at all if that fails", async () => {
    let isRecorded = false;
    const slow = createShell({
      onStart: async () => {
        await new Promise((resolve) => setTimeout(resolve, 50));
        isRecorded = true;
        throw new Error("the disk is full");
      },
    });
    const began = Promise.resolve(slow({ command: "exit 9", check: false }, fakeContext()));
    await expect(began).rejects.toThrow("the disk is full");
    expect(isRecorded).toBe(true);
  });

  test("starts one shell", async () => {
    // The shell that waited at the gate is the leader of its group.
    let group = 0;
    const watched = createShell({ onStart: (command) => void (group = command.group) });
    const result = await watched(
      { command: "echo $$" },
      fakeContext({ expects: { type: { kind: "string" } } as never }),
    );
    expect(result).toMatchObject({ stdout: String(group) });
  });
});

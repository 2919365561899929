import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { renderPng } from "../../cli/drawing/png.ts";

test.skipIf(process.platform === "win32")(
  "a renderer that hangs ends, also if its own process keeps the pipe",
  async () => {
    const directory = mkdtempSync(join(tmpdir(), "ngraph-renderer-"));
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }));
    vi.stubEnv("PATH", directory);
    onTestFinished(() => void vi.unstubAllEnvs());
    const pid = join(directory, "pid");
    writeFileSync(join(directory, "resvg"), `#!/bin/sh\n/bin/sleep 30 &\necho $! > ${pid}\nwait\n`);
    chmodSync(join(directory, "resvg"), 0o755);
    await expect(renderPng("<svg/>", join(directory, "flow.ngraph"), 1_500)).rejects.toThrow("resvg: SIGKILL");
    process.kill(Number(readFileSync(pid, "utf8")));
  },
);

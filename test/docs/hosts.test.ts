/** The manifests of docs/hosts.md: their ports, flags and names of settings are those that the programs read. */
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Command } from "commander";
import { expect, test } from "vitest";
import { parseAllDocuments } from "yaml";
import { workerCommand } from "../../cli/commands/worker.ts";
import { findRestate } from "../hosts/restate-server.ts";
import { fencedBlocks } from "./fenced-blocks.ts";

interface Container {
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
  readonly ports: readonly { readonly containerPort: number }[];
}

interface Manifest {
  readonly kind?: string;
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly replicas?: number;
    readonly serviceName?: string;
    readonly selector: Readonly<Record<string, unknown>>;
    readonly ports?: readonly { readonly port: number }[];
    readonly template?: {
      readonly metadata: { readonly labels: Readonly<Record<string, string>> };
      readonly spec: { readonly containers: readonly [Container] };
    };
  };
}

interface Compose {
  readonly services: Readonly<
    Record<string, { readonly command?: string; readonly environment?: Readonly<Record<string, string>> }>
  >;
  readonly volumes: object;
}

/** The parsed block that begins with a comment. */
function block(name: string): readonly unknown[] {
  const found = fencedBlocks(readFileSync("docs/hosts.md", "utf8")).find(({ text }) => text.startsWith(`# ${name}`));
  return parseAllDocuments(found!.text, { merge: true }).map((document) => {
    expect(document.errors).toEqual([]);
    return document.toJS() as unknown;
  });
}

const [compose] = block("compose.yaml") as [Compose];
const nodes = block("restate.yaml") as readonly Manifest[];
const workers = block("workers.yaml") as readonly Manifest[];
const named = (manifests: readonly Manifest[], kind: string, name: string): Manifest =>
  manifests.find((one) => one.kind === kind && one.metadata.name === name)!;
const statefulSet = named(nodes, "StatefulSet", "restate");
const [node] = statefulSet.spec.template!.spec.containers;
const [worker] = named(workers, "Deployment", "support-v1").spec.template!.spec.containers;

test("workers are started with flags of `ngc worker`, and listen on the port of their service", () => {
  const given = compose.services["workers"]!.command!.split(" ").slice(2);
  for (const args of [given, worker.args!]) {
    const program = new Command();
    workerCommand(program, () => undefined);
    const [command] = program.commands as [Command];
    command.exitOverride().action(() => undefined);
    program.parse([...args], { from: "user" });
    expect(command.opts()).toMatchObject({ port: 9080, address: "0.0.0.0" });
    expect(command.opts()["host"]).toMatch(/^restate:http:\/\/restate(-1)?:8080$/);
  }
  expect(worker.ports).toEqual([{ containerPort: 9080 }]);
  const service = named(workers, "Service", "support-v1").spec;
  expect(service.ports).toEqual([{ port: 9080 }]);
  expect(named(workers, "Deployment", "support-v1").spec.template!.metadata.labels).toMatchObject(service.selector);
});

test("three nodes know each other by the names that they have", () => {
  expect(statefulSet.spec).toMatchObject({ replicas: 3, serviceName: "restate-nodes" });
  expect(named(nodes, "Service", "restate").spec.ports!.map(({ port }) => port)).toEqual([8080, 9070]);
  for (const name of ["restate", "restate-nodes"]) {
    expect(statefulSet.spec.template!.metadata.labels).toMatchObject(named(nodes, "Service", name).spec.selector);
  }
  const env = envOf(node);
  const addresses = JSON.parse(env["RESTATE_METADATA_CLIENT__ADDRESSES"]!) as string[];
  const own = [0, 1, 2].map((index) => env["RESTATE_ADVERTISED_ADDRESS"]!.replace("$(POD)", `restate-${index}`));
  expect(addresses).toEqual(own);
  const composed = ["restate-1", "restate-2", "restate-3"].map((name) => compose.services[name]!.environment!);
  const known = JSON.parse(composed[0]!["RESTATE_METADATA_CLIENT__ADDRESSES"]!) as string[];
  expect(known).toEqual(composed.map((environment) => environment["RESTATE_ADVERTISED_ADDRESS"]));
  expect(composed.map((environment) => environment["RESTATE_AUTO_PROVISION"])).toEqual(["true", "false", "false"]);
});

const found = findRestate();
test.skipIf("missing" in found)("the server reads all settings that the manifests give", () => {
  if ("missing" in found) return;
  for (const env of [compose.services["restate-2"]!.environment!, envOf(node)]) {
    const directory = mkdtempSync(join(tmpdir(), "ngraph-config-"));
    const settings = Object.entries(env).filter(([name]) => name !== "POD");
    const values = Object.fromEntries(settings.map(([name, value]) => [name, value.replaceAll("$(POD)", "restate-2")]));
    const dumped = execFileSync(found.program, ["--no-logo", "--dump-config"], {
      cwd: directory,
      env: { ...process.env, ...values },
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    rmSync(directory, { recursive: true, force: true });
    for (const [name, value] of Object.entries(values)) {
      const key = name
        .replace(/^RESTATE_/, "")
        .split("__")
        .at(-1)!
        .toLowerCase()
        .replaceAll("_", "-");
      expect(plain(dumped)).toContain(`${key}=${plain(value)}`);
    }
  }
});

/** Without quotes, spaces and slashes, which the server writes in its own way. */
function plain(text: string): string {
  return text.replaceAll(/["\s/]/g, "").replaceAll(",]", "]");
}

function envOf({ env = [] }: Container): Readonly<Record<string, string>> {
  return Object.fromEntries(env.map(({ name, value = "" }) => [name, value]));
}

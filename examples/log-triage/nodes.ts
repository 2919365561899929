/** Node functions of `triage.ngraph`: plain functions over plain data. */
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { dirname } from "node:path";

export interface Request {
  address: string;
  time: string;
  method: string;
  path: string;
  status: number;
  seconds: number;
  agent: string;
}

export interface Finding {
  kind: "errors" | "probes" | "slow";
  subject: string;
  count: number;
  detail: string;
}

/** Splits the log at line ends into `parts` chunks of about equal length. */
export async function splitLog(path: string, parts: number): Promise<string[]> {
  const lines = (await readFile(path, "utf8")).split("\n").filter((line) => line !== "");
  const size = Math.max(1, Math.ceil(lines.length / parts));
  const chunks: string[] = [];
  for (let at = 0; at < lines.length; at += size) chunks.push(lines.slice(at, at + size).join("\n"));
  return chunks;
}

const LINE = /^(\S+) \S+ \S+ \[([^\]]+)\] "(\S+) (\S+) [^"]*" (\d{3}) \S+ "[^"]*" "([^"]*)" ([\d.]+)$/;

export function parsePart(chunk: string): Request[] {
  const requests: Request[] = [];
  for (const line of chunk.split("\n")) {
    const match = LINE.exec(line);
    if (match === null) continue;
    const [, address = "", time = "", method = "", path = "", status = "0", agent = "", seconds = "0"] = match;
    requests.push({ address, time, method, path, status: Number(status), seconds: Number(seconds), agent });
  }
  return requests;
}

/** Finds the paths for which the server returned errors. */
export function findErrors(requests: readonly Request[]): Finding[] {
  return countBy(
    requests.filter((request) => request.status >= 500),
    (request) => `${request.method} ${request.path}`,
  ).map(([subject, hits]) => ({
    kind: "errors",
    subject,
    count: hits.length,
    detail: `status ${[...new Set(hits.map((hit) => hit.status))].sort().join(", ")}`,
  }));
}

const PROBES = [/\/\.env/, /\/\.git\//, /wp-login/];

/** Finds requests that probe for vulnerabilities. */
export function findProbes(requests: readonly Request[]): Finding[] {
  return countBy(
    requests.filter((request) => PROBES.some((probe) => probe.test(request.path))),
    (request) => request.path,
  ).map(([subject, hits]) => ({
    kind: "probes",
    subject,
    count: hits.length,
    detail: `by ${new Set(hits.map((hit) => hit.agent)).size} user agents`,
  }));
}

export function findSlow(requests: readonly Request[], seconds: number): Finding[] {
  return countBy(
    requests.filter((request) => request.seconds >= seconds),
    (request) => request.path,
  ).map(([subject, hits]) => ({
    kind: "slow",
    subject,
    count: hits.length,
    detail: `up to ${Math.max(...hits.map((hit) => hit.seconds)).toFixed(3)} s`,
  }));
}

/** Writes the report and returns its path. */
export async function writeReport(
  path: string,
  verdict: string,
  total: number,
  findings: readonly Finding[],
): Promise<string> {
  const rows = findings.map(
    (finding) => `| ${finding.kind} | ${finding.subject} | ${finding.count} | ${finding.detail} |`,
  );
  const text = [
    `# Log triage: ${verdict}`,
    "",
    `${total} requests, ${findings.length} findings.`,
    "",
    "| kind | subject | requests | detail |",
    "|---|---|--:|---|",
    ...rows,
    "",
  ].join("\n");
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  return path;
}

function countBy(requests: readonly Request[], key: (request: Request) => string): [string, Request[]][] {
  const groups = new Map<string, Request[]>();
  for (const request of requests) {
    const group = groups.get(key(request));
    if (group === undefined) groups.set(key(request), [request]);
    else group.push(request);
  }
  return [...groups].sort((a, b) => b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
}

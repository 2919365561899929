/** The requests of pictures: `ngraph/preview` draws a graph or plan, and `ngraph/run` tells what its newest run does. */
import type { MessageConnection } from "vscode-languageserver-protocol";
import type { PlanTable } from "../runtime/table/plan-table.ts";
import type { Table } from "../runtime/table/table.ts";
import type { CheckedDocument } from "./document.ts";

/** The services that these requests use. */
export interface PreviewEnvironment {
  /** The picture of a graph or plan as SVG. */
  draw(table: Table | PlanTable): Promise<string>;
  /** The newest run of a graph or plan; `null` if none is stored. */
  findRun(asked: AskedRun): Promise<WatchedRun | null>;
}

export interface AskedRun {
  readonly path: string;
  readonly name: string;
  readonly kind: "graph" | "plan";
  /** The directories of the workspace. */
  readonly roots: readonly string[];
}

/** The answer to `ngraph/preview`. */
export interface Preview {
  readonly name: string;
  /** Absent where the graph has errors. */
  readonly svg?: string;
  readonly message?: string;
}

/** The answer to `ngraph/run`: the newest run of a graph or plan. */
export interface WatchedRun {
  /** Names the run: each run of a thread has its own. */
  readonly id: string;
  readonly thread: string | null;
  readonly status: string;
  /** The status in a few words, with the reason of a failure. */
  readonly text: string;
  /** Whether nothing more happens without a command. */
  readonly isOver: boolean;
  readonly nodes: readonly WatchedNode[];
  /** The pauses that take an answer. */
  readonly questions: readonly Question[];
}

export interface WatchedNode {
  readonly name: string;
  /** `next`: the run has stopped before it. */
  readonly state: "running" | "done" | "waits" | "failed" | "next" | "skipped";
  /** How often it ran. */
  readonly count: number;
}

export interface Question {
  /** The id that an answer names. */
  readonly id: string;
  readonly node: string;
  readonly question: string;
  readonly choices: readonly string[];
}

type Protocol = typeof import("vscode-languageserver-protocol");
type Refusal = InstanceType<Protocol["ResponseError"]>;

/**
 * Answers the requests of pictures.
 *
 * @param refusal the error of a request that comes too early or too late
 * @param roots the directories of the workspace
 */
export function answerPreviewRequests(
  { ErrorCodes, ResponseError }: Protocol,
  connection: MessageConnection,
  checkedOf: (uri: string) => CheckedDocument | undefined,
  environment: PreviewEnvironment,
  refusal: () => Refusal | undefined,
  roots: () => readonly string[],
): void {
  type Found = Pick<AskedRun, "path" | "name" | "kind"> & { readonly table: Table | PlanTable | undefined };
  /** Answers about the graph or plan that the parameters name; without a name, about the first one of the file. */
  const answer = (method: string, work: (found: Found) => Promise<unknown>): void => {
    connection.onRequest(method, async (params: unknown) => {
      const refused = refusal();
      if (refused !== undefined) return refused;
      const { uri, name } = (params ?? {}) as { readonly uri?: unknown; readonly name?: unknown };
      const checked = typeof uri === "string" ? checkedOf(uri) : undefined;
      if (checked === undefined) return new ResponseError(ErrorCodes.InvalidParams, "`uri` names no open graph");
      const all = [
        ...checked.result.graphs.map((each) => ({ ...each, kind: "graph" as const })),
        ...checked.result.plans.map((each) => ({ ...each, kind: "plan" as const })),
      ];
      const wanted = typeof name === "string" ? all.find((each) => each.name === name) : all[0];
      if (wanted === undefined)
        return new ResponseError(ErrorCodes.InvalidParams, "the file has no such graph or plan");
      return work({ path: checked.document.path, name: wanted.name, kind: wanted.kind, table: wanted.table });
    });
  };
  answer("ngraph/preview", async ({ name, table }): Promise<Preview> =>
    table === undefined
      ? { name, message: "the file has errors: its picture comes back when they are mended" }
      : { name, svg: await environment.draw(table) },
  );
  answer("ngraph/run", ({ path, name, kind }) => environment.findRun({ path, name, kind, roots: roots() }));
}

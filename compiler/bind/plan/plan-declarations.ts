/** Collects what a plan declares: channels, tasks, pools and settings. Reports duplicates. */
import { duplicateName, notSupported, statedTwice } from "../../../diagnostics/catalog/names.ts";
import { illegalPolicyValue, maxParallelBelowOne } from "../../../diagnostics/catalog/policies.ts";
import type { Diagnostic } from "../../../diagnostics/diagnostic.ts";
import type { SourceFile, Span } from "../../../diagnostics/source.ts";
import type * as Ast from "../../../grammar/ast.ts";
import { DEFAULT_MAX_PARALLEL } from "../../../runtime/table/plan-table.ts";
import type { BoundPlan } from "./bound-plan.ts";
import { DeclaredNames } from "../declared-names.ts";

type PlanSettings = Pick<BoundPlan, "maxParallel" | "order" | "onFailure" | "pools">;

export interface PlanDeclarations {
  readonly channels: readonly Ast.ChannelDecl[];
  readonly tasks: readonly Ast.TaskDecl[];
  readonly settings: PlanSettings;
  readonly poisoned: Set<string>;
  readonly hasUnknownNames: boolean;
  /** Statements could not be read: tasks or channels may be missing. */
  readonly hasBroken: boolean;
}

export function collectPlan(
  plan: Ast.PlanDecl,
  file: SourceFile,
  secrets: ReadonlyMap<string, Span>,
  report: (diagnostic: Diagnostic) => void,
): PlanDeclarations {
  const channels: Ast.ChannelDecl[] = [];
  const tasks: Ast.TaskDecl[] = [];
  const settings: Ast.PlanSetting[] = [];
  const names = new DeclaredNames(file, secrets, report);
  for (const statement of plan.statements) {
    switch (statement.kind) {
      case "Channel":
        if (statement.role === "memory") {
          const help = "write `state`: every run of a plan begins afresh, and a resumed one keeps what is done";
          report(notSupported({ file, span: statement.span }, { what: "`memory` in a plan is", help }));
        }
        if (names.declare(statement.name, statement.role === "state" ? "a state" : `an ${statement.role}`))
          channels.push(statement);
        break;
      case "Task":
        if (names.declare(statement.name, "a task")) tasks.push(statement);
        break;
      case "Broken":
        names.addBroken(statement);
        break;
      default:
        settings.push(statement);
    }
  }
  const { poisoned, hasUnknownNames, hasBroken } = names;
  return { channels, tasks, settings: readSettings(settings, file, report), poisoned, hasUnknownNames, hasBroken };
}

function readSettings(
  settings: readonly Ast.PlanSetting[],
  file: SourceFile,
  report: (diagnostic: Diagnostic) => void,
): PlanSettings {
  const read: { -readonly [Key in keyof PlanSettings]: PlanSettings[Key] } = {
    maxParallel: DEFAULT_MAX_PARALLEL,
    order: "priority",
    onFailure: "continue",
    pools: [],
  };
  const stated = new Map<string, Span>();
  for (const setting of settings) {
    const what = nameOfSetting(setting);
    const first = stated.get(what);
    if (first !== undefined) {
      const place = { file, span: setting.span };
      if (setting.kind === "PlanPool") {
        const { name, span } = setting.name;
        report(duplicateName({ file, span }, { name, what: "a pool", first: { file, span: first } }));
      } else report(statedTwice(place, { what, first: { file, span: first } }));
      continue;
    }
    stated.set(what, setting.span);
    switch (setting.kind) {
      case "PlanMaxParallel":
        if (setting.count.value >= 1) read.maxParallel = setting.count.value;
        else report(maxParallelBelowOne({ file, span: setting.count.span }, { of: "plan" }));
        break;
      case "PlanOrder":
        read.order = setting.order;
        break;
      case "PlanOnFailure":
        read.onFailure = setting.mode;
        break;
      case "PlanPool": {
        const size = setting.count.value;
        if (size < 1) {
          const facts = { message: "a pool has at least 1 place", label: "no task could ever take one" };
          report(illegalPolicyValue({ file, span: setting.count.span }, facts));
        }
        read.pools = [...read.pools, { name: setting.name.name, size: Math.max(1, size) }];
        break;
      }
    }
  }
  return read;
}

function nameOfSetting(setting: Ast.PlanSetting): string {
  switch (setting.kind) {
    case "PlanMaxParallel":
      return "`max parallel`";
    case "PlanOrder":
      return "`order`";
    case "PlanOnFailure":
      return "`on failure`";
    case "PlanPool":
      return `pool ${setting.name.name}`;
    default:
      return setting satisfies never;
  }
}

import { describe, expect, it } from "vitest";
import { memoryHost } from "../../compiler/load/host.ts";
import { createModuleReader } from "../../compiler/load/load-module.ts";

const exportsOf = (text: string, path = "nodes.ts") => createModuleReader(memoryHost({ [path]: text }))(path).exports;

const names = (text: string, path?: string): string[] | undefined => {
  const found = exportsOf(text, path);
  return found === undefined ? undefined : [...found.keys()].sort();
};

describe("exports of a module", () => {
  it.each([
    ["export function a() {}", ["a"]],
    ["export async function a() {}", ["a"]],
    ["export function* a() {}", ["a"]],
    ["export async function* a() {}", ["a"]],
    ["export const a = 1, b = 2;", ["a", "b"]],
    ["export let a: Map<string, number> = new Map()", ["a"]],
    ["export const { a, b: [c = 1, ...d], ...e } = f", ["a", "c", "d", "e"]],
    ["export default function a() {}", ["default"]],
    ["export class A<T> extends B {}", ["A"]],
    ["export abstract class A {}", ["A"]],
    ["export declare function a(): void", ["a"]],
    ["export type A = { b: 1 }", ["A"]],
    ["export interface A {}", ["A"]],
    ["export enum A { B }", ["A"]],
    ["export const enum A { B }", ["A"]],
    ["export namespace A { export const b = 1 }", ["A"]],
    ["const a = 1; export { a }", ["a"]],
    ["const a = 1; export { a as b, a as default }", ["b", "default"]],
    ["export { a, type B, type C as D } from './x'", ["B", "D", "a"]],
    ["export type { A, B } from './x'", ["A", "B"]],
    ["export * as ns from './x'", ["ns"]],
    ["// export const no = 1\n/* export const no = 1 */ export const a = `export const no = ${ `1` } }`", ["a"]],
    ['export const a = \'export const no = 1\'; export const b = "\\"export"', ["a", "b"]],
    ["export const a = /[/'\"`]export const no = 1/g; export const b = 4 / 2 / 1;", ["a", "b"]],
    ["function f() { const x = { export: 1 }; return x.export }\nexport const a = 1", ["a"]],
    ["#!/usr/bin/env node\nexport const a = 1", ["a"]],
    ["import x from 'y'; x();", []],
    ["", []],
  ])("%s", (text, expected) => {
    expect(names(text)).toEqual(expected);
  });

  it("distinguishes types from values", () => {
    const text = "export interface A {}\nexport function b() {}\nexport class C {}\nexport { d, A as E, b as f }";
    expect([...(exportsOf(text) ?? [])]).toEqual([
      ["A", "type"],
      ["b", "value"],
      ["C", "both"],
      ["d", "both"],
      ["E", "type"],
      ["f", "value"],
    ]);
  });

  it("follows `export *` to modules that it can find", () => {
    const read = createModuleReader(
      memoryHost({
        "a.ts": 'export * from "./b.js"; export const x = 1',
        "b.ts": "export type B = 1; export default 1",
        "c.ts": 'export * from "./missing.ts"',
      }),
    );
    expect([...(read("a.ts").exports ?? [])]).toEqual([
      ["x", "value"],
      ["B", "type"],
    ]);
    expect(read("c.ts").exports).toBeUndefined();
  });

  it("reads TSX", () => {
    expect(names("export const a = <b>it's</b>", "x.tsx")).toEqual(["a"]);
  });

  it.each([
    ["export = f", "x.ts"],
    ["export const a = `never closed", "x.ts"],
    ["export const a = 'never closed\n", "x.ts"],
    ["export const a = (1;", "x.ts"],
    ["exports.a = 1", "x.js"],
    ["export const a = 1", "x.cjs"],
    ["export something else", "x.ts"],
  ])("gives up on %s (%s)", (text, path) => {
    expect(names(text, path)).toBeUndefined();
  });
});

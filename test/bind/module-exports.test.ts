import { describe, expect, it } from "vitest";
import { readModuleExports } from "../../compiler/load/module-exports.ts";

const names = (text: string, path = "nodes.ts"): string[] | undefined => {
  const found = readModuleExports(text, path);
  return found === undefined ? undefined : [...found.names.keys()].sort();
};

describe("exports of a module, by its text", () => {
  it.each([
    ["export function a() {}", ["a"]],
    ["export async function a() {}", ["a"]],
    ["export function* a() {}", ["a"]],
    ["export async function* a() {}", ["a"]],
    ["export const a = 1, b = 2;", ["a", "b"]],
    ["export let a: Map<string, number> = new Map()", ["a", "number"]],
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

  it("tells types from values", () => {
    const found = readModuleExports(
      "export interface A {}\nexport function b() {}\nexport class C {}\nexport { d }",
      "x.ts",
    );
    expect([...(found?.names ?? [])]).toEqual([
      ["A", "type"],
      ["b", "value"],
      ["C", "both"],
      ["d", "both"],
    ]);
  });

  it("knows where all is exported from", () => {
    expect(readModuleExports("export * from './a'; export * from \"b\"", "x.ts")?.stars).toEqual(["./a", "b"]);
  });

  it.each([
    ["export = f", "x.ts"],
    ["export const { a, b } = c", "x.ts"],
    ["export const a = 1, { b } = c", "x.ts"],
    ["export const a = `never closed", "x.ts"],
    ["export const a = 'never closed\n", "x.ts"],
    ["export const a = (1;", "x.ts"],
    ["exports.a = 1", "x.js"],
    ["export const a = <b>it's</b>", "x.tsx"],
    ["export const a = 1", "x.cjs"],
    ["export something else", "x.ts"],
  ])("gives up on %s (%s)", (text, path) => {
    expect(names(text, path)).toBeUndefined();
  });
});

/** The parts of `railroad-diagrams` that the diagrams of the grammar use. */
declare module "railroad-diagrams" {
  type Item = { readonly width: number } | string;
  interface Drawing {
    format(): this;
    readonly attrs: Readonly<Record<string, number | string>>;
    toString(): string;
  }
  export function Diagram(...items: Item[]): Drawing;
  export function Sequence(...items: Item[]): Item;
  export function Choice(normal: number, ...items: Item[]): Item;
  export function Optional(item: Item): Item;
  export function ZeroOrMore(item: Item, repeat?: Item): Item;
  export function Terminal(text: string): Item;
  export function NonTerminal(text: string): Item;
  export function Skip(): Item;
}

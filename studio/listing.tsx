/** The frame of a list: it is read again every few seconds, and may be empty or out of reach. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { sentenceOf } from "./connection.ts";

const REFRESH_MS = 3_000;

interface Listing<T> {
  /** `undefined` before the first answer. */
  readonly found: T | undefined;
  readonly problem: string | undefined;
}

/** What `read` returns, read again every few seconds and when one of the inputs changes. */
export function useListing<T>(read: () => Promise<T>, inputs: readonly unknown[]): Listing<T> {
  const [found, setFound] = useState<T>();
  const [problem, setProblem] = useState<string>();
  useEffect(() => {
    let isOver = false;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const refresh = async (): Promise<void> => {
      try {
        const next = await read();
        if (isOver) return;
        setFound(next);
        setProblem(undefined);
      } catch (error) {
        if (!isOver) setProblem(sentenceOf(error));
      }
      if (!isOver) timer = setTimeout(() => void refresh(), REFRESH_MS);
    };
    void refresh();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, inputs);
  return { found, problem };
}

interface Column {
  readonly title: string;
  /** Left out on small screens. */
  readonly isWide?: boolean;
}

interface ListCardProps<Item> {
  readonly id: string;
  readonly title: string;
  readonly items: readonly Item[] | undefined;
  readonly problem: string | undefined;
  /** The sentence in place of an empty table. */
  readonly empty: string;
  readonly columns: readonly Column[];
  readonly row: (item: Item) => ComponentChildren;
  readonly filters?: ComponentChildren;
  readonly actions?: ComponentChildren;
}

/** A card with a table. */
export function ListCard<Item>(props: ListCardProps<Item>) {
  const { id, title, items, problem, empty, columns, row, filters, actions } = props;
  return (
    <section class="card" aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {filters}
      {problem === undefined ? null : (
        <p class="problem" role="alert">
          {problem}
        </p>
      )}
      {items === undefined ? (
        <p role="status">Loading…</p>
      ) : items.length === 0 ? (
        <p>{empty}</p>
      ) : (
        <table class="threads">
          <thead>
            <tr>
              {columns.map((column) => (
                <th scope="col" class={column.isWide === true ? "wide" : undefined} key={column.title}>
                  {column.title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{items.map(row)}</tbody>
        </table>
      )}
      {actions}
    </section>
  );
}

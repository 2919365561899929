import { useEffect, useRef, useState } from "preact/hooks";

/** Pixels of a row, as in the style sheet. */
const ROW = 56;
/** Rows above and below those that are visible. */
const SPARE = 10;

interface VirtualListProps<T> {
  readonly items: readonly T[];
  readonly keyOf: (item: T) => string;
  readonly render: (item: T) => preact.ComponentChildren;
}

/** A list of rows of one height, of which only those in view are elements: it may have any length. */
export function VirtualList<T>({ items, keyOf, render }: VirtualListProps<T>) {
  const place = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(640);
  useEffect(() => {
    if (place.current === null) return;
    const observer = new ResizeObserver(([entry]) => setHeight(entry?.contentRect.height ?? 640));
    observer.observe(place.current);
    return () => observer.disconnect();
  }, []);
  const first = Math.max(0, Math.min(Math.floor(top / ROW) - SPARE, items.length - 1));
  const last = Math.min(items.length, Math.ceil((top + height) / ROW) + SPARE);
  return (
    <div ref={place} class="rows" onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
      <ol style={{ paddingTop: `${first * ROW}px`, paddingBottom: `${(items.length - last) * ROW}px` }}>
        {items.slice(first, last).map((item, index) => (
          <li key={keyOf(item)} class="row" aria-setsize={items.length} aria-posinset={first + index + 1}>
            {render(item)}
          </li>
        ))}
      </ol>
    </div>
  );
}

import type { ExecuteOptions, RunResult, StreamOptions, ViewsOptions } from "../interface/engine-options.ts";
import type { EventListener, StreamViews } from "../interface/events.ts";
import { createRunStream } from "../event/run-stream.ts";
import { checkExecuteOptions } from "../run/check-execute-options.ts";
import { checkView } from "../run/check-options.ts";
import type { OptionKind } from "../run/option-kinds.ts";
import { checkOptions } from "../run/option-names.ts";
import { ON_RESULT, ON_STATE, type WatchedOptions } from "../run/watched-options.ts";
import type { JsonObject } from "../value/json.ts";
import { eitherSignal } from "../run/either-signal.ts";

/** The stream of a run or a resume. */
export function streamOf<View extends keyof StreamViews<JsonObject> = "events">(
  given: ExecuteOptions & StreamOptions<View> & Partial<ViewsOptions<View>>,
  known: Readonly<Record<string, OptionKind>>,
  start: (options: WatchedOptions) => Promise<RunResult>,
) {
  checkOptions("a stream", given, known);
  checkView(given);
  checkExecuteOptions(given);
  const { view, views, buffer, ...options } = given;
  const shown = { ...(view && { view }), ...(views && { views }) };
  return createRunStream<View>({ ...shown, ...(buffer !== undefined && { buffer }) }, (watch) => {
    const { onEvent, signal } = options;
    const both: EventListener = (event) => {
      watch.onEvent(event);
      onEvent?.(event);
    };
    return start({
      ...options,
      signal: signal === undefined ? watch.signal : eitherSignal(signal, watch.signal),
      onEvent: both,
      ...(watch.onState === undefined ? {} : { [ON_STATE]: watch.onState }),
      ...(watch.onResult === undefined ? {} : { [ON_RESULT]: watch.onResult }),
    });
  });
}

/** Step of a pipeline over a context. Returns a promise only if it must wait. */
export interface Stage<C> {
  /** Name of the stage and of its span. */
  readonly name: string;
  /** True for a stage that also leaves a span without waiting. */
  readonly isAlwaysTraced?: boolean;
  run(context: C): void | Promise<void>;
  /** Facts about the finished stage for its span. */
  spanAttributes?(context: C): Readonly<Record<string, string | undefined>>;
}

/** Recorder of the spans of a pipeline. */
export interface StageTrace<C> {
  /** Parent of the spans of the stages. */
  readonly traceparent: string;
  run(stage: Stage<C>, context: C): void | Promise<void>;
}

interface Traced<C> {
  /** Undefined while tracing is off, and before the stage that starts the trace. */
  readonly trace: StageTrace<C> | undefined;
}

/** Runs stages in order, until one rejects or `isOver`. Awaits only what waits (CPU of a call in `npm run bench`). */
export async function runStages<C extends Traced<C>>(stages: readonly Stage<C>[], context: C, isOver: () => boolean): Promise<void> {
  for (const stage of stages) {
    const waiting = context.trace === undefined ? stage.run(context) : context.trace.run(stage, context);
    if (waiting !== undefined) await waiting;
    if (isOver()) return;
  }
}

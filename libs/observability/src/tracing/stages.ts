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

interface RunStagesOptions<C> {
  /** Delays each stage. */
  readonly before?: (() => Promise<void>) | undefined;
  /** Called after each stage with its duration in milliseconds. */
  readonly after?: (stage: Stage<C>, tookMs: number) => void;
  /** True if the stages that are left must not run. Asked after each stage. */
  readonly isOver?: () => boolean;
}

/** Runs stages in order, until one rejects. Awaits only what waits (CPU of a call in `npm run bench`). */
export async function runStages<C extends Traced<C>>(
  stages: readonly Stage<C>[],
  context: C,
  { before, after, isOver }: RunStagesOptions<C>,
): Promise<void> {
  for (const stage of stages) {
    if (before !== undefined) await before();
    const startedAt = after === undefined ? 0 : performance.now();
    const waiting = context.trace === undefined ? stage.run(context) : context.trace.run(stage, context);
    if (waiting !== undefined) await waiting;
    after?.(stage, performance.now() - startedAt);
    if (isOver?.() === true) return;
  }
}

import type { HookRun } from './hook-runner.js';

/** The text as others may see it. `cut`: it is the beginning of a longer one. */
export type Redact = (text: string, cut?: boolean) => string;

/** No character of UTF-8 is longer. */
const CHARACTER_BYTES = 4;

/** Redacts what a hook said, since it may repeat secrets of arguments and output. Call it before anything is cut. */
export function redactHookRun({ failure, reason, feedback, ...run }: HookRun, shown: Redact): HookRun {
  return {
    ...run,
    ...(failure === undefined ? {} : { failure: shown(failure) }),
    ...(reason === undefined ? {} : { reason: shown(reason) }),
    ...(feedback === undefined
      ? {}
      : { feedback: shown(feedback, Buffer.byteLength(feedback) > run.hook.maxOutputBytes - CHARACTER_BYTES) }),
  };
}

import type { HookRun } from './hook-runner.js';

/** Redacts a text. `cut`: the text is the beginning of a longer one. */
export type Redact = (text: string, cut?: boolean) => string;

/** Longest character of UTF-8. */
const CHARACTER_BYTES = 4;

/** Redacts the texts of a hook, which may repeat secrets of arguments and output. Called before any cut. */
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

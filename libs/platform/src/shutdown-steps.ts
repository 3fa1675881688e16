/** Longest time of a step before the next one begins. */
const STEP_MS = 5_000;
/** Longest time of all steps together beyond the drain. */
const GRACE_MS = 10_000;
/** Longest time of a step that begins after the deadline. */
const LAST_MS = 100;

export type ShutdownStep = (name: string, action: () => unknown, ms?: number) => Promise<void>;

/**
 * Runs the steps of a shutdown, which the caller awaits one after the other. A step that fails or hangs is reported to
 * `failed` and does not stop the next. All steps end within `drainMs` and 10 s, each within 5 s by default. Never rejects.
 */
export function shutdownSteps(drainMs: number, failed: (step: string, error: unknown) => void): ShutdownStep {
  const end = performance.now() + drainMs + GRACE_MS;
  return async (name, action, ms = STEP_MS) => {
    try {
      const remainingMs = Math.max(LAST_MS, end - performance.now());
      await within(Math.min(ms, remainingMs), Promise.resolve().then(action));
    } catch (error) {
      failed(name, error);
    }
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`timed out after ${Math.round(ms)} ms`)), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

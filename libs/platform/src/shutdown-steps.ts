/** What a step may take before the next one begins. */
const STEP_MS = 5_000;
/** What all steps together may take beyond the drain. */
const GRACE_MS = 10_000;
/** A step whose turn comes when the time is over. */
const LAST_MS = 100;

export type ShutdownStep = (name: string, action: () => unknown, ms?: number) => Promise<void>;

/**
 * The steps of a shutdown, to be awaited one after the other. A step that fails or hangs does not stop the next, which
 * `failed` hears; all together end within `drainMs` and 10 s. A step may take 5 s unless it says otherwise. Never rejects.
 */
export function shutdownSteps(drainMs: number, failed: (step: string, error: unknown) => void): ShutdownStep {
  const end = performance.now() + drainMs + GRACE_MS;
  return async (name, action, ms = STEP_MS) => {
    try {
      const left = Math.max(LAST_MS, end - performance.now());
      await within(Math.min(ms, left), Promise.resolve().then(action));
    } catch (error) {
      failed(name, error);
    }
  };
}

async function within(ms: number, work: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`not done after ${Math.round(ms)} ms`)), ms);
  });
  try {
    await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

const EVERY_MS = 4_000;

/** Runs a step of the start. While it takes long, says every four seconds what it waits for. */
export type Progress = <T>(waitsFor: string, step: () => Promise<T>) => Promise<T>;

/** A start that is quick says nothing. */
export function startProgress(tell: (line: string) => void): Progress {
  return async (waitsFor, step) => {
    const startedAt = Date.now();
    const ticking = setInterval(() => tell(`Waiting for ${waitsFor} … ${Math.round((Date.now() - startedAt) / 1000)} s`), EVERY_MS);
    try {
      return await step();
    } finally {
      clearInterval(ticking);
    }
  };
}

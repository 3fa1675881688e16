/** Monotonic milliseconds and timers; a value, so that rules about time are tested without waiting. */
export interface Clock {
  now(): number;
  /** Runs `run` after `ms`. Returns a function that cancels it. */
  after(ms: number, run: () => void): () => void;
}

export const systemClock: Clock = {
  now: () => performance.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, ms);
    return () => clearTimeout(timer);
  },
};

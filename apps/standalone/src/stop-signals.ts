/** npm forwards a Ctrl-C that the terminal has already sent to this process. A second signal this soon is the same one. */
const SAME_PRESS_MS = 700;

/**
 * The first SIGINT or SIGTERM calls `drain`, the second one `exitNow`. `drain` must not reject.
 */
export function onStopSignals(drain: (signal: NodeJS.Signals) => void, exitNow: () => void): void {
  let first: number | undefined;
  const heard = (signal: NodeJS.Signals) => {
    const now = performance.now();
    if (first === undefined) {
      first = now;
      drain(signal);
    } else if (now - first > SAME_PRESS_MS) {
      exitNow();
    }
  };
  process.on('SIGINT', heard);
  process.on('SIGTERM', heard);
  process.on('SIGHUP', heard);
}

/** Runs `task` one at a time: any number of requests during a run cause one more run. */
export function coalesce(task: () => Promise<unknown>): () => void {
  let isRunning = false;
  let isAsked = false;
  const run = async () => {
    if (isRunning) return;
    isRunning = true;
    while (isAsked) {
      isAsked = false;
      await task().catch(() => {});
    }
    isRunning = false;
  };
  return () => {
    isAsked = true;
    void run();
  };
}

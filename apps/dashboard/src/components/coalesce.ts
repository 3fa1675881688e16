/** Runs `task` one at a time: what is asked for while it runs is one more run afterwards, however often it was. */
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

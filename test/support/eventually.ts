/**
 * Resolves with the first truthy answer of `condition`; rejects when none came within the deadline, saying what was awaited.
 * `what` may be a function, for what is known at the end only. An error of `condition` ends the wait at once. The deadline is long: it is no bound,
 * and a small machine is slow under load; but a test says what it waited for before it reaches its own limit.
 */
export async function eventually<T>(
  condition: () => T | Promise<T>,
  what: string | (() => string),
  deadlineMs = defaultDeadlineMs(),
): Promise<NonNullable<T>> {
  const deadline = performance.now() + deadlineMs;
  for (;;) {
    const answer = await condition();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`waited ${deadlineMs} ms in vain for ${typeof what === 'string' ? what : what()}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Three quarters of the limit of a test, at most 3 minutes. */
function defaultDeadlineMs(): number {
  return Math.min(180_000, 0.75 * Number(process.env['TEST_LIMIT_MS'] ?? 600_000));
}

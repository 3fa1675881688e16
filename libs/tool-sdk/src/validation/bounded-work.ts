import { createContext, Script } from 'node:vm';

/**
 * Far more than an honest schema needs, also on a machine that is short of CPU: the limit counts elapsed time. Short
 * enough that what piles up meanwhile fits into memory.
 */
const LIMIT_MS = 1_000;

const context = createContext({ work: undefined });
const script = new Script('work()');

/** The work was stopped in the middle: what it changed may be half changed. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/**
 * Runs synchronous work whose length others decide, and stops it after a while, so that it does not hold all
 * others of this process. @throws TookTooLong, or what the work throws
 */
export function boundedWork<T>(work: () => T): T {
  let result: { readonly value: T } | undefined;
  context['work'] = () => {
    result = { value: work() };
  };
  try {
    script.runInContext(context, { timeout: LIMIT_MS });
  } catch (error) {
    throw isTimeout(error) ? new TookTooLong('it takes too long') : error;
  } finally {
    context['work'] = undefined;
  }
  if (result === undefined) throw new Error('the work did not run');
  return result.value;
}

function isTimeout(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
}

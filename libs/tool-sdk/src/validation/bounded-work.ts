import { createContext, Script } from 'node:vm';

const context = createContext({ work: undefined });
const script = new Script('work()');

/** Error of work that was stopped midway: its changes may be incomplete. */
export class TookTooLong extends Error {
  override readonly name = 'TookTooLong';
}

/**
 * Runs synchronous work whose length others decide, and stops it after a while, so that it does not hold all
 * others of this process. The limit counts elapsed time: on a machine that is short of CPU honest work takes long too.
 * @throws TookTooLong, or what the work throws
 */
export function boundedWork<T>(limitMs: number, work: () => T): T {
  let result: { readonly value: T } | undefined;
  context['work'] = () => {
    result = { value: work() };
  };
  try {
    script.runInContext(context, { timeout: limitMs });
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

import { backoffMs } from '../../http/backoff.js';
import { sleep } from '../../http/deadline.js';
import { ToolyardError } from '../../toolyard-error.js';

const OUTAGE_MS = 10 * 60_000;
/** Codes of outages, in which no gateway can respond. */
const OUTAGES: ReadonlySet<string> = new Set<ToolyardError['code']>(['unreachable', 'unavailable', 'overloaded']);

interface Patience {
  readonly signal?: AbortSignal | undefined;
  readonly outageMs?: number | undefined;
}

/**
 * Repeats an idempotent request while no gateway responds, beyond the retries of the client: a person may take hours to approve
 * a call, and gateways may restart meanwhile. If nothing has ever responded, only for an explicit `outageMs`: the address may
 * be wrong.
 */
export async function throughOutage<T>(request: () => Promise<T>, { signal, outageMs }: Patience): Promise<T> {
  const until = Date.now() + (outageMs ?? OUTAGE_MS);
  for (let n = 1; ; n += 1) {
    try {
      return await request();
    } catch (error) {
      if (!(error instanceof ToolyardError) || !OUTAGES.has(error.code) || Date.now() >= until) throw error;
      if (error.neverAnswered && outageMs === undefined) throw error;
      await sleep(backoffMs(n, Math.random()), signal);
    }
  }
}

import { Problem, WORKER_LIMITS, WorkerOutput } from '#contracts';
import { backoffMs } from '../http/backoff.js';
import { sleep } from '../http/deadline.js';
import type { SendOutput } from './running-call.js';
import { WorkerToolError } from './worker-tool.js';

const REQUEST_MS = 30_000;
/** Tries while the tenant has no room for outputs, about 40 s: longer than the results of other calls need to be read. */
const TRIES_WITHOUT_ROOM = 10;

/**
 * Sends outputs to `PUT /v1/calls/{id}/output`. Repeats a request until it is answered or `cut` aborts, and gives up where the tenant
 * has no room for long.
 */
export function outputSender(baseUrl: string, apiKey: string, worker: string, fetch: typeof globalThis.fetch): SendOutput {
  return async ({ callId, fence }, text, cut) => {
    const body = new TextEncoder().encode(text);
    if (body.length > WORKER_LIMITS.outputBytes)
      throw new WorkerToolError(`The result has ${body.length} bytes; expected at most ${WORKER_LIMITS.outputBytes}.`, {
        code: 'too_large',
      });
    const query = new URLSearchParams({ worker, fence: String(fence) });
    const url = `${baseUrl}/v1/calls/${encodeURIComponent(callId)}/output?${query.toString()}`;
    const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'text/plain; charset=utf-8' };
    for (let failures = 0, withoutRoom = 0; ;) {
      cut.throwIfAborted();
      try {
        const signal = AbortSignal.any([cut, AbortSignal.timeout(REQUEST_MS)]);
        const response = await fetch(url, { method: 'PUT', headers, body, signal, redirect: 'error' });
        if (response.ok) return WorkerOutput.parse(await response.json());
        const problem = Problem.safeParse(await response.json().catch(() => undefined)).data;
        if (problem?.code === 'quota_exceeded') withoutRoom += 1;
        if (withoutRoom > TRIES_WITHOUT_ROOM || (response.status < 500 && response.status !== 429))
          throw new WorkerToolError(`The gateway refused the output: ${problem?.detail ?? `status ${response.status}`}`, {
            code: 'refused',
          });
      } catch (error) {
        if (error instanceof WorkerToolError) throw error;
      }
      await sleep(Math.min(5_000, backoffMs((failures += 1), Math.random())), cut);
    }
  };
}

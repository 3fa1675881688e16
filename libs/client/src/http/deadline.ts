import { ToolyardError } from '../toolyard-error.js';
import type { RequestOptions } from '../client-options.js';

/** Signal of the caller and time limit as one signal; undefined without either. */
export function signalOf({ signal, timeoutMs }: RequestOptions): AbortSignal | undefined {
  if (timeoutMs === undefined) return signal;
  const deadline = AbortSignal.timeout(timeoutMs);
  return signal === undefined ? deadline : AbortSignal.any([signal, deadline]);
}

/** Error for an aborted signal: `timed_out` or `aborted`. */
export function abortError(signal: AbortSignal): ToolyardError {
  const reason: unknown = signal.reason;
  if (reason instanceof ToolyardError) return reason;
  // Not by class: the error may come from another realm.
  if (typeof reason === 'object' && reason !== null && 'name' in reason && reason.name === 'TimeoutError')
    return new ToolyardError('timed_out', 'The deadline has passed before the response arrived', undefined, { cause: reason });
  return new ToolyardError('aborted', 'The request was aborted by its signal', undefined, { cause: reason });
}

/** Resolves after `ms`. Rejects as soon as the signal is aborted. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(abortError(signal));
    const onAbort = () => {
      clearTimeout(timer);
      if (signal) reject(abortError(signal));
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', onAbort);
      resolve();
    }, ms);
    signal?.addEventListener('abort', onAbort, { once: true });
  });
}

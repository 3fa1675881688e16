import { APICallError } from '@ai-sdk/provider';
import { ModelFailure } from './model.port.js';

const LONGEST_RETRY_AFTER_MS = 3_600_000;

/** Failure of a request, without the server's text, which may repeat the request or contain anything. */
export function failureOf(error: unknown): ModelFailure {
  const own = causeOf(error);
  if (own !== undefined) return own;
  if (!APICallError.isInstance(error)) return new ModelFailure('its answer could not be read or broke off', true);
  const { statusCode, responseHeaders = {}, isRetryable } = error;
  if (statusCode === undefined || statusCode < 400) return new ModelFailure('its answer could not be read or broke off', true);
  return new ModelFailure(`its server answered with HTTP ${statusCode}`, isRetryable, retryAfterMs(responseHeaders));
}

/** Failure thrown by `fetch`, which the provider wraps. */
function causeOf(error: unknown): ModelFailure | undefined {
  for (let it = error, depth = 0; it instanceof Error && depth < 5; it = it.cause, depth += 1) if (it instanceof ModelFailure) return it;
  return undefined;
}

/** Retry delay in milliseconds, from seconds or a date (RFC 9110). */
function retryAfterMs(headers: Readonly<Record<string, string>>): number | undefined {
  const text = headers['retry-after'];
  if (text === undefined) return undefined;
  const ms = /^\d{1,9}$/.test(text.trim()) ? Number(text) * 1_000 : Date.parse(text) - Date.now();
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), LONGEST_RETRY_AFTER_MS) : undefined;
}

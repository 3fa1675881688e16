import { HttpException, NotFoundException } from '@nestjs/common';
import { LIMITS, ProblemError } from '#contracts';
import { ArchiveUnavailable, EventLogFull, EventLogTenantFull, EventLogUnavailable, EventLogUnreplicated } from '#event-log';

const RETRY_SOON_MS = 1000;
const RETRY_LATER_MS = 5000;

/** Maps any error to a problem. An unknown error becomes `internal`, without details. */
export function toProblem(error: unknown): ProblemError {
  if (error instanceof ProblemError) return error;
  if (error instanceof EventLogTenantFull)
    return new ProblemError(
      'quota_exceeded',
      'The calls of the tenant that have not ended, or those of this session, have too many bytes together (TENANT_CALL_BYTES): wait until some end, or cancel some',
      { retryAfterMs: RETRY_LATER_MS },
    );
  if (error instanceof EventLogFull || isRedisFull(error))
    return new ProblemError('overloaded', 'Redis has no memory left for new calls; running calls go on', { retryAfterMs: RETRY_LATER_MS });
  if (error instanceof EventLogUnreplicated)
    return new ProblemError(
      'unavailable',
      'Too few replicas of Redis confirmed the write in time, which DURABILITY=replicated waits for: start those that are down, remove those that are gone from Sentinel (SENTINEL RESET), or set REPLICAS. The same request with the same Idempotency-Key is safe to repeat',
      { retryAfterMs: RETRY_LATER_MS },
    );
  if (isRefusedForItsDisk(error) || (error instanceof EventLogUnavailable && isRefusedForItsDisk(error.cause)))
    return new ProblemError(
      'unavailable',
      'Redis cannot write to its disk, which may be full, and takes no new calls until it can: its own log says why. The same request with the same Idempotency-Key is safe to repeat',
      { retryAfterMs: RETRY_LATER_MS },
    );
  if (error instanceof EventLogUnavailable || isRedisOutOfReach(error)) {
    return new ProblemError(
      'unavailable',
      'Redis is out of reach just now; the same request with the same Idempotency-Key is safe to repeat',
      { retryAfterMs: RETRY_SOON_MS },
    );
  }
  if (error instanceof ArchiveUnavailable)
    return new ProblemError('unavailable', 'The archive does not answer just now, and the call or its events are only there', {
      retryAfterMs: RETRY_LATER_MS,
    });
  if (error instanceof NotFoundException) return new ProblemError('resource_not_found', 'No such route');
  if (error instanceof HttpException) return toProblem(error.cause ?? statusError(error.getStatus()));
  return (
    frameworkProblem(error) ??
    new ProblemError('internal', 'Something went wrong inside; the log of the gateway tells more under the id in `instance`')
  );
}

function frameworkProblem(error: unknown): ProblemError | undefined {
  if (!(error instanceof Error) || !('statusCode' in error)) return undefined;
  switch (error.statusCode) {
    case 400:
      return new ProblemError(
        'invalid_request',
        'The request is malformed: expected a well-formed URL, headers and a body of the stated length',
      );
    case 404:
      return new ProblemError('resource_not_found', 'No such route');
    case 405:
      return new ProblemError('method_not_allowed', 'The route does not know this method');
    case 413:
      return new ProblemError('payload_too_large', `The body is too large: expected at most ${LIMITS.bodyBytes} bytes`);
    case 414:
      return new ProblemError('resource_not_found', 'No resource has an id that long');
    case 415:
      return new ProblemError('unsupported_media_type', 'Expected the header Content-Type: application/json');
    default:
      return undefined;
  }
}

function statusError(statusCode: number): Error {
  return Object.assign(new Error(`HTTP ${statusCode}`), { statusCode });
}

/** True for a plain command that Redis refuses above maxmemory. */
function isRedisFull(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('OOM ');
}

/** True for a write that Redis refuses after a failed save, until it has disk space or permission. */
function isRefusedForItsDisk(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('MISCONF ');
}

/** True for errors without a class in ioredis: a closed, unready or lost connection, and a failover in progress. */
function isRedisOutOfReach(error: unknown): boolean {
  return (
    error instanceof Error &&
    (error.name === 'MaxRetriesPerRequestError' ||
      error.name === 'ClusterAllFailedError' ||
      /^(Connection is closed|No Sentinel answers|Stream isn't writeable|Command timed out|connect ECONN|LOADING |CLUSTERDOWN |READONLY |MASTERDOWN |NOREPLICAS |TRYAGAIN )/.test(
        error.message,
      ))
  );
}

import type { CallFilter, ResultKind } from '#contracts';
import type { CallRow } from './call-row.js';

/**
 * Matches a call known from events alone against a filter, as the gateway does. `undefined`: events do not contain the field (a
 * fingerprint, the root of a tree, a word of the arguments), so only a response of the gateway can tell.
 */
export function rowMatches(row: CallRow, filter: CallFilter): boolean | undefined {
  const { since, until } = filter;
  if (!anyOf(filter.status, row.status) || !anyOf(filter.outcome, row.outcome)) return false;
  if (filter.result !== undefined && !anyOf(filter.result, resultOf(row))) return false;
  if (!anyOf(filter.tool, row.tool) || !anyOf(filter.agentId, row.agentId) || !anyOf(filter.sessionId, row.sessionId)) return false;
  if (
    !anyOf(filter.errorCode, row.error?.code) ||
    !anyOf(filter.batchId, row.batchId) ||
    !anyOf(filter.parentCallId, row.parentCallId) ||
    !anyOf(filter.scheduleId, row.scheduleId)
  )
    return false;
  if (since !== undefined && row.submittedAt < Date.parse(since)) return false;
  if (until !== undefined && row.submittedAt > Date.parse(until)) return false;
  if (row.pool !== undefined && !anyOf(filter.pool, row.pool)) return false;
  if (row.priority !== undefined && !anyOf(filter.priority, row.priority)) return false;
  if (row.risk !== undefined && !anyOf(filter.risk, row.risk)) return false;
  const unknown =
    filter.fingerprint !== undefined ||
    filter.rootCallId !== undefined ||
    (filter.pool !== undefined && row.pool === undefined) ||
    (filter.priority !== undefined && row.priority === undefined) ||
    (filter.risk !== undefined && row.risk === undefined) ||
    (filter.q !== undefined && !mentions(row, filter.q));
  return unknown ? undefined : true;
}

function anyOf(wanted: readonly string[] | undefined, value: string | undefined): boolean {
  return wanted === undefined || (value !== undefined && wanted.includes(value));
}

function resultOf({ status, outcome, isError }: CallRow): ResultKind | undefined {
  if (status !== 'ended') return undefined;
  return outcome === 'completed' && isError !== true ? 'ok' : 'error';
}

function mentions(row: CallRow, text: string): boolean {
  const hay = [row.id, row.tool, row.agentId, row.sessionId, row.error?.message, row.preview].join('\n').toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => hay.includes(word));
}

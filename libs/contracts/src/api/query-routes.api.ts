import { z } from 'zod';
import { IdempotencyKey } from './calls.api.js';
import { BulkCancelBody, BulkReplayBody, BulkResult, CallCount, CallFilter, CallPage, ListCallsQuery } from './call-list.api.js';
import { SessionMessages } from './batches.api.js';
import { Label } from '../values/names.js';
import { BODY, KEY, type Route } from './route.api.js';
import { FailurePage, ListSessionsQuery, PeriodQuery, SessionPage, Stats, StatsQuery, ToolStatsPage } from './stats.api.js';

/** Questions over many calls and messages, most of them answered by the history; all are about the caller's tenant alone. */
export const QUERY_ROUTES = {
  listCalls: {
    method: 'get',
    path: '/v1/calls',
    tag: 'calls',
    scope: 'read',
    summary: 'List calls, newest first',
    query: ListCallsQuery,
    responses: { 200: { description: 'A page of calls.', schema: CallPage } },
    problems: [...KEY, 'invalid_request', 'history_unavailable'],
  },
  countCalls: {
    method: 'get',
    path: '/v1/calls:count',
    tag: 'calls',
    scope: 'read',
    summary: 'How many calls fit a filter',
    query: CallFilter,
    responses: { 200: { description: 'The number.', schema: CallCount } },
    problems: [...KEY, 'invalid_request', 'history_unavailable'],
  },
  cancelCalls: {
    method: 'post',
    path: '/v1/calls:cancel',
    idempotent: true,
    tag: 'calls',
    scope: 'cancel',
    summary: 'Cancel the calls that fit a filter, or say how many that would be',
    body: BulkCancelBody,
    responses: { 200: { description: 'What was done; `cursor` when there are more.', schema: BulkResult } },
    problems: [...BODY, ...KEY, 'history_unavailable'],
  },
  replayCalls: {
    method: 'post',
    path: '/v1/calls:replay',
    idempotent: true,
    tag: 'calls',
    scope: 'submit',
    summary: 'Run the ended calls that fit a filter again, or say how many that would be',
    headers: z.object({
      'Idempotency-Key': IdempotencyKey.optional().describe('The same request with the same key within 24 hours replays nothing twice.'),
    }),
    body: BulkReplayBody,
    responses: { 200: { description: 'What was done; `cursor` when there are more.', schema: BulkResult } },
    problems: [...BODY, ...KEY, 'overloaded', 'history_unavailable'],
  },
  getStats: {
    method: 'get',
    path: '/v1/stats',
    tag: 'operations',
    scope: 'read',
    summary: 'Numbers over time, and what runs and waits now',
    query: StatsQuery,
    responses: { 200: { description: 'The numbers.', schema: Stats } },
    problems: [...KEY, 'invalid_request', 'history_unavailable'],
  },
  getToolStats: {
    method: 'get',
    path: '/v1/stats/tools',
    tag: 'operations',
    scope: 'read',
    summary: 'Calls, failures and times by tool',
    query: PeriodQuery,
    responses: { 200: { description: 'The tools with calls in the period.', schema: ToolStatsPage } },
    problems: [...KEY, 'invalid_request', 'history_unavailable'],
  },
  listFailures: {
    method: 'get',
    path: '/v1/failures',
    tag: 'operations',
    scope: 'read',
    summary: 'Failures, those that look alike together',
    query: PeriodQuery,
    responses: { 200: { description: 'The groups.', schema: FailurePage } },
    problems: [...KEY, 'invalid_request', 'history_unavailable'],
  },
  listSessions: {
    method: 'get',
    path: '/v1/sessions',
    tag: 'sessions',
    scope: 'read',
    summary: 'Sessions with calls, the latest active first',
    query: ListSessionsQuery,
    responses: { 200: { description: 'A page of sessions.', schema: SessionPage } },
    problems: [...KEY, 'invalid_request', 'history_unavailable'],
  },
  listSteering: {
    method: 'get',
    path: '/v1/sessions/{id}/steering',
    tag: 'sessions',
    scope: 'read',
    summary: 'What people said to the session, oldest first',
    params: z.object({ id: Label.describe('The name of the session.') }),
    responses: { 200: { description: 'The messages; none for a session without any.', schema: SessionMessages } },
    problems: [...KEY, 'invalid_request'],
  },
} as const satisfies Record<string, Route>;

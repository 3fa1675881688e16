import { z } from 'zod';
import { Label } from '../values/names.js';
import { CancelBody } from './calls.api.js';
import { BODY, KEY, type Route } from './route.api.js';
import { SessionCancelled, SteerBody, Steered } from './batches.api.js';
import { PutSessionBody, Session } from './sessions.api.js';

const SessionIdParams = z.object({ id: Label.describe('The name of the session.') });

export const SESSION_ROUTES = {
  getSession: {
    method: 'get',
    path: '/v1/sessions/{id}',
    tag: 'sessions',
    scope: 'read',
    summary: 'What holds for the calls of a session',
    params: SessionIdParams,
    responses: { 200: { description: 'The session; defaults where nothing was set.', schema: Session } },
    problems: [...KEY],
  },
  putSession: {
    method: 'put',
    path: '/v1/sessions/{id}',
    tag: 'sessions',
    scope: 'admin',
    summary: 'Set posture, tools or grants of a session',
    params: SessionIdParams,
    body: PutSessionBody,
    responses: { 200: { description: 'The session as it is now.', schema: Session } },
    problems: [...BODY, ...KEY, 'conflict', 'quota_exceeded', 'overloaded'],
  },
  deleteSession: {
    method: 'delete',
    path: '/v1/sessions/{id}',
    tag: 'sessions',
    scope: 'admin',
    summary: 'End a session: its settings and grants are gone, and decisions about calls from before grant it nothing more',
    params: SessionIdParams,
    responses: { 204: { description: 'Gone, or never set up.' } },
    problems: [...KEY, 'conflict', 'quota_exceeded'],
  },
  steerSession: {
    method: 'post',
    path: '/v1/sessions/{id}/steer',
    tag: 'sessions',
    scope: 'submit',
    summary: 'Queue a message of a person; batches look between steps',
    params: SessionIdParams,
    body: SteerBody,
    responses: { 202: { description: 'Queued; it comes with the result of a batch, once.', schema: Steered } },
    problems: [...BODY, ...KEY, 'conflict', 'quota_exceeded', 'overloaded'],
  },
  cancelSession: {
    method: 'post',
    path: '/v1/sessions/{id}/cancel',
    idempotent: true,
    tag: 'sessions',
    scope: 'cancel',
    summary: 'Stop everything in a session; safe to repeat',
    params: SessionIdParams,
    body: CancelBody,
    bodyOptional: true,
    responses: { 202: { description: 'Stopped, or on the way to it.', schema: SessionCancelled } },
    problems: [...BODY, ...KEY, 'conflict'],
  },
} as const satisfies Record<string, Route>;

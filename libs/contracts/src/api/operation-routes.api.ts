import { z } from 'zod';
import { Json } from '../values/json.js';
import { Diagnostics, GatewayWarning } from './diagnostics.api.js';
import { Principal } from '../values/principal.js';
import { KEY, type Route, type RouteResponse } from './route.api.js';
import { QueueStatus, WorkerId, WorkerStatus } from './status.api.js';

const html = (description: string) => ({ description, mediaType: 'text/html', schema: z.string() }) satisfies RouteResponse;
const document = (description: string) => ({ description, schema: z.record(z.string(), Json) }) satisfies RouteResponse;

const NO_DASHBOARD = { description: 'No dashboard was built: `/openapi.json` instead.', headers: ['Location'] } satisfies RouteResponse;

/** Workers, queues, health, and the documents. */
export const OPERATION_ROUTES = {
  listWorkers: {
    method: 'get',
    path: '/v1/workers',
    tag: 'operations',
    scope: 'read',
    summary: 'Who is alive, and what runs there',
    responses: {
      200: { description: 'Workers.', schema: z.object({ workers: z.array(WorkerStatus).describe('Workers that were heard of lately.') }) },
    },
    problems: [...KEY],
  },
  drainWorker: {
    method: 'post',
    path: '/v1/workers/{id}/drain',
    idempotent: true,
    tag: 'operations',
    scope: 'operate',
    summary: 'Let a worker take no more calls; those it runs go on. It stays so until its process ends',
    params: z.object({ id: WorkerId.describe('The id of the worker, as `GET /v1/workers` lists it.') }),
    responses: { 202: { description: 'The worker as it was last seen; it hears of it within seconds.', schema: WorkerStatus } },
    problems: [...KEY, 'resource_not_found', 'overloaded'],
  },
  listQueues: {
    method: 'get',
    path: '/v1/queues',
    tag: 'operations',
    scope: 'read',
    summary: 'Depth and oldest age by pool',
    responses: { 200: { description: 'Queues.', schema: z.object({ queues: z.array(QueueStatus).describe('One for each pool.') }) } },
    problems: [...KEY],
  },
  whoAmI: {
    method: 'get',
    path: '/v1/whoami',
    tag: 'operations',
    scope: 'read',
    summary: 'Whose key this is and what it may do',
    responses: { 200: { description: 'Of the key that asks.', schema: Principal } },
    problems: [...KEY],
  },
  getDiagnostics: {
    method: 'get',
    path: '/v1/diagnostics',
    tag: 'operations',
    scope: 'operate',
    summary: 'Versions, clocks and the settings of Redis that promises rest on',
    responses: { 200: { description: 'What this gateway sees.', schema: Diagnostics } },
    problems: [...KEY],
  },
  live: {
    method: 'get',
    path: '/livez',
    tag: 'operations',
    summary: 'Is the process alive (never asks Redis)',
    description: 'For the liveness probe of an orchestrator, which restarts a process that does not answer. Needs no key.',
    responses: { 200: { description: 'Alive.', schema: z.object({ status: z.literal('ok').describe('The process runs.') }) } },
    problems: [],
  },
  ready: {
    method: 'get',
    path: '/readyz',
    tag: 'operations',
    summary: 'May traffic come here',
    description: 'For the readiness probe of a load balancer: Redis answers and the gateway is not shutting down. Needs no key.',
    responses: {
      200: {
        description: 'Ready. `warnings`: problems that do not stop the gateway.',
        schema: z.object({
          status: z.literal('ok').describe('Requests can be served.'),
          warnings: z.array(GatewayWarning).optional().describe('Problems that do not stop the gateway. Absent without any.'),
        }),
      },
    },
    problems: ['overloaded'],
  },
  metrics: {
    method: 'get',
    path: '/metrics',
    tag: 'operations',
    summary: 'Prometheus metrics; with `Authorization: Bearer <METRICS_KEY>` where the gateway has such a key',
    description:
      'Each process reports its own figures: let Prometheus scrape every gateway and worker. An API key is not needed and not taken.',
    responses: { 200: { description: 'Text exposition format.', mediaType: 'text/plain', schema: z.string() } },
    problems: ['unauthenticated'],
  },
  openStream: {
    method: 'get',
    path: '/v1/stream',
    tag: 'events',
    summary: 'The WebSocket for submitting calls and watching events',
    description: 'Its frames are described by `/asyncapi.json`. The key comes with `Authorization` or in the first frame.',
    responses: { 101: { description: 'The connection speaks WebSocket from here on.', headers: ['Upgrade'] } },
    problems: ['upgrade_required', 'unauthenticated', 'too_many_requests', 'overloaded'],
  },
  getOpenApi: {
    method: 'get',
    path: '/openapi.json',
    tag: 'documents',
    summary: 'This document',
    description: 'Generated from the schemas by which the gateway checks requests. Needs no key.',
    responses: { 200: document('OpenAPI 3.1.') },
    problems: [],
  },
  getOpenApiYaml: {
    method: 'get',
    path: '/openapi.yaml',
    tag: 'documents',
    summary: 'This document as YAML',
    description: 'The same content as `/openapi.json`. Needs no key.',
    responses: { 200: { description: 'OpenAPI 3.1.', mediaType: 'text/yaml', schema: z.string() } },
    problems: [],
  },
  getAsyncApi: {
    method: 'get',
    path: '/asyncapi.json',
    tag: 'documents',
    summary: 'The frames of `/v1/stream`',
    description:
      'Every frame that client and gateway send, with its schema and an example. Needs no key. `/docs/stream` shows it as a page.',
    responses: { 200: document('AsyncAPI 3.0.') },
    problems: [],
  },
  getApiExplorer: {
    method: 'get',
    path: '/docs',
    tag: 'documents',
    summary: 'A page to read this document and to try it',
    description:
      'A page of the dashboard; `/docs/submitCall` is the page of that operation. Requests from it use the key or the login of the dashboard.',
    responses: { 200: html('A page for people.'), 302: NO_DASHBOARD },
    problems: [],
  },
  getDashboard: {
    method: 'get',
    path: '/',
    tag: 'documents',
    summary: 'The dashboard',
    description:
      'The start page; its other addresses, such as `/calls`, answer with the same page. The page itself needs no key, what it shows does.',
    responses: {
      200: html('A page for people.'),
      302: NO_DASHBOARD,
    },
    problems: [],
  },
} as const satisfies Record<string, Route>;

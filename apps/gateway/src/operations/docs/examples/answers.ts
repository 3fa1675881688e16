import { ApiKey, Call, WebhookDelivery } from '#contracts';
import { VERSION } from '#platform';
import { z } from 'zod';
import { END, EVENTS } from './events.js';
import { SOURCE_ANSWERS } from './source-answers.js';
import {
  ACCEPTED_AT,
  CALL_ID,
  CURSOR,
  DIGEST,
  ENDED_AT,
  FINGERPRINT,
  FOREIGN_WORKER_ID,
  SCHEDULE_ID,
  SINCE,
  STARTED_AT,
  UNTIL,
  WORKER_ID,
} from './values.js';

// Over 300 lines: data only, one example for each answer of the API documents.
const SUMMARY = {
  id: CALL_ID,
  tool: 'file_read',
  pool: 'read',
  status: 'ended',
  outcome: 'failed',
  ok: false,
  isError: true,
  error: { code: 'tool_failed', message: 'File not found: nope.txt. Use file_list or glob to see what is there.' },
  fingerprint: FINGERPRINT,
  attempt: 1,
  retrying: false,
  priority: 'normal',
  sessionId: 'demo',
  labels: {},
  preview: '{"path":"nope.txt"}',
  submittedAt: ACCEPTED_AT,
  startedAt: STARTED_AT,
  endedAt: ENDED_AT,
  waitMs: 4,
  runMs: 8_116,
};
const SOME_TIMES = { count: 3, p50: 43, p95: 92.5, p99: 92.5 };
const COUNTS = { running: 1, queued: 0, suspended: 0, waitingApproval: 0, waitingInput: 0 };
const DONE = { matched: 2, exact: true, done: 2, failed: [] };
const VIEW = { name: 'failed builds', search: { result: 'error', since: '24h' }, savedAt: '2026-11-30T09:00:00.000Z' };

const SCHEDULE = {
  id: SCHEDULE_ID,
  cron: '0 7 * * 1-5',
  timeZone: 'Europe/Berlin',
  overlap: 'skip',
  missed: 'run',
  call: { tool: 'shell', arguments: { command: 'make report' }, priority: 'normal', timeouts: {}, labels: {} },
  keyId: 'agents',
  createdAt: ACCEPTED_AT,
  nextRuns: ['2026-02-02T06:00:00.000Z', '2026-02-03T06:00:00.000Z'],
};
const BUBBLEWRAP = { backend: 'bubblewrap', ok: true, isolation: 'namespaces' };
const WORKER = {
  id: WORKER_ID,
  startedAt: SINCE,
  seenAt: UNTIL,
  draining: false,
  pools: [{ pool: 'shell', slots: 8, running: 1 }],
  calls: [CALL_ID],
  sandbox: { shell: BUBBLEWRAP },
  version: VERSION,
  search: { ok: true },
  disk: { freeBytes: 76_560_969_728, totalBytes: 270_553_174_016 },
  host: { name: 'host-1', cores: 2, load: 0.65, freeBytes: 23_821_922_304, totalBytes: 25_276_502_016 },
};
const MESSAGE = { id: '01JZ8C7B2C3D4E5F6G7H8J9K0M', message: 'Leave the tests alone, please.', from: 'apikey:people', at: UNTIL };
const PERIOD = { since: SINCE, until: UNTIL };
const RESOURCE = {
  resource: 'https://toolyard.example.com/mcp',
  resource_name: 'Toolyard',
  bearer_methods_supported: ['header'],
  scopes_supported: ['submit', 'read', 'cancel', 'approve', 'admin', 'operate', 'work'],
};
const ANSWER = { jsonrpc: '2.0', id: 1, result: { content: [{ type: 'text', text: '# Demo' }], isError: false } };
const MCP_REFUSED = { jsonrpc: '2.0', id: null, error: { code: -32_000, message: 'Mcp-Session-Id header is required' } };
const MCP_UNKNOWN = { jsonrpc: '2.0', id: null, error: { code: -32_001, message: 'Session not found' } };
const MCP_ACCEPT = {
  jsonrpc: '2.0',
  id: null,
  error: { code: -32_000, message: 'Not Acceptable: Client must accept both application/json and text/event-stream' },
};
const MCP_REFUSALS = { 400: MCP_REFUSED, 404: MCP_UNKNOWN, 406: MCP_ACCEPT };
const WAITING = z.globalRegistry.get(Call)?.examples?.at(1);

const LOGIN_PAGE = '<!doctype html><title>Not signed in · Toolyard</title>…';
const REFUSED_LOGIN = Object.fromEntries([401, 403, 422, 429, 501, 503].map((status) => [status, LOGIN_PAGE]));

/** Responses by operation and status, if the schema has no example of its own. Pages and documents have none. */
export const ANSWER_EXAMPLES: Readonly<Record<string, Readonly<Record<number, unknown>>>> = {
  listCalls: { 200: { calls: [SUMMARY], nextCursor: CURSOR, total: 3 } },
  countCalls: { 200: { count: 2, exact: true } },
  facetCalls: {
    200: {
      status: [{ value: 'ended', count: 1 }],
      outcome: [{ value: 'failed', count: 1 }],
      tool: [{ value: 'file_read', count: 1 }],
      agentId: [{ value: 'coder', count: 1 }],
      sessionId: [{ value: 'demo', count: 1 }],
      pool: [{ value: 'read', count: 1 }],
      risk: [{ value: 'low', count: 1 }],
      exact: true,
    },
  },
  cancelCalls: { 200: DONE },
  replayCalls: { 200: DONE },
  eraseCalls: { 200: DONE },
  exportCalls: { 200: `${JSON.stringify(END)}\n` },
  getStats: {
    200: {
      ...PERIOD,
      stepMs: 3_600_000,
      series: [
        {
          at: SINCE,
          submitted: 3,
          ended: 3,
          failed: 2,
          errors: 1,
          outcomes: { completed: 2, failed: 1 },
          wait: SOME_TIMES,
          run: SOME_TIMES,
        },
      ],
      now: {
        ...COUNTS,
        byTool: { top: [{ name: 'shell', ...COUNTS }] },
        byAgent: { top: [{ name: 'coder', ...COUNTS }] },
        byPool: [{ name: 'shell', ...COUNTS }],
      },
    },
  },
  getToolStats: {
    200: {
      ...PERIOD,
      tools: [
        { tool: 'shell', calls: 3, failed: 1, errors: 1, errorRate: 1 / 3, outcomes: { completed: 3 }, wait: SOME_TIMES, run: SOME_TIMES },
      ],
    },
  },
  listFailures: {
    200: {
      ...PERIOD,
      failures: [
        {
          fingerprint: FINGERPRINT,
          tool: 'file_read',
          code: 'tool_failed',
          message: SUMMARY.error.message,
          count: 1,
          firstSeen: ENDED_AT,
          lastSeen: ENDED_AT,
          lastCallId: CALL_ID,
          preview: SUMMARY.preview,
          counts: [...Array<number>(23).fill(0), 1],
          agents: { count: 1, names: ['coder'] },
          sessions: { count: 1, names: ['demo'] },
        },
      ],
    },
  },
  listSessions: {
    200: {
      sessions: [
        {
          sessionId: 'demo',
          agentId: 'coder',
          calls: 3,
          running: 0,
          failed: 2,
          firstAt: ACCEPTED_AT,
          lastAt: ENDED_AT,
          goal: 'fix the login',
          lastCall: { id: CALL_ID, tool: 'file_read', preview: SUMMARY.preview },
          recent: [{ id: CALL_ID, status: 'ended', outcome: 'failed', isError: true }],
        },
      ],
    },
  },
  getCallEvents: { 200: { events: EVENTS } },
  getCallDebugLog: {
    200: {
      callId: CALL_ID,
      entries: [
        { at: ACCEPTED_AT, afterMs: 0, step: 'stage', text: 'evaluate: shell', by: 'apikey:local', tookMs: 2 },
        { at: ACCEPTED_AT, afterMs: 0, step: 'policy', text: 'decision: allow', by: 'apikey:local' },
        { at: ENDED_AT, afterMs: 1200, step: 'process', text: 'the program exited with 0', by: 'worker:w1', attempt: 1 },
      ],
    },
  },
  getCallOutput: { 200: 'exit code: 0\n42 tests passed\n', 206: 'exit code: 0\n' },
  putCallOutput: { 200: { sha256: DIGEST, bytes: 3 } },
  listApprovals: { 200: { calls: [WAITING] } },
  listTools: {
    200: {
      tools: [
        {
          name: 'file_read',
          description: 'Reads a file of the workspace.',
          input_schema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
        },
      ],
    },
  },
  steerSession: {
    202: {
      message: MESSAGE,
      waiting: 1,
    },
  },
  listSteering: { 200: { messages: [{ ...MESSAGE, taken: false }] } },
  cancelSession: { 202: { sessionId: 'demo', calls: 2, batches: 1 } },
  streamEvents: { 200: END },
  ...SOURCE_ANSWERS,
  postMcp: {
    200: ANSWER,
    ...MCP_REFUSALS,
  },
  getMcp: {
    200: { jsonrpc: '2.0', method: 'notifications/tools/list_changed' },
    ...MCP_REFUSALS,
  },
  deleteMcp: MCP_REFUSALS,
  getMcpResource: { 200: RESOURCE },
  getProtectedResource: { 200: RESOURCE },
  createSchedule: { 201: SCHEDULE },
  listSchedules: { 200: { schedules: [SCHEDULE] } },
  listViews: { 200: { views: [VIEW] } },
  putView: { 200: VIEW },
  previewSchedule: { 200: { nextRuns: SCHEDULE.nextRuns } },
  getSchedule: { 200: SCHEDULE },
  pauseSchedule: { 200: { ...SCHEDULE, paused: { at: UNTIL, reason: 'paused by apikey:agents' }, nextRuns: [] } },
  resumeSchedule: { 200: SCHEDULE },
  registerWorker: {
    201: {
      op: 'welcome',
      workerId: FOREIGN_WORKER_ID,
      leaseMs: 30_000,
      heartbeatMs: 10_000,
      tools: [{ name: 'deploy', pool: 'net' }],
      problems: [],
    },
  },
  pollWorker: {
    200: {
      frames: [
        {
          op: 'call',
          callId: CALL_ID,
          fence: 1,
          attempt: 1,
          tool: 'deploy',
          arguments: { service: 'shop' },
          deadlineMs: 120_000,
          session: 'demo',
        },
      ],
      seq: 1,
    },
  },
  listWorkers: { 200: { workers: [WORKER] } },
  drainWorker: { 202: { ...WORKER, draining: true } },
  listQueues: { 200: { queues: [{ pool: 'shell', waiting: 2, active: 8, oldestWaitingMs: 350 }] } },
  listKeys: {
    200: {
      keys: [
        { id: 'agents', origin: 'config', status: 'active', scopes: ['submit', 'read', 'cancel'], lastUsedAt: UNTIL },
        ...(z.globalRegistry.get(ApiKey)?.examples ?? []),
      ],
    },
  },
  getUsage: {
    200: {
      tenantId: 'default',
      rows: [
        {
          at: SINCE,
          agentId: 'coder',
          calls: 240,
          failed: 6,
          denied: 2,
          approvals: 9,
          runMs: 1_830_000,
          waitMs: 9_600,
          outputBytes: 4_812_332,
          cpuMs: 412_500,
          cpuCalls: 131,
        },
      ],
    },
  },
  testPolicy: {
    200: {
      tested: 100,
      changed: [
        {
          callId: CALL_ID,
          tool: 'shell',
          agentId: 'coder',
          sessionId: 'demo',
          preview: '{"command":"make test"}',
          before: { effect: 'allow', reasons: [] },
          after: {
            effect: 'deny',
            reasons: [
              { axis: 'grants', rule: 'availability', effect: 'deny', reason: 'shell is excluded from this agent\'s tools by "shell"' },
            ],
          },
        },
      ],
      skipped: [],
    },
  },
  listWebhooks: {
    200: {
      webhooks: [
        { name: 'chat', host: 'hooks.example.com', types: ['call.approval_requested', 'call.end'], waiting: 1, delivered: 42, dead: 0 },
      ],
    },
  },
  listDeliveries: { 200: { deliveries: z.globalRegistry.get(WebhookDelivery)?.examples ?? [] } },
  whoAmI: { 200: { keyId: 'agents', tenantId: 'default', scopes: ['submit', 'read', 'cancel'], agents: ['coder'] } },
  getDiagnostics: {
    200: {
      version: VERSION,
      node: 'v22.11.0',
      gateway: 'host-1',
      time: UNTIL,
      durability: 'local',
      partitions: 16,
      protocol: 2,
      processes: [{ kind: 'gateway', id: 'host-1', version: VERSION, protocol: 2, oldestCompatible: 2 }],
      redis: {
        server: 'redis',
        version: '7.2.4',
        mode: 'standalone',
        role: 'master',
        replicas: 0,
        appendOnly: true,
        appendFsync: 'always',
        minReplicasToWrite: 1,
        lastWriteOk: true,
        maxmemoryPolicy: 'noeviction',
        maxmemoryBytes: 0,
        usedMemoryBytes: 2_863_680,
        time: UNTIL,
      },
      warnings: [],
    },
  },
  startLogin: REFUSED_LOGIN,
  finishLogin: REFUSED_LOGIN,
  live: { 200: { status: 'ok' } },
  ready: { 200: { status: 'ok' } },
  metrics: { 200: 'toolyard_calls_submitted_total{tool="shell",pool="shell"} 2\n' },
};

/** Data of one server-sent event, for operations that also respond with JSON. */
export const STREAM_EXAMPLES: Readonly<Record<string, unknown>> = { getCallEvents: END, postMcp: ANSWER };

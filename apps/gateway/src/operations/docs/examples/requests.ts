import { END } from './events.js';
import { BATCH_ID, CALL_ID, CURSOR, DIGEST, FINGERPRINT, FOREIGN_WORKER_ID, SCHEDULE_ID, SINCE, UNTIL } from './values.js';

/** Bodies, where the schema has no example of its own. */
export const BODY_EXAMPLES: Readonly<Record<string, unknown>> = {
  addSource: { name: 'tracker', kind: 'mcp', url: 'https://tools.example.com/mcp' },
  acceptSource: { tools: [{ rawName: 'search', digest: DIGEST }] },
  putCallOutput: 'A text that is too large for a frame.',
  postMcp: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'file_read', arguments: { path: 'README.md' } } },
  registerWorker: {
    op: 'hello',
    protocol: 'toolyard-worker/1',
    worker: 'deploys',
    sdk: 'python/1.0',
    tools: [{ name: 'deploy', description: 'Deploys a service.', input: { type: 'object', properties: { service: { type: 'string' } } } }],
  },
  pollWorker: { credit: [{ pool: 'net', n: 4 }], after: 1 },
  sendWorkerMessages: {
    frames: [{ op: 'finish', callId: CALL_ID, fence: 1, wseq: 1, outcome: 'completed', content: [{ type: 'text', text: 'deployed' }] }],
  },
};

/** Of parameters, by their name, and by `collection/{name}` where it means different things. */
export const PARAMETER_EXAMPLES: Readonly<Record<string, unknown>> = {
  'calls/{id}': CALL_ID,
  'batches/{id}': BATCH_ID,
  'sessions/{id}': 'demo',
  'schedules/{id}': SCHEDULE_ID,
  'workers/{id}': FOREIGN_WORKER_ID,
  'sources/{name}': 'tracker',
  'Idempotency-Key': 'turn-17-call-1',
  'Last-Event-ID': END.id,
  'Mcp-Session-Id': '5b1c0a7e-8f7c-4c59-9d58-3b9f0f2f8d11',
  agentId: 'coder',
  batchId: BATCH_ID,
  callId: CALL_ID,
  cursor: CURSOR,
  dialect: 'claude-code',
  errorCode: 'tool_failed',
  fence: 1,
  fingerprint: FINGERPRINT,
  limit: 50,
  outcome: ['failed', 'timed_out'],
  parentCallId: CALL_ID,
  pool: 'shell',
  priority: 'high',
  q: 'make test',
  result: 'error',
  rootCallId: CALL_ID,
  scheduleId: SCHEDULE_ID,
  sessionId: 'demo',
  since: SINCE,
  status: ['queued', 'running'],
  stepMs: 60_000,
  tool: 'shell',
  toolCallId: 'toolu_01A09q90qw90lq917835lq9',
  types: ['call.start', 'call.end'],
  until: UNTIL,
  wait: 10,
  worker: 'deploys',
};

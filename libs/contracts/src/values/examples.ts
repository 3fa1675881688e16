/** Examples of the documents: bodies and their responses. A test parses each by its schema. */

const ID = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const BATCH_ID = '07-01JZ8C6A1B2C3D4E5F6G7H8J9K';
const TIMEOUTS = { queueMs: 3_600_000, runMs: 120_000, totalMs: 3_720_000 };
const SHELL = { tool: 'shell', arguments: { command: 'make test' }, sessionId: 'demo', toolCallId: 'toolu_01A09q90qw90lq917835lq9' };
const ALLOWED = { axis: 'facts', rule: 'permission-mode', effect: 'allow', reason: 'permission mode danger-full-access runs shell' };
const ASKED = { axis: 'facts', rule: 'permission-mode', effect: 'ask', reason: 'permission mode workspace-write asks before shell' };
const OUTPUT = { content: [{ type: 'text', text: 'exit code: 0\n42 tests passed' }], isError: false };
const BASE_COMMAND = {
  id: 'command-base',
  label: 'Base command',
  display: 'make *',
  grants: { allowedCommands: ['^make( .*)?$'] },
};

const call = {
  id: ID,
  ...SHELL,
  source: 'builtin',
  attempt: 0,
  priority: 'normal',
  tenantId: 'default',
  labels: {},
  timeouts: TIMEOUTS,
  submittedAt: '2026-01-31T12:00:00.000Z',
};

export const CALL_EXAMPLES = [
  {
    ...call,
    status: 'ended',
    outcome: 'completed',
    ok: true,
    isError: false,
    attempt: 1,
    result: OUTPUT,
    startedAt: '2026-01-31T12:00:00.004Z',
    endedAt: '2026-01-31T12:00:08.120Z',
    decision: { effect: 'allow', reasons: [ALLOWED] },
  },
  {
    ...call,
    status: 'waiting_approval',
    waiting: {
      reason: 'approval',
      detail: 'Waits for a person to approve it: permission mode workspace-write asks before shell',
      until: '2026-01-31T13:00:00.000Z',
    },
    decision: { effect: 'ask', reasons: [ASKED], trustOptions: [BASE_COMMAND] },
    approval: {
      reasons: ['permission mode workspace-write asks before shell'],
      options: [
        { id: 'allow_once', label: 'Yes', decision: 'allow', scope: 'once' },
        { id: 'allow_always_args', label: 'Always for these arguments', decision: 'allow', scope: 'session-args' },
        { id: 'reject_once', label: 'No', decision: 'deny', scope: 'once' },
      ],
      trustOptions: [BASE_COMMAND],
      digest: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
      requestedAt: '2026-01-31T12:00:00.000Z',
      expiresAt: '2026-01-31T13:00:00.000Z',
    },
  },
];

export const SUBMIT_CALL_EXAMPLES = [
  { tool: 'shell', arguments: { command: 'date' }, sessionId: 'demo' },
  { tool: 'file_read', arguments: '{"path":"README.md"}', priority: 'high', timeouts: { runMs: 5_000 }, labels: { run: '17' } },
];
export const CANCEL_CALL_EXAMPLES = [{ reason: 'no longer needed', graceMs: 5_000 }];
export const DECISION_EXAMPLES = [
  { decision: 'allow', scope: 'once' },
  { decision: 'allow', scope: 'session-args', trustOption: 'command-base' },
  { decision: 'deny', reason: 'not on this branch' },
  { decision: 'allow', digest: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae' },
];
export const INPUT_EXAMPLES = [{ value: 'main' }, { value: { branch: 'main', force: false }, attempt: 1 }, { decline: true }];
export const REPLAY_EXAMPLES = [{}, { arguments: { command: 'make test VERBOSE=1' } }];

export const SUBMIT_BATCH_EXAMPLES = [
  {
    sessionId: 'demo',
    strategy: { type: 'tiered' },
    onFailure: 'isolate',
    calls: [
      { tool: 'file_list', arguments: { path: '.' } },
      { tool: 'shell', arguments: { command: 'date' } },
    ],
  },
];
export const BATCH_EXAMPLES = [
  {
    id: BATCH_ID,
    status: 'running',
    strategy: { type: 'tiered' },
    onFailure: 'isolate',
    tenantId: 'default',
    sessionId: 'demo',
    submittedAt: '2026-01-31T12:00:00.000Z',
    results: [
      {
        index: 0,
        tool: 'file_read',
        toolCallId: 'toolu_1',
        callId: ID,
        status: 'ended',
        outcome: 'completed',
        result: { content: [{ type: 'text', text: '# Demo' }], isError: false },
      },
      { index: 1, tool: 'shell', toolCallId: 'toolu_2', status: 'pending' },
    ],
    steering: [],
  },
];
export const STEER_EXAMPLES = [{ message: 'Leave the tests alone, please.' }];

const NO_PATHS = { read: [], write: [] };
const HOOK = { name: 'audit', on: 'after_end', url: 'https://hooks.example.com/toolyard', match: ['shell'] };

export const PUT_SESSION_EXAMPLES = [
  { posture: { autonomy: 'supervised', permissionMode: 'workspace-write' } },
  { tools: ['file_*', 'shell'], strategy: { type: 'sequential' }, hooks: [HOOK] },
];
export const SESSION_EXAMPLES = [
  {
    id: 'demo',
    tenantId: 'default',
    posture: { autonomy: 'supervised', permissionMode: 'workspace-write' },
    grants: {
      trustedTools: ['file_write'],
      deniedTools: [],
      allowedPaths: NO_PATHS,
      deniedPaths: NO_PATHS,
      allowedCommands: ['^make( .*)?$'],
    },
  },
];

const FAILED_TODAY = { outcome: ['failed', 'timed_out'], tool: 'shell', since: '2026-01-31T00:00:00Z' };
export const BULK_CANCEL_EXAMPLES = [{ filter: { sessionId: 'demo' }, dryRun: true }];
export const BULK_ERASE_EXAMPLES = [{ filter: { sessionId: 'demo' }, dryRun: true, reason: 'request 4711 of the data subject' }];
export const ERASE_CALL_EXAMPLES = [{ reason: 'request 4711 of the data subject' }];
export const ERASURE_EXAMPLES = [
  {
    callId: ID,
    state: 'pending',
    requestedBy: 'apikey:admin',
    requestedAt: '2026-01-31T09:00:00.000Z',
    reason: 'request 4711 of the data subject',
    notReached: ['backups of Redis, of the database and of the archive that were made before'],
  },
];
export const BULK_REPLAY_EXAMPLES = [{ filter: FAILED_TODAY, limit: 100, dryRun: true }];

export const QUOTE_EXAMPLES = [
  { tool: 'shell', valid: true, errors: [], decision: { effect: 'ask', reasons: [ASKED] }, approvalNeeded: true, queueDepth: 3 },
];
export const PROBLEM_EXAMPLES = [
  {
    type: 'urn:toolyard:problem:invalid_arguments',
    title: 'Invalid arguments',
    status: 422,
    detail: "shell: missing 'command' parameter",
    code: 'invalid_arguments',
    instance: 'urn:toolyard:request:01JZ8C5W3Q4X9R7T2M6K8N0P1V',
    callId: ID,
    result: { content: [{ type: 'text', text: "missing 'command' parameter" }], isError: true },
    errors: [{ pointer: '/command', message: 'expected a text; it is missing' }],
  },
];

const CREATED_KEY = {
  id: 'key-01jz8c5w3q4x9r7t2m6k8n0p1v',
  name: 'ci of the web shop',
  origin: 'api',
  status: 'active',
  scopes: ['submit', 'read'],
  tools: ['file_*', 'shell'],
  createdAt: '2026-01-31T12:00:00.000Z',
  createdBy: 'https://login.example.com#ada-1',
  createdByName: 'Ada Example <ada@example.com>',
  expiresAt: '2036-01-31T12:00:00Z',
};
export const CREATE_KEY_EXAMPLES = [
  { name: 'ci of the web shop', scopes: ['submit', 'read'], tools: ['file_*', 'shell'], expiresAt: '2036-01-31T12:00:00Z' },
];
export const ROTATE_KEY_EXAMPLES = [{ overlapMs: 3_600_000 }];
export const KEY_EXAMPLES = [{ ...CREATED_KEY, lastUsedAt: '2026-02-01T07:30:00.000Z' }];
export const ISSUED_KEY_EXAMPLES = [{ ...CREATED_KEY, key: 'sk-toolyard-5dXq0mJrZk3y9s1Tn7Qb2c8VwLf4HgRp6UeAoKiYtNw' }];

export const ADMIN_EVENT_EXAMPLES = [
  {
    specversion: '1.0' as const,
    id: '1.7.4711',
    source: '/gateway/host-1',
    type: 'admin.key_created' as const,
    subject: 'admin/default',
    time: '2026-01-31T12:00:00.000Z',
    datacontenttype: 'application/json' as const,
    dataschema: 'urn:tool-events:admin.key_created:1',
    tenantid: 'default',
    actor: 'apikey:admin',
    data: { target: CREATED_KEY.id, people: ['ada@example.com'], after: { name: CREATED_KEY.name, scopes: CREATED_KEY.scopes } },
  },
];

export const WEBHOOK_MESSAGE_EXAMPLES = [
  {
    type: 'call.approval_requested',
    timestamp: '2026-01-31T12:00:00.000Z',
    data: { callId: ID, actor: 'apikey:ci', call: CALL_EXAMPLES[1], url: 'https://tools.example.com/calls/' + ID },
  },
];
export const WEBHOOK_DELIVERY_EXAMPLES = [
  {
    id: 'evt_1-07-4711',
    type: 'call.end',
    callId: ID,
    tool: 'shell',
    time: '2026-01-31T12:00:08.120Z',
    state: 'waiting',
    attempts: 2,
    nextAttemptAt: '2026-01-31T12:00:33.500Z',
    lastError: 'it answered 503',
  },
];

/** Examples of client frames, by `op`. */
export const CLIENT_FRAME_EXAMPLES = {
  auth: [{ op: 'auth', token: 'the-api-key' }],
  subscribe: [{ op: 'subscribe', id: 1, filter: { sessionId: 'demo', types: ['call.start', 'call.end'] }, batch: true }],
  unsubscribe: [{ op: 'unsubscribe', id: 1 }],
  submit: [{ op: 'submit', id: 'a', call: SHELL, idempotencyKey: 'turn-17-call-1' }],
  cancel: [{ op: 'cancel', id: 2, callId: ID, reason: 'no longer needed' }],
  decide: [{ op: 'decide', id: 3, callId: ID, decision: 'allow', scope: 'once' }],
  input: [{ op: 'input', id: 5, callId: ID, value: 'main' }],
  ping: [{ op: 'ping', id: 4 }],
};

import { ACCEPTED_AT, CALL_ID, DIGEST, ENDED_AT, STARTED_AT, WORKER_ID } from './values.js';

const OF_CALL = { specversion: '1.0', subject: CALL_ID, datacontenttype: 'application/json', tenantid: 'default', tool: 'shell' };
const ARGUMENTS = { command: 'make test' };
const BY_WORKER = { source: `/worker/${WORKER_ID}`, actor: `worker:${WORKER_ID}`, sessionid: 'demo', attempt: 1, fence: 1 };

const SUBMITTED = {
  ...OF_CALL,
  id: '1.7.5',
  type: 'call.submitted',
  time: ACCEPTED_AT,
  dataschema: 'urn:tool-events:call.submitted:1',
  callver: 1,
  attempt: 0,
  fence: 0,
  sessionid: 'demo',
  source: '/gateway/host-1',
  actor: 'apikey:agents',
  data: {
    tool: 'shell',
    arguments: ARGUMENTS,
    source: 'builtin',
    toolVersion: '1adb004b400093c5',
    argumentsDigest: DIGEST,
    tier: 'privileged',
    effect: 'once',
    pool: 'shell',
    priority: 'normal',
    timeouts: { queueMs: 3_600_000, runMs: 120_000, totalMs: 3_720_000 },
    retry: { maxAttempts: 1, backoffMs: 500, maxBackoffMs: 30_000 },
    decision: {
      effect: 'allow',
      reasons: [{ axis: 'risk', rule: 'command-class', effect: 'allow', reason: "the command's risk is low" }],
    },
    labels: {},
  },
};

export const START = {
  ...OF_CALL,
  ...BY_WORKER,
  id: '1.7.6',
  type: 'call.start',
  time: STARTED_AT,
  dataschema: 'urn:tool-events:call.start:1',
  callver: 2,
  data: { tool: 'shell', arguments: ARGUMENTS, worker: WORKER_ID },
};

export const END = {
  ...OF_CALL,
  ...BY_WORKER,
  id: '1.7.7',
  type: 'call.end',
  time: ENDED_AT,
  dataschema: 'urn:tool-events:call.end:1',
  callver: 3,
  data: {
    outcome: 'completed',
    isError: false,
    note: 'exit 0',
    result: { content: [{ type: 'text', text: 'exit code: 0\n42 tests passed' }], isError: false },
    attempts: 1,
    queueMs: 4,
    runMs: 8_116,
    cpuMs: 5_340,
    updates: { count: 0, sha256: 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855' },
  },
};

export const EVENTS = [SUBMITTED, START, END];

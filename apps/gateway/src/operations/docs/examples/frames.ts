import { Call, CLIENT_FRAME_EXAMPLES } from '#contracts';
import { z } from 'zod';
import { ANSWER_EXAMPLES } from './answers.js';
import { END, START } from './events.js';
import { problemExample } from './problems.js';
import { BODY_EXAMPLES } from './requests.js';
import { CALL_ID, CURSOR, TRACEPARENT } from './values.js';

const CALL = z.globalRegistry.get(Call)?.examples?.at(0);
const TEXT = [{ type: 'text', text: 'deployed 3 of 7' }];
const OF_CALL = { callId: CALL_ID, fence: 1 };

const SERVER_FRAMES = {
  ready: { tenantId: 'default', agentId: 'coder' },
  subscribed: { id: 1, cursor: CURSOR },
  unsubscribed: { id: 1 },
  event: { id: 1, event: END, cursor: CURSOR },
  events: { id: 1, events: [START, END], cursor: CURSOR },
  gap: { id: 1, callId: CALL_ID, fromSeq: 4, toSeq: 21, dropped: 18 },
  resync: { id: 1, reason: 'events after the cursor have left Redis', snapshot: [CALL], cursor: CURSOR },
  accepted: { id: 'a', call: CALL },
  ok: { id: 2, call: CALL },
  error: { id: 2, problem: problemExample('forbidden') },
  reconnect: { afterMs: 350, reason: 'the gateway stops' },
  pong: { id: 4 },
};

const WORKER_FRAMES = {
  hello: BODY_EXAMPLES['registerWorker'],
  credit: { pool: 'net', n: 4 },
  started: OF_CALL,
  update: { ...OF_CALL, wseq: 1, content: TEXT },
  progress: { ...OF_CALL, message: 'deploying', done: 3, total: 7 },
  renew: { callIds: [CALL_ID], fences: [1] },
  finish: { ...OF_CALL, wseq: 2, outcome: 'completed', content: [{ type: 'text', text: 'deployed' }] },
  suspend: {
    ...OF_CALL,
    until: 'input',
    prompt: 'Which branch?',
    inputSchema: { type: 'object', properties: { branch: { type: 'string' } } },
  },
  tools: { removed: ['deploy'] },
  drain: {},
  bye: {},
  pong: {},
};

const TO_WORKER_FRAMES = {
  welcome: ANSWER_EXAMPLES['registerWorker']?.[201],
  refused: { problem: problemExample('invalid_request') },
  call: {
    ...OF_CALL,
    attempt: 1,
    tool: 'deploy',
    arguments: { service: 'shop' },
    deadlineMs: 120_000,
    session: 'demo',
    traceparent: TRACEPARENT,
  },
  done: OF_CALL,
  stale: OF_CALL,
  cancel: { ...OF_CALL, reason: 'cancelled', graceMs: 5_000 },
  drain: {},
  ping: {},
};

const named = (side: string, frames: object): [string, object[]][] =>
  Object.entries(frames).map(([op, frame]: [string, object]) => [`${side}.${op}`, [{ op, ...frame }]]);

/** Frames by the name of their message: the side that sends them, and `op`. */
export const FRAME_EXAMPLES: ReadonlyMap<string, readonly object[]> = new Map([
  ...Object.entries(CLIENT_FRAME_EXAMPLES).map(([op, frames]): [string, object[]] => [`client.${op}`, frames]),
  ...named('server', SERVER_FRAMES),
  ...named('worker', WORKER_FRAMES),
  ...named('toWorker', TO_WORKER_FRAMES),
]);

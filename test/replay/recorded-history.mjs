// A call with an event of every type, as the log stores it.
import { foldCall, EventLog, NO_UPDATES, toStoredEvent, UpdatesDigest } from '#event-log';
import { createRedis, keys } from '#redis';
import { startRedisServer } from '../support/redis-server.mjs';

const gateway = { source: '/gateway/gw-1', actor: 'apikey:k1', actorname: 'Ada Example <ada@example.com>' };
const worker = { source: '/worker/w-1', actor: 'worker:w-1' };
const at = '2026-11-30T00:00:00.000Z';
const timeouts = { queueMs: 60_000, runMs: 60_000, totalMs: 120_000 };
const asks = { axis: 'facts', rule: 'posture', effect: 'ask', reason: 'privileged tools ask' };
const trustOptions = [{ id: 'full', label: 'Full command', display: 'make', grants: { allowedCommands: ['make'] } }];

const SUBMITTED = {
  tool: 'shell',
  arguments: { command: 'make\t"all" — ü' },
  source: 'builtin',
  toolVersion: '1',
  argumentsDigest: 'd'.repeat(64),
  tier: 'privileged',
  effect: 'idempotent',
  pool: 'shell',
  priority: 'high',
  timeouts,
  retry: { maxAttempts: 3, backoffMs: 100, maxBackoffMs: 1_000 },
  decision: { effect: 'ask', reasons: [asks], risk: 'high' },
  labels: { colour: 'blue' },
  toolCallId: 'tc-1',
  purpose: 'build',
  batchId: 'b1',
  userId: 'ada',
  idempotencyKey: 'key-1',
};
const META = {
  tenantId: 'acme',
  tool: 'shell',
  agentId: 'bob',
  sessionId: 's1',
  traceparent: `00-${'0a'.repeat(16)}-${'b7'.repeat(8)}-01`,
};
const ERROR = { code: 'tool_failed', message: 'make: no rule', retryable: true };
const CANCELLED = { code: 'cancelled', message: 'Cancelled: enough', retryable: false };

/** Throws when the log refuses one of the transitions. */
async function writeCall(log, callId) {
  let version = 0;
  const done = async (answer) => {
    const given = await answer;
    if (given.code !== 'OK') throw new Error(`the log answered ${JSON.stringify(given)} after version ${version}`);
    ({ version } = given);
    return given;
  };
  const command = (commandId) => ({ by: 'command', version, commandId });
  const hook = (phase, event, run, more) => ({ phase, hook: 'lint', event, run, at, ...more });
  const claim = (attempt) => done(log.claim({ callId, attempt, leaseMs: 60_000, worker: 'w-1', author: worker }));
  const writer = ({ fence }) => {
    let writeSeq = 0;
    return (operation, data, more) =>
      done(log[operation]({ callId, guard: { by: 'worker', fence, writeSeq: ++writeSeq }, data, author: worker, ...more }));
  };

  const question = { reasons: ['privileged tools ask'], digest: 'd1', expiresInMs: 60_000, trustOptions };
  await done(
    log.accept({
      callId,
      meta: META,
      submitted: SUBMITTED,
      author: gateway,
      idempotency: { scopedKey: 's1 key-1', requestSha256: 'e'.repeat(64) },
      hookRuns: [hook('started', 'before', 1), hook('finished', 'before', 1, { verdict: 'allow', tookMs: 2 })],
      followUp: { kind: 'approval', data: question },
    }),
  );
  version = 4;
  const allowed = { decision: 'allow', scope: 'session-args', digest: 'd1', reason: 'fine', trustOption: 'full' };
  await done(log.decideApproval({ callId, guard: command('c-1'), data: allowed, author: gateway }));
  const first = writer(await claim(1));
  const content = [{ type: 'text', text: 'cc a.c\n' }];
  await first('update', { update: 1, content }, { updates: new UpdatesDigest(NO_UPDATES).add(JSON.stringify(content)) });
  await first('progress', { message: 'half', done: 1, total: 2 });
  await first('hook', hook('cached', 'after_update', 1, { verdict: 'allow', tookMs: 0 }));
  await first('turn', {
    turn: 1,
    model: 'm',
    requestSha256: 'aa',
    text: 'é',
    toolCalls: [],
    usage: { inputTokens: 1, outputTokens: 2 },
    tookMs: 3,
  });
  await first('requestInput', { prompt: 'Which?', inputSchema: { type: 'string' }, nextAttempt: 2, expiresInMs: 60_000 });
  await done(log.giveInput({ callId, guard: command('c-2'), data: { request: 1, value: 'main' }, author: gateway }));
  const retry = { reason: 'tool_failed', nextAttempt: 3, delayMs: 0, error: ERROR };
  await writer(await claim(2))('retry', retry, { countsAsFailure: true });
  const last = writer(await claim(3));
  await done(log.requestCancel({ callId, guard: command('c-3'), data: { reason: 'enough', graceMs: 5_000 }, author: gateway }));
  const result = { content: [{ type: 'text', text: 'Cancelled' }], isError: true };
  await last('end', { outcome: 'cancelled', isError: true, error: CANCELLED, result, attempts: 3, stopped: { how: 'stopped', tookMs: 4 } });
}

/** Records the history for `call-history.spec.ts`. */
export async function recordHistory(about) {
  const server = await startRedisServer();
  const redis = createRedis(server.url);
  const log = await EventLog.open(redis, { partitions: 4 });
  try {
    const callId = log.newCallId('acme');
    await writeCall(log, callId);
    const [partition] = callId.split('-');
    const entries = await redis.xrange(keys.log(partition), '-', '+');
    const events = entries.map(([entryId, fields]) => JSON.parse(toStoredEvent(partition, 1, entryId, fields).json));
    return { about, partition, epoch: 1, entries, events, call: foldCall(events) };
  } finally {
    await log.close();
    redis.disconnect();
    await server.stop();
  }
}

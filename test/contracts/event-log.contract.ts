import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { CallEvent, type EndData } from '#contracts';
import { CallStore, EventLog, isApplied, readPendingApprovals, type EventLogOptions, type NewCall, type WorkerGuard } from '#event-log';
import { createRedis, keys, partitionName, partitionNames, type RedisConnection } from '#redis';
import { checkInvariants } from '../support/log-invariants.js';
import { aCall, aSubmission, author, endOf } from '../support/sample-calls.js';

export interface EventLogPlace {
  readonly url: string;
  readonly options: EventLogOptions;
  close(): Promise<void>;
}

/** Contract of every place that holds the log: a single node, a cluster, a master with a replica. */
export function eventLogContract(name: string, open: () => Promise<EventLogPlace>): void {
  describe(`the event log on ${name}`, () => {
    let place: EventLogPlace;
    let redis: RedisConnection;
    let log: EventLog;
    let store: CallStore;

    beforeAll(async () => {
      place = await open();
      redis = createRedis(place.url);
      log = await EventLog.open(redis, place.options);
      store = new CallStore(redis);
    });
    afterAll(async () => {
      expect(await checkInvariants(redis, place.options.partitions)).toEqual([]);
      await log.close();
      redis.disconnect();
      await place.close();
    });

    const submit = async (changes: Partial<NewCall> = {}) => {
      const callId = log.newCallId('acme');
      expect(await log.accept(aCall(callId, changes))).toMatchObject({ code: 'OK' });
      return callId;
    };
    const start = async (callId: string, attempt = 1, leaseMs = 30_000) => {
      const answer = await log.claim({ callId, attempt, leaseMs, worker: 'w1', author });
      if (!('submitted' in answer)) throw new Error(`the claim was answered ${answer.code}`);
      return answer;
    };
    const finish = (callId: string, guard: WorkerGuard, data: EndData = endOf('completed')) => log.end({ callId, guard, data, author });

    it('records a call from its submission over updates to its one End', async () => {
      const callId = await submit({
        submitted: aSubmission({ arguments: { text: 'grüße' } }),
        meta: { tenantId: 'acme', tool: 'echo', agentId: 'bob', sessionId: 's1' },
      });
      expect(await store.read(callId)).toMatchObject({ status: 'queued', waiting: { reason: 'queued' }, attempt: 0 });
      const claimed = await start(callId);
      expect(claimed).toMatchObject({
        attempt: 1,
        fence: 1,
        failures: 0,
        version: 2,
        meta: { agentId: 'bob', sessionId: 's1' },
        submitted: { arguments: { text: 'grüße' } },
      });
      const guard = (writeSeq: number): WorkerGuard => ({ by: 'worker', fence: 1, writeSeq });
      await log.update({ callId, guard: guard(1), data: { update: 1, content: [{ type: 'text', text: 'half' }] }, author });
      await log.progress({ callId, guard: guard(2), data: { done: 1, total: 2 }, author });
      expect(await finish(callId, guard(3))).toMatchObject({ code: 'OK', version: 5 });

      expect(await store.read(callId)).toMatchObject({
        status: 'ended',
        outcome: 'completed',
        attempt: 1,
        result: { content: [{ text: 'done' }] },
      });
      const events = (await store.events(callId)).map(({ json }) => CallEvent.parse(JSON.parse(json)));
      expect(events.map(({ type }) => type)).toEqual(['call.submitted', 'call.start', 'call.update', 'call.progress', 'call.end']);
      expect(events[1]).toMatchObject({ data: { tool: 'echo', arguments: { text: 'grüße' }, worker: 'w1' }, sessionid: 's1', fence: 1 });
      expect(await finish(callId, guard(4))).toEqual({ code: 'ENDED' });
    });

    it('answers a repeated write to the log like the first one, and writes nothing', async () => {
      const callId = await submit();
      const again = aCall(callId);
      expect(await log.accept(again)).toMatchObject({ code: 'REPLAY', version: 1 });
      const { fence } = await start(callId);
      const write = () => log.update({ callId, guard: { by: 'worker', fence, writeSeq: 1 }, data: { update: 1, content: [] }, author });
      const first = await write();
      expect(await write()).toEqual({ ...first, code: 'REPLAY' });
      const cancel = { callId, guard: { by: 'command', version: 3, commandId: 'c1' }, data: { graceMs: 60_000 }, author } as const;
      const requested = await log.requestCancel(cancel);
      expect(requested).toMatchObject({ code: 'OK', version: 4 });
      expect(await log.requestCancel(cancel)).toEqual({ ...requested, code: 'REPLAY' });
      expect(await write()).toEqual({ ...first, code: 'REPLAY' });
      const ended = await finish(callId, { by: 'worker', fence, writeSeq: 2 });
      expect(await finish(callId, { by: 'worker', fence, writeSeq: 2 })).toEqual({ ...ended, code: 'REPLAY' });
      expect((await store.events(callId)).length).toBe(5);
    });

    it('finds the same idempotency key again, with the same request or another', async () => {
      const key = { scopedKey: 'none/order-1', requestSha256: 'a1' };
      const rootId = 'k:order-1';
      const accept = (idempotency: NonNullable<NewCall['idempotency']>) => {
        const callId = log.newCallId('acme', rootId);
        return log.accept(aCall(callId, { idempotency })).then((answer) => ({ callId, answer }));
      };
      const [first, second] = await Promise.all([accept(key), accept(key)]);
      expect(first.answer.code).toBe('OK');
      expect(second.answer).toEqual({ code: 'IDEM', callId: first.callId });
      expect((await accept({ ...key, requestSha256: 'b2' })).answer).toEqual({ code: 'IDEM_MISMATCH', callId: first.callId });
      expect(await store.read(second.callId)).toBeUndefined();
    });

    it('refuses one transition of a batch and applies the others', async () => {
      const [one, two, three] = await Promise.all([submit(), submit(), submit()]);
      const answers = await Promise.all([
        start(one),
        log.claim({ callId: two, attempt: 2, leaseMs: 1, worker: 'w1', author }),
        start(three),
      ]);
      expect(answers.map(({ code }) => code)).toEqual(['OK', 'CONFLICT', 'OK']);
    });

    it('gives an attempt to one of many concurrent workers', async () => {
      const callId = await submit();
      const answers = await Promise.all(
        Array.from({ length: 20 }, () => log.claim({ callId, attempt: 1, leaseMs: 30_000, worker: 'w', author })),
      );
      expect(answers.filter(isApplied)).toHaveLength(1);
      expect(answers.filter(({ code }) => code === 'BAD_TRANSITION')).toHaveLength(19);
    });

    it('rejects a fenced-off worker after a retry', async () => {
      const callId = await submit();
      const { fence } = await start(callId, 1, 0);
      const lost = await log.retry({
        callId,
        guard: { by: 'reconciler', fence },
        data: { reason: 'worker_lost', nextAttempt: 2, delayMs: 0 },
        countsAsFailure: true,
        author,
      });
      expect(lost.code).toBe('OK');
      expect(await finish(callId, { by: 'worker', fence, writeSeq: 1 })).toMatchObject({ code: 'FENCED' });
      expect(await start(callId, 2)).toMatchObject({ attempt: 2, failures: 1 });
    });

    it('allows the reconciler to act only when the timer is due', async () => {
      const callId = await submit();
      const { fence } = await start(callId);
      const guard = { by: 'reconciler', fence } as const;
      expect(await log.end({ callId, guard, data: endOf('unknown'), author })).toMatchObject({ code: 'NOT_DUE' });
      expect(await log.renew({ callId, fence, leaseMs: 0 })).toEqual({ code: 'OK', cancelRequested: false });
      const { due } = await store.listDue([callId.slice(0, callId.indexOf('-'))], await store.now(), 1_000);
      expect(due.map((found) => found.callId)).toContain(callId);
      expect(await log.end({ callId, guard, data: endOf('unknown'), author })).toMatchObject({ code: 'OK' });
    });

    it('notifies workers of a cancel by pub/sub and by the renewal', async () => {
      const callId = await submit();
      const { fence } = await start(callId);
      const subscriber = createRedis(place.url, { role: 'subscriber' });
      const heard = new Promise((resolve) => subscriber.on('message', (_channel, message) => message === callId && resolve(message)));
      await subscriber.subscribe(keys.cancelChannel());
      await log.requestCancel({ callId, guard: { by: 'command', version: 2, commandId: 'c' }, data: { graceMs: 60_000 }, author });
      expect(await heard).toBe(callId);
      expect(await log.renew({ callId, fence, leaseMs: 30_000 })).toEqual({ code: 'OK', cancelRequested: true });
      subscriber.disconnect();
      await finish(callId, { by: 'worker', fence, writeSeq: 1 }, endOf('cancelled'));
    });

    it('queues an approved call and ends a denied one', async () => {
      const then: NewCall['followUp'] = { kind: 'approval', data: { reasons: ['writes files'], digest: 'dig', expiresInMs: 60_000 } };
      const [allowed, denied] = await Promise.all([submit({ followUp: then }), submit({ followUp: then })]);
      expect(await store.read(allowed)).toMatchObject({ status: 'waiting_approval', waiting: { reason: 'approval' } });
      expect(await log.claim({ callId: allowed, attempt: 1, leaseMs: 1, worker: 'w', author })).toEqual({
        code: 'BAD_TRANSITION',
        status: 'waiting_approval',
      });
      const guard = { by: 'command', version: 2, commandId: 'd' } as const;
      const data = { scope: 'once', digest: 'dig' } as const;
      expect(
        await log.decideApproval({ callId: allowed, guard, data: { ...data, digest: 'other', decision: 'allow' }, author }),
      ).toMatchObject({ code: 'CONFLICT' });
      expect(await log.decideApproval({ callId: allowed, guard, data: { ...data, decision: 'allow' }, author })).toMatchObject({
        code: 'OK',
        version: 3,
      });
      expect(
        await log.decideApproval({ callId: denied, guard, data: { ...data, decision: 'deny' }, end: endOf('denied'), author }),
      ).toMatchObject({ code: 'OK', version: 4 });
      expect(await store.readMany([allowed, denied])).toMatchObject([{ status: 'queued' }, { status: 'ended', outcome: 'denied' }]);
    });

    it('gives the worker the arguments edited by the approver in every attempt, and shows them', async () => {
      const submitted = aSubmission({ argumentsRedacted: true, files: { denials: 'of the submission' } });
      const question = { reasons: ['writes files'], digest: 'dig', expiresInMs: 60_000 };
      const callId = await submit({ submitted, followUp: { kind: 'approval', data: question } });
      const edited = { arguments: { text: 'edited' }, argumentsDigest: 'edited-dig', changes: [{ pointer: '/text', after: '"edited"' }] };
      const data = { decision: 'allow' as const, scope: 'once' as const, digest: 'dig', edited };
      const guard = { by: 'command', version: 2, commandId: 'edit' } as const;
      expect(await log.decideApproval({ callId, guard, data, author })).toMatchObject({ code: 'OK' });
      expect(await log.decideApproval({ callId, guard: { ...guard, commandId: 'late' }, data, author })).toMatchObject({
        code: 'CONFLICT',
      });
      const first = await start(callId);
      const { submitted: runs } = first;
      expect(runs).toMatchObject({ arguments: { text: 'edited' }, argumentsDigest: 'edited-dig', argumentsEdited: true });
      expect([runs.argumentsRedacted, runs.files]).toEqual([undefined, undefined]);
      const retried = { reason: 'worker_drained', nextAttempt: 2, delayMs: 0 } as const;
      await log.retry({ callId, guard: { by: 'worker', fence: first.fence, writeSeq: 1 }, data: retried, countsAsFailure: false, author });
      expect((await start(callId, 2)).submitted).toEqual(runs);
      const call = await store.read(callId);
      expect(call).toMatchObject({ arguments: { text: 'edited' }, approval: { decided: { edited: { changes: edited.changes } } } });
      expect(call?.argumentsRedacted).toBeUndefined();
    });

    it('counts calls that wait for a person until they are allowed, cancelled or due', async () => {
      const pending = async () => {
        const names = partitionNames(place.options.partitions);
        return (await readPendingApprovals(redis, store, names)).waiting;
      };
      const before = await pending();
      const question = (expiresInMs: number): Partial<NewCall> => ({
        followUp: { kind: 'approval', data: { reasons: ['writes files'], digest: 'dig', expiresInMs } },
      });
      const allowed = await submit(question(60_000));
      const cancelled = await submit(question(60_000));
      const expired = await submit(question(0));
      expect(await pending()).toBe(before + 3);
      const guard = { by: 'command', version: 2, commandId: 'd' } as const;
      await log.decideApproval({ callId: allowed, guard, data: { decision: 'allow', scope: 'once', digest: 'dig' }, author });
      expect(await pending()).toBe(before + 2);
      await log.end({ callId: cancelled, guard, data: endOf('cancelled'), author });
      await log.end({ callId: expired, guard: { by: 'reconciler', fence: 0 }, data: endOf('timed_out'), author });
      expect(await pending()).toBe(before);
    });

    it('stores large arguments beside the log', async () => {
      const text = 'ü'.repeat(20_000);
      const submitted = aSubmission({ argumentsRef: { ref: 'arguments', sha256: 'x', bytes: 40_011, preview: '{"text":"ü' } });
      delete submitted.arguments;
      const callId = await submit({ submitted, argumentsBlob: JSON.stringify({ text }) });
      expect(await store.read(callId)).toMatchObject({ arguments: { text } });
      expect((await start(callId)).submitted.argumentsRef).toBeDefined();
      const startEvent = (await store.events(callId, { afterSeq: 0 }))[1];
      expect(JSON.parse(startEvent?.json ?? '{}').data).toEqual({ tool: 'echo', worker: 'w1' });
    });

    it('carries many calls at once, in runs that stay within their limits, and every one ends once', async () => {
      const outcome = async (index: number) => {
        const callId = await submit({ submitted: aSubmission({ arguments: { text: 'x'.repeat(index % 700) } }) });
        const { fence } = await start(callId);
        await Promise.all(
          [1, 2].map((writeSeq) =>
            log.update({ callId, guard: { by: 'worker', fence, writeSeq }, data: { update: writeSeq, content: [] }, author }),
          ),
        );
        return (await finish(callId, { by: 'worker', fence, writeSeq: 3 })).code;
      };
      const outcomes = await Promise.all(Array.from({ length: 1_500 }, (_, index) => outcome(index)));
      expect(new Set(outcomes)).toEqual(new Set(['OK']));
      expect(await checkInvariants(redis, place.options.partitions)).toEqual([]);
    });

    it('refuses a transition that is too large to send', async () => {
      const submitted = aSubmission({ arguments: { text: 'x'.repeat(300_000) } });
      await expect(log.accept(aCall(log.newCallId('acme'), { submitted }))).rejects.toThrow(/blob store/);
    });

    it('continues the log after Redis has lost its scripts', async () => {
      if (redis.isCluster) return;
      await redis.script('FLUSH');
      await start(await submit());
    });

    it('refuses to open the log with another number of partitions, with instructions', async () => {
      const { partitions } = place.options;
      await expect(EventLog.open(redis, { partitions: partitions + 1 })).rejects.toThrow(`set PARTITIONS=${partitions}`);
      const another = await EventLog.open(place.url, { partitions });
      await another.close();
    });

    it('spreads calls over all partitions, and stores those of one root together', () => {
      const { partitions } = place.options;
      const spread = new Set(Array.from({ length: 500 }, () => log.newCallId('acme').slice(0, 2)));
      expect(spread.size).toBe(partitions);
      expect([...spread]).toContain(partitionName(partitions - 1));
      const rooted = new Set(Array.from({ length: 50 }, () => log.newCallId('acme', 's1').slice(0, 2)));
      expect(rooted.size).toBe(1);
    });
  });
}

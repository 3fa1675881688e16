import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { Pool, WorkerCall, WorkerFrame, WorkerServerFrame } from '#contracts';
import { WorkerSession, type SessionEffect } from './worker-session.js';

const ID = '01-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const OTHER = '01-01JZ8C5W3Q4X9R7T2M6K8N0P1W';

const call = (callId = ID, fence = 1): WorkerCall => ({
  op: 'call',
  callId,
  fence,
  attempt: 1,
  tool: 'add',
  arguments: {},
  deadlineMs: 1000,
});
const finish = (callId = ID, fence = 1, wseq = 1): WorkerFrame => ({
  op: 'finish',
  callId,
  fence,
  wseq,
  outcome: 'completed',
  content: [],
});
const sent = (effects: readonly SessionEffect[]): WorkerServerFrame[] => effects.flatMap((it) => (it.kind === 'send' ? [it.frame] : []));

function running(): WorkerSession {
  const session = new WorkerSession();
  session.receive({ op: 'credit', pool: 'net', n: 1 });
  session.assign(call(), 'net');
  return session;
}

describe('a session of a foreign worker', () => {
  it('acknowledges finish of a foreign worker when the attempt is written, and each repetition the same way', () => {
    const session = running();
    expect(session.receive(finish())).toEqual([{ kind: 'call', frame: finish() }]);
    expect(session.receive(finish())).toEqual([]);
    const done = { op: 'done', callId: ID, fence: 1 };
    expect(sent(session.settle(ID, 1, 'done'))).toEqual([done]);
    expect(sent(session.receive(finish()))).toEqual([done]);
  });

  it('answers a frame with another fence with stale, and changes nothing', () => {
    const session = running();
    expect(sent(session.receive(finish(ID, 2)))).toEqual([{ op: 'stale', callId: ID, fence: 2 }]);
    expect(session.receive(finish())).toHaveLength(1);
  });

  it('drops a repeated update of a foreign worker', () => {
    const session = running();
    const update: WorkerFrame = { op: 'update', callId: ID, fence: 1, wseq: 1, content: [] };
    expect(session.receive(update)).toHaveLength(1);
    expect(session.receive(update)).toEqual([]);
  });

  it('passes on calls that a session does not have, of a worker that connected again', () => {
    const session = new WorkerSession();
    expect(session.receive({ op: 'renew', callIds: [OTHER], fences: [3] })).toEqual([{ kind: 'unknown', callId: OTHER, fence: 3 }]);
    expect(session.receive({ op: 'renew', callIds: [OTHER], fences: [3] })).toEqual([]);
    session.attach(OTHER, 3, 'net');
    expect(session.receive({ op: 'renew', callIds: [OTHER], fences: [3] })).toEqual([{ kind: 'renewed', callId: OTHER, fence: 3 }]);
  });

  it('buffers frames about a call of an earlier connection until its owner is known', () => {
    const update: WorkerFrame = { op: 'update', callId: ID, fence: 1, wseq: 1, content: [] };
    const found = new WorkerSession();
    expect(found.receive(update)).toEqual([{ kind: 'unknown', callId: ID, fence: 1 }]);
    expect(found.receive(finish(ID, 1, 2))).toEqual([]);
    expect(found.attach(ID, 1, 'net')).toEqual([
      { kind: 'call', frame: update },
      { kind: 'call', frame: finish(ID, 1, 2) },
    ]);
    const ended = new WorkerSession();
    ended.receive(update);
    ended.receive(finish(ID, 1, 2));
    expect(sent(ended.answer(ID, 1, 'done'))).toEqual([{ op: 'done', callId: ID, fence: 1 }]);
    expect(sent(ended.receive(finish(ID, 1, 2)))).toEqual([{ op: 'done', callId: ID, fence: 1 }]);
    const unknown = new WorkerSession();
    unknown.receive(update);
    unknown.forget(ID, 1);
    expect(unknown.receive(update)).toHaveLength(1);
  });

  it('refuses frames about more lost calls than a session buffers', () => {
    const session = new WorkerSession();
    const answers = Array.from({ length: 1_001 }, (_unused, n) => session.receive(finish(ID, n + 1)));
    expect(answers.filter(([effect]) => effect?.kind === 'unknown')).toHaveLength(1_000);
    expect(sent(answers.at(-1) ?? [])).toMatchObject([{ op: 'refused', problem: { code: 'overloaded' } }]);
  });

  it('refuses a suspension without a time or a reason without ending the call; one until input ends the attempt', () => {
    const session = running();
    const [frame] = sent(session.receive({ op: 'suspend', callId: ID, fence: 1 }));
    expect(frame).toMatchObject({ op: 'refused', callId: ID, problem: { code: 'invalid_request' } });
    const suspend: WorkerFrame = { op: 'suspend', callId: ID, fence: 1, until: 'input', prompt: 'Which?', state: { step: 1 } };
    expect(session.receive(suspend)).toEqual([{ kind: 'call', frame: suspend }]);
    expect(session.receive(finish())).toEqual([]);
  });

  it('sends a foreign worker no more calls than its credit of the pool, and none during a drain', () => {
    const step = fc.oneof(
      fc.record({ do: fc.constant('credit' as const), pool: fc.constantFrom<Pool>('net', 'read'), n: fc.integer({ min: 1, max: 5 }) }),
      fc.record({ do: fc.constant('assign' as const), pool: fc.constantFrom<Pool>('net', 'read') }),
      fc.record({ do: fc.constant('finish' as const) }),
      fc.record({ do: fc.constant('drain' as const) }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const session = new WorkerSession();
        const granted = new Map<Pool, number>();
        const given = new Map<Pool, number>();
        let fence = 0;
        let drained = false;
        for (const it of steps) {
          if (it.do === 'credit') {
            session.receive({ op: 'credit', pool: it.pool, n: it.n });
            if (!drained) granted.set(it.pool, (granted.get(it.pool) ?? 0) + it.n);
          } else if (it.do === 'assign') {
            const before = session.creditOf(it.pool);
            if (before === 0) expect(() => session.assign(call(ID, ++fence), it.pool)).toThrow('no credit');
            else {
              expect(drained).toBe(false);
              session.assign(call(ID, ++fence), it.pool);
              given.set(it.pool, (given.get(it.pool) ?? 0) + 1);
            }
          } else if (it.do === 'finish') session.settle(ID, fence, 'done');
          else {
            session.receive({ op: 'drain' });
            drained = true;
          }
          for (const pool of ['net', 'read'] as const) expect(given.get(pool) ?? 0).toBeLessThanOrEqual(granted.get(pool) ?? 0);
        }
      }),
    );
  });

  it('ignores every frame with a wrong fence, except to answer stale', () => {
    const wrong = fc
      .integer({ min: 2, max: 9 })
      .chain((fence) =>
        fc.constantFrom<WorkerFrame>(
          { op: 'started', callId: ID, fence },
          { op: 'progress', callId: ID, fence, done: 1 },
          { op: 'update', callId: ID, fence, wseq: 1, content: [] },
          { op: 'suspend', callId: ID, fence, resumeInMs: 1 },
          finish(ID, fence),
          { op: 'renew', callIds: [ID], fences: [fence] },
        ),
      );
    fc.assert(
      fc.property(fc.array(wrong, { maxLength: 20 }), (frames) => {
        const session = running();
        for (const frame of frames) {
          const fence = 'fence' in frame ? frame.fence : frame.op === 'renew' ? frame.fences[0] : 0;
          expect(session.receive(frame)).toEqual([{ kind: 'send', frame: { op: 'stale', callId: ID, fence } }]);
        }
        expect(session.receive(finish())).toEqual([{ kind: 'call', frame: finish() }]);
      }),
    );
  });
});

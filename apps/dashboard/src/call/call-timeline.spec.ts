import { describe, expect, it } from '@jest/globals';
import { CallEvent } from '#contracts';
import { aSubmission } from '../../../../test/support/sample-calls.js';
import { buildTimeline } from './call-timeline.js';

const BEGIN = Date.parse('2026-01-01T00:00:00.000Z');

/** Each event a second after the one before. */
function eventsOf(...steps: readonly (readonly [type: CallEvent['type'], attempt: number, data: object])[]): CallEvent[] {
  return steps.map(([type, attempt, data], index) =>
    CallEvent.parse({
      specversion: '1.0',
      id: `1.7.${index + 1}`,
      source: '/test',
      type,
      subject: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V',
      time: new Date(BEGIN + index * 1000).toISOString(),
      datacontenttype: 'application/json',
      dataschema: 'urn:test',
      tenantid: 'acme',
      tool: 'echo',
      callver: index + 1,
      attempt,
      fence: attempt,
      actor: 'test',
      data,
    }),
  );
}

const submitted = (effect: 'allow' | 'deny') => ['call.submitted', 0, aSubmission({ decision: { effect, reasons: [] } })] as const;
const start = (attempt: number) => ['call.start', attempt, { tool: 'echo', worker: 'w1' }] as const;

describe('the timeline of a call', () => {
  it('shows no waiting time of a call that was refused at admission', () => {
    const error = { code: 'invalid_arguments', message: 'no', retryable: false };
    const story = buildTimeline(eventsOf(submitted('deny'), ['call.end', 0, { outcome: 'failed', attempts: 0, error }]));
    expect(story.segments).toEqual([]);
    expect(story.entries.map(({ title }) => title)).toEqual(['Submitted', 'Failed']);
  });

  it('shows a hook run as one entry with its verdict, time and reason, and marks a cached one', () => {
    const hook = (phase: string, run: number, more: object = {}) =>
      ['call.hook', 0, { phase, hook: 'lint', event: 'before', run, at: new Date(BEGIN).toISOString(), ...more }] as const;
    const story = buildTimeline(
      eventsOf(
        submitted('deny'),
        hook('started', 1),
        hook('finished', 1, { verdict: 'deny', reason: 'no tests', tookMs: 20 }),
        hook('cached', 2, { verdict: 'allow', tookMs: 0 }),
        hook('started', 3),
      ),
    );
    expect(story.entries.slice(1).map(({ title, detail }) => [title, detail])).toEqual([
      ['Hook lint denied', 'before the call · 20 ms · no tests'],
      ['Hook lint allowed', 'before the call · from the cache'],
      ['Hook lint runs', 'before the call'],
    ]);
  });

  it('names every gap: backoff after a failure, suspension, and queueing after them', () => {
    const retry = (reason: string, attempt: number, delayMs: number) =>
      ['call.retry', attempt, { reason, delayMs, nextAttempt: attempt + 1 }] as const;
    const events = eventsOf(submitted('allow'), start(1), retry('tool_failed', 1, 400), start(2), retry('suspended', 2, 1000), start(3), [
      'call.end',
      3,
      { outcome: 'completed', attempts: 3 },
    ]);
    expect(buildTimeline(events).segments.map(({ kind, from, to }) => [kind, from - BEGIN, (to ?? Number.NaN) - from])).toEqual([
      ['queued', 0, 1000],
      ['running', 1000, 1000],
      ['backoff', 2000, 400],
      ['queued', 2400, 600],
      ['running', 3000, 1000],
      ['suspended', 4000, 1000],
      ['running', 5000, 1000],
    ]);
  });
});

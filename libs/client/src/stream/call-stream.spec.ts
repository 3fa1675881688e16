import { describe, expect, it } from '@jest/globals';
import type { CallEvent } from '#contracts';
import { aSubmission } from '../../../../test/support/sample-calls.js';
import { streamCall } from './call-stream.js';
import { readEvents } from './server-frame.js';
import type { WatchItem } from './watch.js';

const CALL = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const envelope = (callver: number, type: string, data: object) => ({
  specversion: '1.0',
  id: `1.7.${callver}`,
  source: '/test',
  type,
  subject: CALL,
  time: '2026-01-01T00:00:00.000Z',
  datacontenttype: 'application/json',
  dataschema: 'urn:test',
  tenantid: 'acme',
  tool: 'echo',
  callver,
  attempt: 0,
  fence: 0,
  actor: 'test',
  data,
});
const LOG = [
  envelope(1, 'call.submitted', aSubmission()),
  envelope(2, 'call.of_a_newer_version', { anything: 1 }),
  envelope(3, 'call.start', { tool: 'echo', worker: 'w1' }),
  envelope(4, 'call.end', { outcome: 'completed', attempts: 1 }),
];

describe('streamCall', () => {
  it.each([[undefined], ['1.7.1']])('skips events of types that are unknown to this version, from cursor %s', async (cursor) => {
    const events = async () => readEvents(LOG);
    // Simulates a watch, which drops events of unknown types.
    async function* watch(): AsyncGenerator<WatchItem, void, undefined> {
      for (const { event } of readEvents(LOG)) if (event) yield { kind: 'event', event, cursor: event.id };
    }
    const seen: CallEvent[] = [];
    for await (const event of streamCall(CALL, { watch, events }, { cursor })) seen.push(event);
    expect(seen.map(({ callver }) => callver)).toEqual(cursor === undefined ? [1, 3, 4] : [3, 4]);
  });
});

import { expect, it } from '@jest/globals';
import type { EventHub, StoredEvent } from '#event-log';
import { BatchWatches, TextBudget } from './batch-watches.js';

const DATA: Readonly<Record<string, object>> = { 'call.submitted': { tool: 'echo', decision: {} }, 'call.end': { outcome: 'completed' } };
const eventOf = (type: string) =>
  ({ type, size: 100, json: JSON.stringify({ type, subject: '00-1', data: DATA[type] ?? {} }) }) as unknown as StoredEvent;

function hubOf(...types: string[]) {
  const events = types.map(eventOf);
  return { watch: () => ({ ended: Promise.resolve(events), cancel: () => {} }) } as unknown as Pick<EventHub, 'watch'>;
}

async function watched(textBudget: TextBudget | undefined, ...types: string[]) {
  const ends: unknown[] = [];
  const watches = new BatchWatches(hubOf(...types), textBudget, (_callId, end) => ends.push(end));
  watches.add('00-1');
  await new Promise(setImmediate);
  return { watches, ends };
}

it('concludes from the events whether a call ran, and nothing without its first event', async () => {
  expect((await watched(undefined, 'call.submitted', 'call.start', 'call.end')).ends).toEqual([{ notStarted: false }]);
  expect((await watched(undefined, 'call.submitted', 'call.end')).ends).toEqual([{ notStarted: true }]);
  expect((await watched(undefined, 'call.end')).ends).toEqual([undefined]);
});

it('caches events of a batch only while a client waits, within a common limit, and frees them', async () => {
  const room = new TextBudget(250);
  expect(room.take(250)).toBe(true);
  room.giveBack(250);
  const { watches } = await watched(room, 'call.submitted', 'call.update', 'call.end');
  expect(room.take(100)).toBe(false);
  expect(watches.callOf('00-1')).toMatchObject({ id: '00-1', tool: 'echo', status: 'ended', outcome: 'completed' });
  const other = await watched(room, 'call.submitted', 'call.end');
  expect(other.watches.callOf('00-1')).toBeUndefined();
  watches.forget();
  expect(watches.callOf('00-1')).toBeUndefined();
  expect(room.take(250)).toBe(true);
});

import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { CALL_EVENT_TYPES, CallEvent, type Call } from '#contracts';
import { foldCall, parseEntry, toStoredEvent, upcastEvent, type StreamEntry } from '#event-log';
import { checkCall } from '../support/log-invariants.js';

interface Recording {
  readonly partition: string;
  readonly epoch: number;
  readonly entries: readonly StreamEntry[];
  readonly events: readonly CallEvent[];
  readonly call: Call;
}

/** Types of events that are younger than the recordings. */
const YOUNGER: readonly string[] = [];

/** A failure here means that logs written before cannot be read any more: write an upcaster, never a new recording. */
describe.each([3])('the log as format %i wrote it', (format) => {
  const recording: Recording = JSON.parse(readFileSync(new URL(`./call-history.v${format}.json`, import.meta.url), 'utf8'));
  const stored = recording.entries.map(
    ([entryId, fields]) => toStoredEvent(recording.partition, recording.epoch, entryId, fields)?.json ?? '',
  );

  it('contains every type of event of its time in the recorded log', () => {
    const types = CALL_EVENT_TYPES.filter((type) => !YOUNGER.includes(type));
    expect(new Set(recording.events.map(({ type }) => type))).toEqual(new Set(types));
  });

  it.each(recording.events.map((event, index) => [event.type, index] as const))(
    'reads %s of an older format of the log (event %i)',
    (_type, index) => {
      expect(JSON.parse(stored[index] ?? '')).toEqual(recording.events[index]);
      expect(CallEvent.parse(upcastEvent(stored[index] ?? ''))).toEqual(recording.events[index]);
      const [entryId, fields] = recording.entries[index] ?? ['', []];
      expect(parseEntry(recording.partition, recording.epoch, entryId, fields)).toEqual(recording.events[index]);
    },
  );

  it('folds a recorded log to the same call, through the states of the same machine', () => {
    const events = stored.map(upcastEvent);
    // Additional fields from later versions of the fold are allowed.
    expect(foldCall(events)).toMatchObject(recording.call);
    expect(checkCall(recording.call.id, events, { atRest: true })).toEqual([]);
  });

  it('skips a type of event in a log that it does not know', () => {
    const [[entryId, fields] = ['', []]] = recording.entries;
    const unknown = fields.map((value) => value.replace(/(^| )call\.submitted/, '$1call.submitted:2'));
    expect(toStoredEvent(recording.partition, 1, entryId, unknown)).toBeUndefined();
  });
});

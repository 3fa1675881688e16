import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { openArchive, sealSegment, storeSegment, verifyArchive, type ArchiveStore, type Fault, type Manifest } from '#archive';
import { sampleCallId, sampleEvents } from '../testing/archive-events.js';
import type { SealedEvent } from '../segment/event-lines.js';

const SECOND = { name: 'segments/p00/g1/0000000000000012', events: () => sampleEvents('00', 7, 12) };

/** Archive with valid hashes, as an archiving process could have made it. */
describe('an archive whose files fit their manifests', () => {
  let folder: string;
  let store: ArchiveStore;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'generation-'));
    store = await openArchive(`file:${folder}`);
  });
  afterEach(() => rm(folder, { recursive: true }));

  const seal = (events: readonly SealedEvent[], previous?: Manifest) =>
    storeSegment(store, sealSegment({ partition: '00', generation: 1, epoch: 1, previous, events }));
  const faults = async () => {
    const found: Fault[] = [];
    await verifyArchive({ store, report: (fault) => found.push(fault) });
    return found;
  };
  /** Events of the second segment with a word of one of them replaced. */
  const changed = (line: number, from: string, to: string) =>
    SECOND.events().map((event, index) => (index === line - 1 ? { ...event, json: event.json.replace(from, to) } : event));

  it('finds no fault in an archive whose files match their manifests', async () => {
    await seal(SECOND.events(), await seal(sampleEvents('00', 1, 6)));
    expect(await faults()).toEqual([]);
  });

  it.each([
    [
      'an event of a call after its End',
      changed(1, sampleCallId('00', 2), sampleCallId('00', 1)),
      { line: 1, fault: `is the event call.submitted of call ${sampleCallId('00', 1)} after its End` },
    ],
    [
      'a second End of a call',
      changed(6, sampleCallId('00', 3), sampleCallId('00', 2)),
      { line: 6, fault: `is the event call.end of call ${sampleCallId('00', 2)} after its End` },
    ],
    [
      'a version of a call that was left out',
      changed(2, '"callver":2', '"callver":3'),
      { line: 2, fault: `has version 3 of call ${sampleCallId('00', 2)}, expected 2` },
    ],
    [
      'a call without its submission',
      changed(1, '"callver":1', '"callver":2'),
      { line: 1, fault: `has version 2 of call ${sampleCallId('00', 2)}, expected 1` },
    ],
  ])('reports %s in an archive, with the line', async (_what, events, fault) => {
    await seal(events, await seal(sampleEvents('00', 1, 6)));
    expect(await faults()).toContainEqual({ file: `${SECOND.name}.jsonl.gz`, ...fault });
  });

  it('reports a segment that continues another chain', async () => {
    const first = await seal(sampleEvents('00', 1, 6));
    await seal(SECOND.events(), { ...first, chain: 'ab'.repeat(32) });
    expect(await faults()).toContainEqual({ file: `${SECOND.name}.json`, fault: 'its hash chain does not continue the one before' });
  });

  it('reports a segment whose tree differs from that of all events up to it', async () => {
    const first = await seal(sampleEvents('00', 1, 6));
    const edge = first.tree.edge.map(() => 'ab'.repeat(32));
    await seal(SECOND.events(), { ...first, tree: { ...first.tree, edge } });
    expect(await faults()).toContainEqual({ file: `${SECOND.name}.json`, fault: 'its tree does not follow from the events up to it' });
  });

  it('reports missing events between two segments', async () => {
    const first = await seal(sampleEvents('00', 1, 6));
    const left = { ...first, toSeq: 9, tree: { ...first.tree, size: 9 } };
    await seal(sampleEvents('00', 10, 12), left);
    expect(await faults()).toContainEqual({ file: `${SECOND.name}.json`, fault: 'begins with event 10, but the one before ends with 6' });
  });
});

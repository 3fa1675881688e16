import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { openArchive } from '#archive';
import { fillPartition } from '../../../archive/src/testing/archive-events.js';
import { ArchivedLog } from './archived-log.js';

it('reads more segments at once than its memory holds', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'segment-cache-'));
  try {
    const store = await openArchive(`file:${folder}`);
    const SEGMENTS = 40;
    await fillPartition(store, { partition: '00', toSeq: 3 * SEGMENTS, size: 3 });
    const log = new ArchivedLog(store);
    const wanted = Array.from({ length: SEGMENTS }, (_, index) => 3 * index + 2);
    const read = await Promise.all(wanted.map((seq) => log.range('00', seq, seq, 1)));
    expect(read.map(([event]) => event?.seq)).toEqual(wanted);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

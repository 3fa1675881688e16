import { SimpleGrid } from '@mantine/core';
import { bytesText } from '../components/bytes.js';
import { durationText } from '../components/duration.js';
import { Tile } from '../components/tile.js';
import type { Sums } from './usage-sums.js';

/** The sums of all. */
export function UsageTiles({ total }: { readonly total: Sums }) {
  const { calls, failed, denied, approvals, runMs, waitMs, cpuMs, cpuCalls, outputBytes } = total;
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }} spacing="sm" mb="md">
      <Tile
        name="Calls"
        value={calls.toLocaleString()}
        note={`${denied.toLocaleString()} denied, ${approvals.toLocaleString()} asked a person`}
      />
      <Tile name="Failures" value={failed.toLocaleString()} note={`${shareText(failed, calls)} of the calls`} />
      <Tile name="Waiting time" value={durationText(waitMs)} note="for a worker; not for people" />
      <Tile name="Run time" value={durationText(runMs)} note="of the last attempts" />
      <Tile
        name="CPU time"
        value={cpuMs === undefined ? 'unknown' : durationText(cpuMs)}
        note={`known of ${cpuCalls.toLocaleString()} ${cpuCalls === 1 ? 'call' : 'calls'}`}
      />
      <Tile name="Output" value={bytesText(outputBytes)} />
    </SimpleGrid>
  );
}

/** `0 %`, `0.4 %`, `12 %`. */
export function shareText(part: number, whole: number): string {
  const percent = whole === 0 ? 0 : (100 * part) / whole;
  return `${percent === 0 || percent >= 9.95 ? Math.round(percent) : percent.toFixed(1)} %`;
}

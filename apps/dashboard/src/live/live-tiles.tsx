import { SimpleGrid } from '@mantine/core';
import { durationText } from '../components/duration.js';
import { useUnlessPaused } from '../components/paused.js';
import { Tile } from '../components/tile.js';
import { useNow } from '../components/time.js';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';

/** The main figures. */
export function LiveTiles() {
  const { board } = useToolyard();
  useFrames(board);
  const now = useNow();
  const { running, queued, suspended, waitingApproval, waitingInput } = board.now.counts();
  const shown = (count: number) => (board.now.isKnown ? count.toLocaleString() : '–');
  const lag = board.lag.p95(now);
  const pools = board.workers?.flatMap((worker) => (worker.draining ? [] : worker.pools));
  const slots = pools?.reduce((sum, pool) => sum + pool.slots, 0);
  return useUnlessPaused(
    <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }} spacing="sm">
      <Tile name="Running" to="/calls" search={{ status: 'running' }} value={shown(running)} />
      <Tile name="Queued" to="/calls" search={{ status: 'queued' }} value={shown(queued)} />
      <Tile
        name="Suspended"
        to="/calls"
        search={{ status: 'queued,waiting_input' }}
        value={shown(suspended + waitingInput)}
        note="for a time, a call or input"
      />
      <Tile name="Need approval" to="/approvals" value={shown(waitingApproval)} alarm={waitingApproval > 0} />
      <Tile
        name="Worker slots used"
        to="/workers"
        value={slots === undefined ? '–' : `${Math.min(running, slots).toLocaleString()} of ${slots.toLocaleString()}`}
        alarm={slots === 0}
        {...(slots === 0 ? { note: 'no worker is alive' } : {})}
      />
      <Tile
        name="Log lag, p95"
        value={lag === undefined ? '–' : durationText(lag)}
        alarm={(lag ?? 0) > 2000}
        note={lag === undefined ? 'no events just now' : 'from the log to this page'}
      />
    </SimpleGrid>,
  );
}

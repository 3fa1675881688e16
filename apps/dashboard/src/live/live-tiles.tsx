import { Paper, SimpleGrid, Text } from '@mantine/core';
import { durationText } from '../components/duration.js';
import { useNow } from '../components/time.js';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';
import classes from './live-tiles.module.css';
import { LinkPaper } from '../components/links.js';

/** The main figures. */
export function LiveTiles() {
  const { board } = useToolyard();
  useFrames(board);
  const now = useNow();
  const { running, queued, suspended, waitingApproval, waitingInput } = board.now.counts();
  const lag = board.lag.p95(now);
  const pools = board.workers?.flatMap((worker) => (worker.draining ? [] : worker.pools));
  const slots = pools?.reduce((sum, pool) => sum + pool.slots, 0);
  return (
    <SimpleGrid cols={{ base: 2, xs: 3, md: 6 }} spacing="sm">
      <Tile name="Running" to="/calls" search={{ status: 'running' }} value={running.toLocaleString()} />
      <Tile name="Queued" to="/calls" search={{ status: 'queued' }} value={queued.toLocaleString()} />
      <Tile
        name="Suspended"
        to="/calls"
        search={{ status: 'queued,waiting_input' }}
        value={(suspended + waitingInput).toLocaleString()}
        note="for a time, a call or input"
      />
      <Tile name="Need approval" to="/approvals" value={waitingApproval.toLocaleString()} alarm={waitingApproval > 0} />
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
    </SimpleGrid>
  );
}

interface TileProps {
  readonly name: string;
  readonly value: string;
  readonly note?: string;
  readonly alarm?: boolean;
  readonly to?: '/calls' | '/approvals' | '/workers';
  readonly search?: { readonly status: string };
}

function Tile({ name, value, note, alarm = false, to, search }: TileProps) {
  const inside = (
    <>
      <Text size="xs" c="dimmed">
        {name}
      </Text>
      <Text className={classes.value} data-tile={name}>
        {value}
      </Text>
      {note !== undefined && (
        <Text size="xs" c="dimmed">
          {note}
        </Text>
      )}
    </>
  );
  const props = { withBorder: true, p: 'sm', className: classes.tile, 'data-alarm': alarm || undefined };
  if (to === undefined) return <Paper {...props}>{inside}</Paper>;
  return (
    <LinkPaper {...props} to={to} {...(search ? { search } : {})}>
      {inside}
    </LinkPaper>
  );
}

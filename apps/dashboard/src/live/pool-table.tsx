import { Paper, Progress, Table, Text, Title } from '@mantine/core';
import { POOLS } from '#contracts';
import { durationText } from '../components/duration.js';
import { LinkAnchor } from '../components/links.js';
import { useUnlessPaused } from '../components/paused.js';
import { useNow } from '../components/time.js';
import { useFrames } from '../stream/frame-store.js';
import { useToolyard } from '../stream/toolyard.js';

/** Depth, oldest age and used slots by pool. */
export function PoolTable() {
  const { board } = useToolyard();
  useFrames(board);
  const now = useNow();
  const live = new Map(board.now.groups('pool').map(({ name, counts }) => [name, counts]));
  const table = (
    <Paper withBorder p="sm">
      <Title order={2} size="h3" mb="xs">
        Queues by pool
      </Title>
      <Table.ScrollContainer minWidth={300}>
        <Table verticalSpacing={6} horizontalSpacing={6} aria-label="Queues by pool">
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Pool</Table.Th>
              <Table.Th ta="right">Waiting</Table.Th>
              <Table.Th ta="right">Oldest</Table.Th>
              <Table.Th ta="right">Running</Table.Th>
              <Table.Th w="26%">Slots</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {POOLS.map((pool) => {
              const queue = board.queues.get(pool);
              const waiting = live.get(pool)?.queued ?? 0;
              const running = live.get(pool)?.running ?? 0;
              const slots = slotsOf(board.workers, pool);
              const oldest = queue && queue.waiting > 0 && waiting > 0 ? queue.oldestWaitingMs + now - queue.at : undefined;
              return (
                <Table.Tr key={pool}>
                  <Table.Td>{pool}</Table.Td>
                  <Table.Td ta="right">
                    <CountLink count={board.now.isKnown ? waiting : undefined} pool={pool} status="queued" />
                  </Table.Td>
                  <Table.Td ta="right">{oldest === undefined ? '–' : durationText(oldest)}</Table.Td>
                  <Table.Td ta="right">
                    <CountLink count={board.now.isKnown ? running : undefined} pool={pool} status="running" />
                  </Table.Td>
                  <Table.Td>
                    {slots === 0 ? (
                      <Text size="xs" c={board.workers === undefined ? 'dimmed' : 'var(--mantine-color-error)'}>
                        {board.workers === undefined ? '–' : 'no worker'}
                      </Text>
                    ) : (
                      <>
                        <Progress value={(100 * Math.min(running, slots)) / slots} size="sm" aria-label={`Slots of ${pool} in use`} />
                        <Text size="xs" c="dimmed">
                          {Math.min(running, slots)} of {slots}
                        </Text>
                      </>
                    )}
                  </Table.Td>
                </Table.Tr>
              );
            })}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Paper>
  );
  return useUnlessPaused(table);
}

interface CountLinkProps {
  /** Undefined before the gateway has said any. */
  readonly count: number | undefined;
  readonly pool: string;
  readonly status: 'queued' | 'running';
}

function CountLink({ count, pool, status }: CountLinkProps) {
  if (count === undefined) return <>–</>;
  return (
    <LinkAnchor size="sm" to="/calls" search={{ pool, status }}>
      {count.toLocaleString()}
    </LinkAnchor>
  );
}

type Workers = ReturnType<typeof useToolyard>['board']['workers'];

function slotsOf(workers: Workers, pool: string): number {
  return (workers ?? []).flatMap((worker) => worker.pools).reduce((sum, each) => sum + (each.pool === pool ? each.slots : 0), 0);
}

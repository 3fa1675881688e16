import { SimpleGrid, Title } from '@mantine/core';
import { IconServerOff } from '@tabler/icons-react';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { WorkerStatus } from '#contracts';
import { PoolTable } from '../live/pool-table.js';
import { ConfirmModal } from '../components/confirm-modal.js';
import { PageHead } from '../components/page-head.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { useRowKeys } from '../components/use-row-keys.js';
import { useToolyard } from '../stream/toolyard.js';
import { NotIsolated } from './not-isolated.js';
import { WorkerCard } from './worker-card.js';

const ASK_MS = 3000;

/** Workers with their calls, and the queues. Heartbeats update them every few seconds; a start or stop is shown at once. */
export function WorkersPage() {
  const { client, board, feed } = useToolyard();
  const [draining, setDraining] = useState<WorkerStatus>();
  const list = useRowKeys<HTMLDivElement>();
  const workers = useQuery({
    queryKey: ['workers'],
    queryFn: ({ signal }) => client.workers.list({ signal }),
    refetchInterval: ASK_MS,
    staleTime: 0,
  });
  useEffect(() => {
    if (workers.data) board.anchorWorkers(workers.data);
  }, [board, workers.data]);
  const { refetch } = workers;
  useEffect(() => feed.onNotice(({ type }) => void (type.startsWith('worker.') && refetch())), [feed, refetch]);
  return (
    <>
      <PageHead title="Workers and queues" about="A worker takes calls of its pools, as many at a time as it has slots." />
      <NotIsolated workers={workers.data ?? []} />
      <PoolTable />
      <Title order={2} mt="lg" mb="sm">
        Workers
      </Title>
      {workers.isPending && <LoadingRows rows={3} />}
      {workers.isError && <ErrorState error={workers.error} onRetry={() => void workers.refetch()} />}
      {workers.data?.length === 0 && (
        <EmptyState icon={IconServerOff} title="No worker is alive">
          Calls are accepted and wait. Start one with <code>npm run worker</code>, or look why yours do not reach Redis.
        </EmptyState>
      )}
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md" ref={list}>
        {workers.data?.map((worker) => (
          <WorkerCard key={worker.id} worker={worker} onDrain={() => setDraining(worker)} />
        ))}
      </SimpleGrid>
      {draining && <DrainModal worker={draining} onClose={() => setDraining(undefined)} />}
    </>
  );
}

function DrainModal({ worker, onClose }: { readonly worker: WorkerStatus; readonly onClose: () => void }) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  return (
    <ConfirmModal
      title={`Drain ${worker.id}?`}
      keep="Close"
      confirm="Drain it"
      scope="operate"
      color="orange.9"
      action={() => client.workers.drain(worker.id)}
      done={() => `${worker.id} takes no more calls`}
      failed="The worker does not drain"
      onDone={() => void queries.invalidateQueries({ queryKey: ['workers'] })}
      onClose={onClose}
    >
      It takes no more calls; the {worker.calls.length} that run there go on to their end. Other workers take what comes.
    </ConfirmModal>
  );
}

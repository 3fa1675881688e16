import { Badge, Button, Card, Group, Modal, Progress, SimpleGrid, Stack, Text, Title, Tooltip } from '@mantine/core';
import { IconServerOff } from '@tabler/icons-react';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { WorkerStatus } from '#contracts';
import { CallLink } from '../call/call-facts.js';
import { PoolTable } from '../live/pool-table.js';
import { PageHead } from '../components/page-head.js';
import { ScopedButton } from '../components/scoped-button.js';
import { EmptyState, ErrorState, LoadingRows } from '../components/states.js';
import { notifySuccess, notifyError } from '../components/notify.js';
import { Ago } from '../components/time.js';
import { useToolyard } from '../stream/toolyard.js';

const ASK_MS = 3000;
const SHOWN_CALLS = 12;

/** Workers with their calls, and the queues. Heartbeats update them every few seconds; a start or stop is shown at once. */
export function WorkersPage() {
  const { client, board, feed } = useToolyard();
  const [draining, setDraining] = useState<WorkerStatus>();
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
      <SimpleGrid cols={{ base: 1, md: 2 }} spacing="md">
        {workers.data?.map((worker) => (
          <WorkerCard key={worker.id} worker={worker} onDrain={() => setDraining(worker)} />
        ))}
      </SimpleGrid>
      {draining && <DrainModal worker={draining} onClose={() => setDraining(undefined)} />}
    </>
  );
}

function WorkerCard({ worker, onDrain }: { readonly worker: WorkerStatus; readonly onDrain: () => void }) {
  return (
    <Card withBorder padding="sm" data-worker={worker.id}>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Group gap="xs" style={{ minWidth: 0 }}>
          <Text fw={600} truncate>
            {worker.id}
          </Text>
          <Badge variant="dot" color={worker.draining ? 'orange' : 'teal'} tt="none">
            {worker.draining ? 'Draining' : 'Alive'}
          </Badge>
        </Group>
        <ScopedButton
          scope="operate"
          whyNot={worker.draining ? 'It drains already.' : undefined}
          size="xs"
          variant="default"
          onClick={onDrain}
        >
          Drain
        </ScopedButton>
      </Group>
      <Text size="xs" c="dimmed" mb="sm">
        started <Ago at={Date.parse(worker.startedAt)} />, seen <Ago at={Date.parse(worker.seenAt)} />
      </Text>
      <Stack gap={6}>
        {worker.pools.map(({ pool, slots, running }) => {
          const sandbox = worker.sandbox?.[pool];
          return (
            <Group key={pool} gap="sm" wrap="nowrap">
              <Text size="sm" w={50}>
                {pool}
              </Text>
              <Progress value={slots === 0 ? 0 : (100 * running) / slots} style={{ flex: 1 }} aria-label={`Slots of ${pool} in use`} />
              <Text size="xs" c="dimmed" w={64} ta="right">
                {running} of {slots}
              </Text>
              {sandbox && (
                <Tooltip label={sandbox.reason ?? `Commands run in ${sandbox.backend}`} multiline maw={320}>
                  <Badge
                    size="xs"
                    variant="dot"
                    color={!sandbox.ok ? 'red' : sandbox.isolation === 'none' ? 'orange' : 'teal'}
                    tt="none"
                    tabIndex={0}
                  >
                    {sandbox.ok ? (sandbox.isolation === 'none' ? 'not isolated' : 'isolated') : 'refused'}
                  </Badge>
                </Tooltip>
              )}
            </Group>
          );
        })}
      </Stack>
      {worker.calls.length > 0 && (
        <Group gap={8} mt="sm">
          <Text size="xs" c="dimmed">
            Running:
          </Text>
          {worker.calls.slice(0, SHOWN_CALLS).map((id) => (
            <CallLink key={id} id={id} />
          ))}
          {worker.calls.length > SHOWN_CALLS && <Text size="xs">and {worker.calls.length - SHOWN_CALLS} more</Text>}
        </Group>
      )}
    </Card>
  );
}

function DrainModal({ worker, onClose }: { readonly worker: WorkerStatus; readonly onClose: () => void }) {
  const { client } = useToolyard();
  const queries = useQueryClient();
  const drain = useMutation({
    mutationFn: () => client.workers.drain(worker.id),
    onSuccess: () => {
      notifySuccess(`${worker.id} takes no more calls`);
      void queries.invalidateQueries({ queryKey: ['workers'] });
      onClose();
    },
    onError: (error) => notifyError('The worker does not drain', error),
  });
  return (
    <Modal opened onClose={onClose} title={`Drain ${worker.id}?`} closeButtonProps={{ 'aria-label': 'Close' }}>
      <Text size="sm" mb="md">
        It takes no more calls; the {worker.calls.length} that run there go on to their end. Other workers take what comes.
      </Text>
      <Group justify="flex-end">
        <Button variant="default" onClick={onClose}>
          Close
        </Button>
        <Button color="orange.9" loading={drain.isPending} onClick={() => drain.mutate()}>
          Drain it
        </Button>
      </Group>
    </Modal>
  );
}

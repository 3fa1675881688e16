import { Badge, Card, Code, Group, Progress, Stack, Text, Tooltip } from '@mantine/core';
import type { WorkerStatus } from '#contracts';
import { escapeInvisible } from '#subject';
import { Fact, Facts } from '../components/facts.js';
import { RunningCall } from './running-call.js';
import { ScopedButton } from '../components/scoped-button.js';
import { Ago, Since } from '../components/time.js';

const SHOWN_CALLS = 12;
const SHOWN_TOOLS = 20;

interface WorkerCardProps {
  readonly worker: WorkerStatus;
  readonly onDrain: () => void;
}

/** Card of a worker: its host, its slots, its calls, and the description by a foreign one. */
export function WorkerCard({ worker, onDrain }: WorkerCardProps) {
  return (
    <Card withBorder padding="sm" component="article" aria-label={`Worker ${worker.id}`} data-row data-worker={worker.id}>
      <Group justify="space-between" mb="xs" wrap="nowrap">
        <Group gap="xs" style={{ minWidth: 0 }}>
          <Text fw={600} truncate>
            {escapeInvisible(worker.id)}
          </Text>
          <Badge variant="dot" color={worker.draining ? 'orange' : 'teal'} tt="none" miw="max-content">
            {worker.draining ? 'Draining' : 'Alive'}
          </Badge>
          {worker.foreign !== undefined && (
            <Badge variant="default" tt="none" miw="max-content">
              foreign
            </Badge>
          )}
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
        up for <Since at={Date.parse(worker.startedAt)} />, seen <Ago at={Date.parse(worker.seenAt)} />
      </Text>
      <Stack gap={6} mb="sm">
        {worker.pools.map((pool) => (
          <PoolSlots key={pool.pool} {...pool} sandbox={worker.sandbox?.[pool.pool]} />
        ))}
      </Stack>
      <WorkerFacts worker={worker} />
      {worker.calls.length > 0 && (
        <Stack gap={2} mt="sm">
          <Text size="xs" c="dimmed">
            Runs now
          </Text>
          {worker.calls.slice(0, SHOWN_CALLS).map((id) => (
            <RunningCall key={id} callId={id} />
          ))}
          {worker.calls.length > SHOWN_CALLS && <Text size="xs">and {worker.calls.length - SHOWN_CALLS} more</Text>}
        </Stack>
      )}
    </Card>
  );
}

type Sandbox = NonNullable<WorkerStatus['sandbox']>[WorkerStatus['pools'][number]['pool']];

function PoolSlots({ pool, slots, running, sandbox }: WorkerStatus['pools'][number] & { readonly sandbox: Sandbox | undefined }) {
  return (
    <Group gap="sm" wrap="nowrap">
      <Text size="sm" w={50}>
        {pool}
      </Text>
      <Progress value={slots === 0 ? 0 : (100 * running) / slots} style={{ flex: 1 }} aria-label={`Slots of ${pool} in use`} />
      <Text size="xs" c="dimmed" w={64} ta="right">
        {running} of {slots}
      </Text>
      {sandbox && <Isolation sandbox={sandbox} />}
    </Group>
  );
}

function Isolation({ sandbox: { ok, isolation, reason, backend } }: { readonly sandbox: NonNullable<Sandbox> }) {
  const exposed = ok && isolation === 'none';
  const weak = ok && !exposed && reason !== undefined;
  return (
    <Tooltip label={reason ?? `Commands run in ${backend}`} multiline maw={320}>
      <Badge
        size="sm"
        miw="max-content"
        tt="none"
        tabIndex={0}
        {...(exposed ? { variant: 'filled', color: '#b02525' } : { variant: 'dot', color: weak ? 'yellow' : ok ? 'teal' : 'red' })}
      >
        {ok ? (exposed ? 'not isolated' : weak ? 'partly isolated' : 'isolated') : 'refused'}
      </Badge>
    </Tooltip>
  );
}

function WorkerFacts({ worker: { foreign, host, disk, version } }: { readonly worker: WorkerStatus }) {
  const labels = Object.entries(foreign?.labels ?? {});
  const tools = foreign?.tools ?? [];
  return (
    <Facts>
      <Fact name="Version">{version !== undefined && escapeInvisible(version)}</Fact>
      <Fact name="Host">{host !== undefined && escapeInvisible(host.name)}</Fact>
      <Fact name="Load">
        {host !== undefined && (
          <>
            {host.load.toFixed(1)} on {host.cores} {host.cores === 1 ? 'core' : 'cores'}
            {host.load > 2 * host.cores && ', busy'}
          </>
        )}
      </Fact>
      <Fact name="Memory">{host !== undefined && roomText(host)}</Fact>
      <Fact name="Disk">{disk !== undefined && roomText(disk)}</Fact>
      <Fact name="Language">{foreign !== undefined && escapeInvisible(foreign.sdk)}</Fact>
      <Fact name="Source">{foreign !== undefined && foreign.source}</Fact>
      <Fact name="Gateway">{foreign !== undefined && foreign.gateway}</Fact>
      <Fact name="Labels">
        {labels.length > 0 &&
          labels.map(([name, value]) => (
            <Code key={name} mr={4}>
              {escapeInvisible(`${name}=${value}`)}
            </Code>
          ))}
      </Fact>
      <Fact name="Tools">
        {tools.length > 0 &&
          `${tools.slice(0, SHOWN_TOOLS).map(escapeInvisible).join(', ')}${tools.length > SHOWN_TOOLS ? ` and ${tools.length - SHOWN_TOOLS} more` : ''}`}
      </Fact>
    </Facts>
  );
}

const GIB = 1024 ** 3;

function roomText({ freeBytes, totalBytes }: { readonly freeBytes: number; readonly totalBytes: number }): string {
  return `${(freeBytes / GIB).toFixed(1)} of ${(totalBytes / GIB).toFixed(1)} GiB free`;
}

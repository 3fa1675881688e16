import { Alert, Badge, Grid, Group, List, Stack, Tabs, Text } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import type { Call, CallError } from '#contracts';
import { stateOfCall } from '../calls/call-row.js';
import { Json } from '../parts/json.js';
import { PageHead } from '../parts/page-head.js';
import { StateBadge } from '../parts/state-badge.js';
import { ErrorState, LoadingRows } from '../parts/states.js';
import { Ago } from '../parts/time.js';
import { visible } from '../parts/visible.js';
import { CallActions } from './call-actions.js';
import { CallFacts, CopyableId } from './call-facts.js';
import { storyOf } from './call-story.js';
import type { CallView } from './call-view.js';
import { ContentView } from './content.js';
import { DecisionView } from './decision-view.js';
import { EventsView } from './events-view.js';
import { OutputView, WholeOutput } from './output-view.js';
import { StoryBar } from './story-bar.js';
import { StoryList } from './story-list.js';
import { useCall } from './use-call.js';

const route = getRouteApi('/calls/$callId');

/** One call: what happened, what it put out, why it may run, and what can be done about it. */
export function CallPage() {
  const { callId } = route.useParams();
  return <OneCall key={callId} callId={callId} />;
}

function OneCall({ callId }: { readonly callId: string }) {
  const { call, view, version, connection } = useCall(callId);
  const story = useMemo(() => storyOf(view.lifecycle), [view, version]);
  if (call.isPending) return <LoadingRows rows={8} />;
  if (call.isError) return <ErrorState error={call.error} onRetry={() => void call.refetch()} />;
  const { data } = call;
  const cancelling = data.status !== 'ended' && view.lifecycle.some(({ type }) => type === 'call.cancel_requested');
  return (
    <>
      <PageHead
        tab={data.tool}
        title={
          <Group gap="sm">
            <span>{data.tool}</span>
            <StateBadge size="lg" state={stateOfCall(data, cancelling)} />
          </Group>
        }
        about={
          <Group gap="sm">
            <CopyableId id={data.id} />
            <span>
              submitted <Ago at={Date.parse(data.submittedAt)} />
            </span>
          </Group>
        }
      >
        <CallActions call={data} />
      </PageHead>
      <Stack gap="md">
        {connection === 'reconnecting' && data.status !== 'ended' && (
          <Alert color="orange" icon={<IconPlugConnectedX aria-hidden />} title="The connection was lost">
            It is being made again; output goes on where it stopped, without a gap.
          </Alert>
        )}
        {data.status !== 'ended' && data.waiting && (
          <Alert color="gray" title="Why it waits">
            {visible(data.waiting.detail)}
            {data.waiting.position !== undefined &&
              ` Place ${data.waiting.position} of ${data.waiting.queueDepth ?? data.waiting.position}.`}
          </Alert>
        )}
        {data.error && <ErrorAlert error={data.error} />}
        <StoryBar segments={story.segments} />
        <Grid gap="md">
          <Grid.Col span={{ base: 12, md: 8 }}>
            <CallTabs call={data} view={view} version={version} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 4 }}>
            <Stack gap="md">
              <StoryList moments={story.moments} />
              <CallFacts call={data} />
            </Stack>
          </Grid.Col>
        </Grid>
      </Stack>
    </>
  );
}

function ErrorAlert({ error }: { readonly error: CallError }) {
  return (
    <Alert color="red" title={error.code}>
      <Text size="sm" style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }}>
        {visible(error.message)}
      </Text>
      {error.errors !== undefined && error.errors.length > 0 && (
        <List size="sm" mt="xs" aria-label="Faults by field">
          {error.errors.map(({ pointer, message }) => (
            <List.Item key={`${pointer} ${message}`}>
              <strong>{pointer === '' ? 'arguments' : visible(pointer)}</strong> {visible(message)}
            </List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}

function CallTabs({ call, view, version }: { readonly call: Call; readonly view: CallView; readonly version: number }) {
  const [tab, setTab] = useState<string | null>(null);
  const running = call.status !== 'ended';
  const streamed = view.attempts.some(({ updates }) => updates > 0);
  const natural = running || (streamed && !call.result?.content.some(({ type }) => type !== 'text')) ? 'output' : 'result';
  return (
    <Tabs value={tab ?? natural} onChange={setTab} keepMounted={false}>
      <Tabs.List mb="sm">
        <Tabs.Tab value="output">Output</Tabs.Tab>
        <Tabs.Tab value="result" disabled={call.result === undefined}>
          Result
        </Tabs.Tab>
        <Tabs.Tab value="arguments">Arguments</Tabs.Tab>
        <Tabs.Tab value="decision">Decision</Tabs.Tab>
        <Tabs.Tab
          value="events"
          rightSection={
            <Badge size="xs" variant="default">
              {view.events.length + view.dropped}
            </Badge>
          }
        >
          Events
        </Tabs.Tab>
      </Tabs.List>
      <Tabs.Panel value="output">
        <OutputView view={view} version={version} running={running} />
      </Tabs.Panel>
      <Tabs.Panel value="result">{call.result && <ResultView call={call} result={call.result} />}</Tabs.Panel>
      <Tabs.Panel value="arguments">
        <Json value={call.arguments} label="Arguments" />
      </Tabs.Panel>
      <Tabs.Panel value="decision">
        <DecisionView decision={call.decision} approval={call.approval} />
      </Tabs.Panel>
      <Tabs.Panel value="events">
        <EventsView events={view.events} dropped={view.dropped} />
      </Tabs.Panel>
    </Tabs>
  );
}

function ResultView({ call, result }: { readonly call: Call; readonly result: NonNullable<Call['result']> }) {
  return (
    <Stack gap="sm">
      {result.isError && <Badge color="red.9">The tool says this is an error</Badge>}
      <ContentView content={result.content} />
      {result.truncated && <WholeOutput call={call} bytes={result.truncated.originalBytes} />}
      {result.structuredContent !== undefined && (
        <div>
          <Text size="sm" fw={550}>
            Structured content
          </Text>
          <Json value={result.structuredContent} label="Structured content" />
        </div>
      )}
      {result.details && (
        <div>
          <Text size="sm" fw={550}>
            Details (never shown to the model)
          </Text>
          <Json value={result.details} label="Details" />
        </div>
      )}
    </Stack>
  );
}

import { Alert, Grid, Group, List, Stack, Text } from '@mantine/core';
import { IconPlugConnectedX } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Call, CallError } from '#contracts';
import { escapeInvisible } from '#subject';
import { ApprovalRequester } from '../approvals/approval-requester.js';
import { DecisionCard } from '../approvals/decision-card.js';
import { PreviousCalls } from '../approvals/previous-calls.js';
import { stateOfCall } from '../calls/call-row.js';
import { PageHead } from '../components/page-head.js';
import { StateBadge } from '../components/state-badge.js';
import { LoadingRows } from '../components/states.js';
import { durationText } from '../components/duration.js';
import { Ago, useNow } from '../components/time.js';
import { useSubjectLine } from '../subject/use-subject-line.js';
import { CallActions } from './call-actions.js';
import { CallFacts, CopyableId } from './call-facts.js';
import { CallTabs } from './call-tabs.js';
import { buildTimeline } from './call-timeline.js';
import { NoCall } from './no-call.js';
import { InputForm } from './input-form.js';
import { lastLines } from './last-lines.js';
import { linesOf } from './log/terminal-text.js';
import { TimelineBar } from './timeline-bar.js';
import { TimelineList } from './timeline-list.js';
import classes from './call-page.module.css';
import { CallTrail } from './tree/call-trail.js';
import { useCall } from './use-call.js';
import { useStoredOutput } from './whole-output.js';

const route = getRouteApi('/calls/$callId');
const TAB_CHARS = 60;

/** Page of a call: timeline, output, decision and actions. */
export function CallPage() {
  const { callId } = route.useParams();
  return <OneCall key={callId} callId={callId} />;
}

function OneCall({ callId }: { readonly callId: string }) {
  const { call, view, version, connection } = useCall(callId);
  const story = useMemo(() => buildTimeline(view.lifecycle), [view, version]);
  if (call.isPending) return <LoadingRows rows={8} />;
  if (call.isError) return <NoCall callId={callId} error={call.error} onRetry={() => void call.refetch()} />;
  const { data } = call;
  const cancelling = data.status !== 'ended' && view.lifecycle.some(({ type }) => type === 'call.cancel_requested');
  return (
    <>
      <CallTrail call={data} />
      <CallHead call={data} cancelling={cancelling} />
      <Stack gap="md">
        {connection === 'reconnecting' && data.status !== 'ended' && (
          <Alert color="orange" icon={<IconPlugConnectedX aria-hidden />} title="The connection was lost">
            It is being made again; output goes on where it stopped, without a gap.
          </Alert>
        )}
        {data.status === 'waiting_approval' && <DecisionCard key={data.id} call={data} />}
        {data.status === 'waiting_input' && data.waiting?.input && (
          <InputForm
            key={data.waiting.input.attempt}
            callId={data.id}
            question={data.waiting.input}
            about={<ApprovalRequester call={data} />}
          />
        )}
        {data.status === 'waiting_input' && <PreviousCalls call={data} />}
        {(data.status === 'queued' || data.status === 'running') && data.waiting && (
          <Alert color="gray" title="Why it waits">
            {escapeInvisible(withFullStop(data.waiting.detail))}
            {data.waiting.until !== undefined && <WaitsUntil at={Date.parse(data.waiting.until)} />}
            {data.waiting.position !== undefined &&
              ` Place ${data.waiting.position} of ${data.waiting.queueDepth ?? data.waiting.position}.`}
          </Alert>
        )}
        {data.error && (
          <ErrorAlert
            error={data.error}
            wanted={data.outcome === 'cancelled'}
            streamed={view.attempts.some(({ updates }) => updates > 0)}
          />
        )}
        {data.outcome === 'completed' && data.isError === true && <ErrorResultAlert call={data} />}
        <TimelineBar segments={story.segments} />
        <Grid gap="md">
          <Grid.Col span={{ base: 12, md: 8 }}>
            <CallTabs call={data} view={view} version={version} />
          </Grid.Col>
          <Grid.Col span={{ base: 12, md: 4 }}>
            <Stack gap="md">
              <TimelineList moments={story.entries} />
              <CallFacts call={data} view={view} />
            </Stack>
          </Grid.Col>
        </Grid>
      </Stack>
    </>
  );
}

/** Tool, state and subject of a call; the browser tab's title begins with the subject. */
function CallHead({ call, cancelling }: { readonly call: Call; readonly cancelling: boolean }) {
  const subject = useSubjectLine(call);
  return (
    <PageHead
      tab={subject === '' ? call.tool : `${subject.slice(0, TAB_CHARS)} – ${call.tool}`}
      title={
        <Group gap="sm">
          <span>{call.tool}</span>
          <StateBadge size="lg" state={stateOfCall(call, cancelling)} note={call.note} />
        </Group>
      }
      about={
        <>
          <Text ff="monospace" size="sm" lineClamp={2} className={classes.subject}>
            {subject}
          </Text>
          <Group gap="sm">
            <CopyableId id={call.id} />
            <span>
              submitted <Ago at={Date.parse(call.submittedAt)} />
            </span>
          </Group>
        </>
      }
    >
      <CallActions call={call} />
    </PageHead>
  );
}

/** Time at which a wait ends by itself. */
function WaitsUntil({ at }: { readonly at: number }) {
  const left = at - useNow();
  return left <= 0 ? null : <> It continues in {durationText(left)}.</>;
}

/** The message of a stopped command without the output at its end. */
function withoutOutput(message: string): string {
  return message.split('\n\nLast output:\n', 1)[0] ?? message;
}

function withFullStop(text: string): string {
  return /[.!?…]$/.test(text) ? text : `${text}.`;
}

const LAST_LINES = 4;

/** Shows the end of long lines that do not fit. */
function showEnd(box: HTMLElement | null): void {
  if (box !== null) box.scrollTop = box.scrollHeight;
}

/** Error result with its last lines, in which programs usually report the error: of the whole output, not of the model's part. */
function ErrorResultAlert({ call }: { readonly call: Call }) {
  const { note, result } = call;
  const { data: whole, isLoading } = useStoredOutput(call, result?.truncated !== undefined);
  const texts = result?.content.flatMap((item) => (item.type === 'text' ? [item.text] : [])) ?? [];
  const lines = lastLines(whole ?? linesOf(texts.join('\n')), LAST_LINES);
  const [only, ...more] = lines;
  const isRepeated = only !== undefined && more.length === 0 && note?.endsWith(only.trim()) === true;
  return (
    <Alert color="red" title={`The tool answered with an error${note === undefined ? '' : `: ${escapeInvisible(note)}`}`}>
      {isRepeated ? null : isLoading || only === undefined ? (
        <Text size="sm">{isLoading ? 'Its last lines are loading.' : 'It said nothing more.'}</Text>
      ) : (
        <Text size="xs" ff="monospace" className={classes.message} tabIndex={0} ref={showEnd}>
          {escapeInvisible(lines.join('\n'))}
        </Text>
      )}
    </Alert>
  );
}

interface ErrorAlertProps {
  readonly error: CallError;
  /** Cancelled on request, which is not an error. */
  readonly wanted: boolean;
  /** The output is shown below, so its end is left out here. */
  readonly streamed: boolean;
}

/** The errors of single fields replace the message, which repeats them. */
function ErrorAlert({ error, wanted, streamed }: ErrorAlertProps) {
  const faults = error.errors ?? [];
  return (
    <Alert color={wanted ? 'gray' : 'red'} title={error.code}>
      {faults.length === 0 ? (
        <Text size="sm" className={classes.message} tabIndex={0}>
          {escapeInvisible(streamed ? withoutOutput(error.message) : error.message)}
        </Text>
      ) : (
        <List size="sm" aria-label="Faults by field">
          {faults.map(({ pointer, message }) => (
            <List.Item key={`${pointer} ${message}`}>
              <strong>{pointer === '' ? 'arguments' : escapeInvisible(pointer)}</strong> {escapeInvisible(message)}
            </List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}

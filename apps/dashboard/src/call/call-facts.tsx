import { Code, CopyButton, Group, Paper, Text, Tooltip, UnstyledButton } from '@mantine/core';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import type { Call } from '#contracts';
import { escapeInvisible } from '#subject';
import type { CallView } from './call-view.js';
import { runFacts } from './run-facts.js';
import { bytesText } from '../components/bytes.js';
import { durationText, momentText } from '../components/duration.js';
import { Fact, Facts } from '../components/facts.js';
import { LinkAnchor } from '../components/links.js';
import { shortId } from '../components/short-id.js';
import { RiskBadge } from '../components/risk-badge.js';

/** The facts of a call. */
export function CallFacts({ call, view }: { readonly call: Call; readonly view: CallView }) {
  const { timeouts, scheduleId, status, result } = call;
  const { exitCode, signal, sandbox, outputBytes } = runFacts(result?.details);
  const start = view.lifecycle.findLast((event) => event.type === 'call.start');
  const cpuMs = view.lifecycle.findLast((event) => event.type === 'call.end')?.data.cpuMs;
  return (
    <Paper withBorder p="sm" component="section" aria-label="Facts">
      <Facts>
        <Fact name="Exit code">{exitCode}</Fact>
        <Fact name="Signal">{signal}</Fact>
        <Fact name="Output">{outputBytes ?? (status === 'running' && view.bytes > 0 && `${bytesText(view.bytes)} so far`)}</Fact>
        <Fact name="CPU">{cpuMs !== undefined && durationText(cpuMs)}</Fact>
        <Fact name="Sandbox">{sandbox}</Fact>
        <Fact name="Worker">{start?.data.worker}</Fact>
        <Fact name="Agent">
          {call.agentId && (
            <LinkAnchor size="sm" to="/calls" search={{ agentId: call.agentId }}>
              {call.agentId}
            </LinkAnchor>
          )}
        </Fact>
        <Fact name="Session">
          {call.sessionId && (
            <LinkAnchor size="sm" to="/sessions/$sessionId" params={{ sessionId: call.sessionId }}>
              {call.sessionId}
            </LinkAnchor>
          )}
        </Fact>
        <Fact name="Purpose">{call.purpose && escapeInvisible(call.purpose)}</Fact>
        <Fact name="User">{call.userId && escapeInvisible(call.userId)}</Fact>
        <Fact name="Risk">{call.risk && <RiskBadge risk={call.risk} size="sm" />}</Fact>
        <Fact name="Attempts">{call.attempt > 1 && call.attempt}</Fact>
        <Fact name="Priority">{call.priority !== 'normal' && call.priority}</Fact>
        <Fact name="Submitted">{momentText(Date.parse(call.submittedAt))}</Fact>
        <Fact name="Batch">
          {call.batchId && (
            <LinkAnchor size="sm" to="/calls" search={{ batchId: call.batchId }}>
              {shortId(call.batchId)}
            </LinkAnchor>
          )}
        </Fact>
        <Fact name="Child of">{call.parentCallId && <CallLink id={call.parentCallId} />}</Fact>
        <Fact name="Schedule">
          {scheduleId && (
            <LinkAnchor size="sm" to="/schedules/$scheduleId" params={{ scheduleId }}>
              {shortId(scheduleId)}
            </LinkAnchor>
          )}
        </Fact>
        <Fact name="Replay of">{call.replayOf && <CallLink id={call.replayOf} />}</Fact>
        <Fact name="Model’s id">{call.toolCallId && <Code>{escapeInvisible(call.toolCallId)}</Code>}</Fact>
        <Fact name="Source">{call.source}</Fact>
        <Fact name="May take">
          {durationText(timeouts.runMs)} a run, {durationText(timeouts.totalMs)} in all
        </Fact>
        <Fact name="Labels">
          {Object.keys(call.labels).length > 0 &&
            Object.entries(call.labels).map(([name, value]) => (
              <Code key={name} mr={4}>
                {escapeInvisible(`${name}=${value}`)}
              </Code>
            ))}
        </Fact>
      </Facts>
    </Paper>
  );
}

export function CallLink({ id }: { readonly id: string }) {
  return (
    <LinkAnchor size="sm" to="/calls/$callId" params={{ callId: id }} ff="monospace" title={id} style={{ whiteSpace: 'nowrap' }}>
      {shortId(id)}
    </LinkAnchor>
  );
}

export function CopyableId({ id }: { readonly id: string }) {
  return (
    <CopyButton value={id}>
      {({ copied, copy }) => (
        <Tooltip label={copied ? 'Copied' : 'Copy the id'}>
          <UnstyledButton onClick={copy} aria-label={`Copy the id ${id}`}>
            <Group gap={4} wrap="nowrap">
              <Text span size="xs" ff="monospace" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
                {id}
              </Text>
              {copied ? <IconCheck size={13} aria-hidden /> : <IconCopy size={13} aria-hidden />}
            </Group>
          </UnstyledButton>
        </Tooltip>
      )}
    </CopyButton>
  );
}

import { Badge, Group, Table, Text, Tooltip } from '@mantine/core';
import type { FailureGroup } from '#contracts';
import { escapeInvisible, subjectText } from '#subject';
import { LinkAnchor } from '../components/links.js';
import { ScopedButton } from '../components/scoped-button.js';
import { Sparkline } from '../components/sparkline.js';
import { Ago } from '../components/time.js';
import { useSubjects } from '../components/use-subjects.js';
import { AffectedCallers } from './affected-callers.js';
import { markOf, mayReplayHelp, type FailureMark } from './failure-marks.js';
import type { FailureSearch } from './failure-search.js';
import classes from './failures-page.module.css';

interface FailureRowProps {
  readonly group: FailureGroup;
  readonly windowMs: number;
  readonly since: string | undefined;
  readonly search: FailureSearch;
  readonly onReplay: () => void;
}

/** A kind of failure; its text shows more of it beside the list, its number leads to its calls. */
export function FailureRow({ group, windowMs, since, search, onReplay }: FailureRowProps) {
  const { fingerprint, tool, count } = group;
  const subject = escapeInvisible(subjectText(group.preview ?? '', useSubjects(tool)));
  return (
    <Table.Tr data-fingerprint={fingerprint} data-row {...(search.peek === fingerprint ? { 'data-peeked': true } : {})}>
      <Table.Td data-line>
        <LinkAnchor data-open to="/failures" search={{ ...search, peek: fingerprint }} replace className={classes['message'] ?? ''}>
          {messageText(group)}
        </LinkAnchor>
        <Text size="xs" c="dimmed" ff="monospace" truncate maw="var(--message-width)" title={subject} data-subject>
          {subject}
        </Text>
        <FailureBadges group={group} windowMs={windowMs} />
      </Table.Td>
      <Table.Td>
        <Sparkline counts={group.counts} label={`When they failed, in ${group.counts.length} parts of the period`} />
      </Table.Td>
      <Table.Td ta="right" data-label="Calls">
        <LinkAnchor size="sm" fw={650} to="/calls" search={{ fingerprint, since }} title="Show these calls">
          {count.toLocaleString()}
        </LinkAnchor>
      </Table.Td>
      <Table.Td maw={160} data-aside>
        <AffectedCallers agents={group.agents} sessions={group.sessions} />
      </Table.Td>
      <Table.Td data-label="Last">
        <Ago at={Date.parse(group.lastSeen)} />
        {count > 1 && (
          <Text size="xs" c="dimmed">
            first <Ago at={Date.parse(group.firstSeen)} />
          </Text>
        )}
      </Table.Td>
      <Table.Td data-aside>
        <ReplayGroup group={group} onReplay={onReplay} />
      </Table.Td>
    </Table.Tr>
  );
}

export function messageText({ message }: FailureGroup): string {
  return message === '' ? 'An error without a text' : escapeInvisible(message);
}

/** The tool, the code, and whether the kind is new. */
export function FailureBadges({ group, windowMs }: { readonly group: FailureGroup; readonly windowMs: number }) {
  const mark = markOf(group, windowMs);
  return (
    <Group gap={6} mt={2}>
      <Badge size="xs" variant="default" tt="none">
        {group.tool}
      </Badge>
      <Badge size="xs" variant="default" tt="none">
        {group.code ?? 'error result'}
      </Badge>
      {mark && (
        <Tooltip label={MARKS[mark].why}>
          <Badge size="xs" color={MARKS[mark].color} variant="light" tt="none" data-mark={mark}>
            {MARKS[mark].label}
          </Badge>
        </Tooltip>
      )}
    </Group>
  );
}

/** Nothing where the same calls would fail again. */
export function ReplayGroup({ group, onReplay }: { readonly group: FailureGroup; readonly onReplay: () => void }) {
  if (!mayReplayHelp(group.code)) return null;
  return (
    <ScopedButton scope="submit" size="compact-xs" variant="default" onClick={onReplay}>
      Replay all …
    </ScopedButton>
  );
}

const MARKS = {
  new: { label: 'New', color: 'orange', why: 'Nothing like it is known from before this period.' },
  back: { label: 'Back', color: 'yellow', why: 'It did not happen for at least as long as this period, and does again.' },
} as const satisfies Record<FailureMark, object>;

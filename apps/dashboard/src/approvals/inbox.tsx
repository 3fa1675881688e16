import { Checkbox, Group, Paper, Text, UnstyledButton } from '@mantine/core';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef } from 'react';
import type { Call } from '#contracts';
import { RiskBadge } from '../components/risk-badge.js';
import { useSubjectLine } from '../subject/use-subject-line.js';
import classes from './approvals-page.module.css';
import { SecondsLeft } from './pending-decisions-bar.js';
import type { InboxEntry, InboxGroup } from './inbox-order.js';
import { TimeLeft } from './time-left.js';
import { useAnswer } from './use-pending-decisions.js';

const ITEM_PX = 70;
const HEAD_PX = 34;

interface InboxProps {
  readonly groups: readonly InboxGroup[];
  readonly current: string | undefined;
  readonly selected: ReadonlyMap<string, Call>;
  readonly onChoose: (id: string) => void;
  readonly onSelect: (calls: readonly Call[], isSelected: boolean) => void;
  /** A person works in the list: nothing in it may move. */
  readonly onHold: (isHeld: boolean) => void;
}

type Row = { readonly group: InboxGroup } | { readonly entry: InboxEntry };

/** The calls that wait; only the visible ones are rendered. */
export function Inbox({ groups, current, selected, onChoose, onSelect, onHold }: InboxProps) {
  const list = useRef<HTMLDivElement>(null);
  const rows = useMemo(
    () => groups.flatMap((group): Row[] => [...(group.name === '' ? [] : [{ group }]), ...group.entries.map((entry) => ({ entry }))]),
    [groups],
  );
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => list.current,
    estimateSize: (index) => (rowAt(rows, index) === 'group' ? HEAD_PX : ITEM_PX),
    getItemKey: (index) => keyOf(rows[index]),
    overscan: 8,
  });
  const index = rows.findIndex((row) => 'entry' in row && row.entry.call.id === current);
  useEffect(() => {
    if (index >= 0) virtualizer.scrollToIndex(index, { align: 'auto' });
  }, [current]);
  return (
    <Paper
      withBorder
      className={classes['inbox'] ?? ''}
      ref={list}
      component="nav"
      aria-label="Waiting calls"
      tabIndex={0}
      onPointerEnter={() => onHold(true)}
      onPointerLeave={() => onHold(false)}
    >
      <div style={{ height: virtualizer.getTotalSize(), position: 'relative' }}>
        {virtualizer.getVirtualItems().map(({ index: at, key, start, size }) => {
          const row = rows[at];
          return (
            row && (
              <div key={key} className={classes['place']} style={{ transform: `translateY(${start}px)`, height: size }}>
                {'group' in row ? (
                  <GroupHead group={row.group} selected={selected} onSelect={onSelect} />
                ) : (
                  <Item
                    entry={row.entry}
                    isCurrent={row.entry.call.id === current}
                    isSelected={selected.has(row.entry.call.id)}
                    onChoose={onChoose}
                    onSelect={onSelect}
                  />
                )}
              </div>
            )
          );
        })}
      </div>
    </Paper>
  );
}

function rowAt(rows: readonly Row[], index: number): 'group' | 'entry' {
  const row = rows[index];
  return row !== undefined && 'group' in row ? 'group' : 'entry';
}

function keyOf(row: Row | undefined): string {
  if (row === undefined) return '';
  return 'group' in row ? `group ${row.group.name}` : row.entry.call.id;
}

function GroupHead({ group, selected, onSelect }: Pick<InboxProps, 'selected' | 'onSelect'> & { readonly group: InboxGroup }) {
  const calls = group.entries.filter(({ isGone }) => !isGone).map(({ call }) => call);
  const chosen = calls.filter(({ id }) => selected.has(id)).length;
  return (
    <div className={classes['group']} data-group={group.name}>
      <Checkbox
        size="xs"
        aria-label={`Select all of ${group.name}`}
        checked={chosen > 0 && chosen === calls.length}
        indeterminate={chosen > 0 && chosen < calls.length}
        onChange={({ currentTarget }) => onSelect(calls, currentTarget.checked)}
      />
      <Text size="xs" fw={600} truncate>
        {group.name}
      </Text>
      <Text size="xs" c="dimmed">
        {calls.length}
      </Text>
    </div>
  );
}

interface ItemProps extends Pick<InboxProps, 'onChoose' | 'onSelect'> {
  readonly entry: InboxEntry;
  readonly isCurrent: boolean;
  readonly isSelected: boolean;
}

function Item({ entry: { call, isGone }, isCurrent, isSelected, onChoose, onSelect }: ItemProps) {
  const { group, answer } = useAnswer(call.id);
  const line = useSubjectLine(call);
  return (
    <div className={classes['item']} data-call={call.id} {...(isCurrent ? { 'aria-current': true } : {})} data-gone={isGone || undefined}>
      <Checkbox
        size="xs"
        aria-label={`Select ${call.tool}: ${line.slice(0, 60)}`}
        disabled={isGone && !isSelected}
        checked={isSelected}
        onChange={({ currentTarget }) => onSelect([call], currentTarget.checked)}
      />
      <UnstyledButton className={classes['open']} disabled={isGone} onClick={() => onChoose(call.id)}>
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text fw={600} size="sm" truncate>
            {call.tool}
          </Text>
          {group !== undefined && (
            <Text size="xs">
              {answer?.option.decision === 'allow' ? 'Allow' : 'Deny'} <SecondsLeft dueAt={group.dueAt} />
            </Text>
          )}
          {group === undefined && isGone && <Text size="xs">no longer waits</Text>}
          {group === undefined && !isGone && call.approval && <TimeLeft at={Date.parse(call.approval.expiresAt)} />}
        </Group>
        <Text size="xs" ff="monospace" truncate>
          {line}
        </Text>
        <Group justify="space-between" gap="xs" wrap="nowrap">
          <Text size="xs" c="dimmed" truncate>
            {[call.agentId, call.sessionId].filter(Boolean).join(' · ') || 'no session'}
          </Text>
          {call.risk !== 'low' && <RiskBadge risk={call.risk} />}
        </Group>
      </UnstyledButton>
    </div>
  );
}

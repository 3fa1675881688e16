import { Group, Paper, Stack, TextInput, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { ApprovalOption, Call, TrustOption } from '#contracts';
import { RiskBadge } from '../components/risk-badge.js';
import { LoadingRows } from '../components/states.js';
import { useIsCatalogLoading } from '../components/use-subjects.js';
import { useScopes } from '../stream/use-scopes.js';
import { SubjectView } from '../subject/subject-view.js';
import { AnswerButtons, HeldButtons, ToolAnswers } from './answer-buttons.js';
import { ApprovalRequester } from './approval-requester.js';
import { DecisionArea } from './decision-area.js';
import classes from './decision-card.module.css';
import { EditModal } from './edit-modal.js';
import { PreviousCalls } from './previous-calls.js';
import { Reasons } from './reasons.js';
import { TimeLeft } from './time-left.js';
import { TrustChoices } from './trust-choices.js';
import { useAnswer } from './use-pending-decisions.js';

interface DecisionCardProps {
  /** Call that waits for approval. */
  readonly call: Call;
  /** Content above the person who asks, such as a link to the call. */
  readonly about?: ReactNode;
  /** Called after edited arguments are stored. Other answers are held for a while, see `HeldAnswers`. */
  readonly onEdited?: () => void;
}

/**
 * The question whether a call may run, and all that a person can answer, by button or key. Give it the id of the call as `key`. An
 * answer is held and can be taken back; a second press sends it.
 */
export function DecisionCard(props: DecisionCardProps) {
  return (
    <Paper withBorder p="md" className={classes.card} component="section" aria-label="Decision">
      {useIsCatalogLoading() ? <LoadingRows rows={8} /> : <Question {...props} />}
    </Paper>
  );
}

/** Draws nothing above its buttons that loads later and would move them. */
function Question({ call, about, onEdited }: DecisionCardProps) {
  const { approval } = call;
  const [reason, setReason] = useState('');
  const [isEditing, setEditing] = useState(false);
  /** The digit that was pressed last: the second time it grants. */
  const [digitPressed, setDigitPressed] = useState<number>();
  const held = useAnswer(call.id);
  const shown = `${call.id} ${approval?.digest ?? ''} ${held.group?.id ?? ''}`;
  const lacking = useScopes().lacks('approve');
  const say = (option: Pick<ApprovalOption, 'decision' | 'scope'>, trust?: TrustOption) => {
    if (isEditing || held.isSending || lacking !== undefined) return;
    if (held.answer === undefined) held.give({ call, option, trust, reason });
    else if (held.answer.option.decision === option.decision) held.sendNow();
  };
  const trustIn = (trust: TrustOption) => say({ decision: 'allow', scope: 'session-args' }, trust);
  const keys: readonly (readonly [key: string, run: () => void])[] = [
    ['a', () => say({ decision: 'allow', scope: 'once' })],
    ['d', () => say({ decision: 'deny', scope: 'once' })],
    ['e', () => lacking === undefined && held.answer === undefined && setEditing(true)],
    ...[1, 2, 3, 4, 5, 6].map((digit): [string, () => void] => [
      String(digit),
      () => {
        const trust = approval?.trustOptions[digit - 1];
        if (trust && digit === digitPressed) trustIn(trust);
        setDigitPressed(digit);
      },
    ]),
  ];
  const isBlocked = held.answer !== undefined || held.isSending;
  return (
    <>
      <DecisionArea shown={shown} keys={keys}>
        <Stack gap="sm">
          <Group justify="space-between" align="flex-start" wrap="nowrap">
            <Title order={2}>May this run?</Title>
            <Group gap={6} justify="flex-end">
              <RiskBadge risk={call.risk} size="sm" />
              {approval && <TimeLeft size="sm" at={Date.parse(approval.expiresAt)} />}
            </Group>
          </Group>
          <div>
            {about}
            <ApprovalRequester call={call} />
          </div>
          <SubjectView call={call} />
          <Reasons call={call} />
          <TextInput
            label="Reason"
            description="Kept with the call, and sent to the agent when denied."
            placeholder="Optional"
            value={reason}
            onChange={({ currentTarget }) => setReason(currentTarget.value)}
          />
          {held.answer ? (
            <HeldButtons answer={held.answer} onNow={held.sendNow} onUndo={held.undo} />
          ) : (
            <AnswerButtons isSending={held.isSending} onSay={say} onEdit={() => setEditing(true)} />
          )}
          <ToolAnswers call={call} isBlocked={isBlocked} onSay={say} />
          {approval && <TrustChoices options={approval.trustOptions} digitPressed={digitPressed} isBlocked={isBlocked} onTrust={trustIn} />}
          <PreviousCalls call={call} />
        </Stack>
      </DecisionArea>
      {isEditing && <EditModal call={call} reason={reason} onClose={() => setEditing(false)} onAllowed={() => onEdited?.()} />}
    </>
  );
}

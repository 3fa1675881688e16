import { Group, Paper, Stack, TextInput, Title } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import type { ApprovalOption, Call, TrustOption } from '#contracts';
import { useScopes } from '../session/use-scopes.js';
import { SubjectView } from '../subject/subject-view.js';
import { AnswerButtons, ToolAnswers } from './answer-buttons.js';
import { Asker } from './asker.js';
import classes from './decision-card.module.css';
import { EditModal } from './edit-modal.js';
import { PreviousCalls } from './previous-calls.js';
import { Reasons } from './reasons.js';
import { TimeLeft } from './time-left.js';
import { TrustChoices } from './trust-choices.js';
import { useAnswer } from './use-answer.js';
import { useDecidingKeys } from './use-deciding-keys.js';

interface DecisionCardProps {
  /** It waits for approval. */
  readonly call: Call;
  /** What a page shows above the person who asks, such as a link to the call. */
  readonly about?: ReactNode;
  /** Called after the answer is stored, also for edited arguments. */
  readonly onAnswered?: () => void;
}

/** The question whether a call may run, and all that a person can answer, by button or key. Give it the id of the call as `key`. */
export function DecisionCard({ call, about, onAnswered }: DecisionCardProps) {
  const { approval } = call;
  const [reason, setReason] = useState('');
  const [isEditing, setEditing] = useState(false);
  /** The digit that was pressed last: the second time it grants. */
  const [digitPressed, setDigitPressed] = useState<number>();
  const answer = useAnswer(onAnswered);
  const lacking = useScopes().lacks('approve');
  const say = (option: Pick<ApprovalOption, 'decision' | 'scope'>, trust?: TrustOption) => {
    if (!isEditing && !answer.isPending && lacking === undefined) answer.mutate({ call, option, trust, reason });
  };
  const trustIn = (trust: TrustOption) => say({ decision: 'allow', scope: 'session-args' }, trust);
  const takesKeys = useDecidingKeys(call.id, [
    ['a', () => say({ decision: 'allow', scope: 'once' })],
    ['d', () => say({ decision: 'deny', scope: 'once' })],
    ['e', () => lacking === undefined && setEditing(true)],
    ...[1, 2, 3, 4, 5, 6].map((digit): [string, () => void] => [
      String(digit),
      () => {
        const trust = approval?.trustOptions[digit - 1];
        if (trust && digit === digitPressed) trustIn(trust);
        setDigitPressed(digit);
      },
    ]),
  ]);
  return (
    <Paper withBorder p="md" className={classes.card} component="section" aria-label="Decision" data-takes-keys={takesKeys}>
      <Stack gap="sm">
        <Group justify="space-between" align="flex-start" wrap="nowrap">
          <Title order={2}>May this run?</Title>
          {approval && <TimeLeft size="md" at={Date.parse(approval.expiresAt)} />}
        </Group>
        <div>
          {about}
          <Asker call={call} />
        </div>
        <SubjectView call={call} />
        <Reasons call={call} />
        <PreviousCalls call={call} />
        <TextInput
          label="Reason"
          description="Kept with the call, and sent to the agent when denied."
          placeholder="Optional"
          value={reason}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
        <AnswerButtons pending={answer.isPending} onSay={say} onEdit={() => setEditing(true)} />
        <ToolAnswers call={call} pending={answer.isPending} onSay={say} />
        {approval && (
          <TrustChoices options={approval.trustOptions} digitPressed={digitPressed} pending={answer.isPending} onTrust={trustIn} />
        )}
      </Stack>
      {isEditing && <EditModal call={call} reason={reason} onClose={() => setEditing(false)} onAllowed={() => onAnswered?.()} />}
    </Paper>
  );
}

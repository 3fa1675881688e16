import { Group, Kbd } from '@mantine/core';
import type { ApprovalOption, Call } from '#contracts';
import { ScopedButton } from '../components/scoped-button.js';
import { DecisionButton } from './decision-area.js';
import type { Answer } from './pending-decisions.js';
import classes from './decision-card.module.css';

interface ToolAnswersProps {
  readonly call: Call;
  /** Disables answers while one is delayed or being sent. */
  readonly isBlocked: boolean;
  readonly onSay: (option: Pick<ApprovalOption, 'decision' | 'scope'>) => void;
}

interface AnswerButtonsProps extends Pick<ToolAnswersProps, 'onSay'> {
  readonly isSending: boolean;
  readonly onEdit: () => void;
}

/** Answers about this call, each always at the same place. */
export function AnswerButtons({ isSending, onSay, onEdit }: AnswerButtonsProps) {
  return (
    <Group gap="xs" className={classes.answers}>
      <DecisionButton
        color="red.8"
        loading={isSending}
        onClick={() => onSay({ decision: 'deny', scope: 'once' })}
        rightSection={<Kbd size="xs">d</Kbd>}
      >
        Deny
      </DecisionButton>
      <DecisionButton
        color="teal.9"
        loading={isSending}
        onClick={() => onSay({ decision: 'allow', scope: 'once' })}
        rightSection={<Kbd size="xs">a</Kbd>}
      >
        Allow once
      </DecisionButton>
      <DecisionButton variant="default" onClick={onEdit} rightSection={<Kbd size="xs">e</Kbd>}>
        Edit and allow
      </DecisionButton>
    </Group>
  );
}

interface HeldButtonsProps {
  readonly answer: Answer;
  readonly onNow: () => void;
  readonly onUndo: () => void;
}

/** Buttons while the answer is held: the same press again sends it at once, in the place of the button that gave it. */
export function HeldButtons({ answer: { option }, onNow, onUndo }: HeldButtonsProps) {
  const isAllow = option.decision === 'allow';
  const now = (
    <DecisionButton
      color={isAllow ? 'teal.9' : 'red.8'}
      onClick={onNow}
      rightSection={option.scope === 'once' && <Kbd size="xs">{isAllow ? 'a' : 'd'}</Kbd>}
    >
      {isAllow ? 'Allow now' : 'Deny now'}
    </DecisionButton>
  );
  const undo = (
    <ScopedButton scope="approve" variant="default" onClick={onUndo} rightSection={<Kbd size="xs">z</Kbd>}>
      Undo
    </ScopedButton>
  );
  return (
    <Group gap="xs" className={classes.answers}>
      {isAllow ? undo : now}
      {isAllow ? now : undo}
    </Group>
  );
}

/** Answers about its tool for the rest of the session. */
export function ToolAnswers({ call, isBlocked, onSay }: ToolAnswersProps) {
  const always = call.approval?.options.filter(({ scope }) => scope === 'session-tool') ?? [];
  if (always.length === 0) return null;
  return (
    <Group gap="xs">
      {always.map((option) => (
        <DecisionButton key={option.id} variant="default" isBlocked={isBlocked} onClick={() => onSay(option)}>
          {option.decision === 'allow' ? 'Always allow' : 'Never allow'} {call.tool} in this session
        </DecisionButton>
      ))}
    </Group>
  );
}

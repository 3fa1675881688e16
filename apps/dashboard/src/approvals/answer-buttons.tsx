import { Group, Kbd } from '@mantine/core';
import type { ApprovalOption, Call } from '#contracts';
import { ScopedButton } from '../components/scoped-button.js';
import type { Answer } from './held-answers.js';
import classes from './decision-card.module.css';

interface ToolAnswersProps {
  readonly call: Call;
  /** No answer is taken now: one is held or being sent, or the question has just come up under the pointer. */
  readonly isBlocked: boolean;
  readonly onSay: (option: Pick<ApprovalOption, 'decision' | 'scope'>) => void;
}

interface AnswerButtonsProps extends Omit<ToolAnswersProps, 'call'> {
  readonly isSending: boolean;
  readonly onEdit: () => void;
}

/** Answers about this call. */
export function AnswerButtons({ isBlocked, isSending, onSay, onEdit }: AnswerButtonsProps) {
  return (
    <Group gap="xs" className={classes.answers} data-blocked={isBlocked || undefined}>
      <ScopedButton
        scope="approve"
        color="teal.9"
        loading={isSending}
        isBlocked={isBlocked}
        onClick={() => onSay({ decision: 'allow', scope: 'once' })}
        rightSection={<Kbd size="xs">a</Kbd>}
      >
        Allow once
      </ScopedButton>
      <ScopedButton
        scope="approve"
        color="red.8"
        loading={isSending}
        isBlocked={isBlocked}
        onClick={() => onSay({ decision: 'deny', scope: 'once' })}
        rightSection={<Kbd size="xs">d</Kbd>}
      >
        Deny
      </ScopedButton>
      <ScopedButton scope="approve" variant="default" isBlocked={isBlocked} onClick={onEdit} rightSection={<Kbd size="xs">e</Kbd>}>
        Edit and allow
      </ScopedButton>
    </Group>
  );
}

interface HeldButtonsProps {
  readonly answer: Answer;
  readonly isBlocked: boolean;
  readonly onNow: () => void;
  readonly onUndo: () => void;
}

/** While the answer is held: the same press again sends it at once, in the place of the button that gave it. */
export function HeldButtons({ answer: { option }, isBlocked, onNow, onUndo }: HeldButtonsProps) {
  const isAllow = option.decision === 'allow';
  const now = (
    <ScopedButton
      scope="approve"
      color={isAllow ? 'teal.9' : 'red.8'}
      isBlocked={isBlocked}
      onClick={onNow}
      rightSection={option.scope === 'once' && <Kbd size="xs">{isAllow ? 'a' : 'd'}</Kbd>}
    >
      {isAllow ? 'Allow now' : 'Deny now'}
    </ScopedButton>
  );
  const undo = (
    <ScopedButton scope="approve" variant="default" onClick={onUndo} rightSection={<Kbd size="xs">z</Kbd>}>
      Undo
    </ScopedButton>
  );
  return (
    <Group gap="xs" className={classes.answers} data-blocked={isBlocked || undefined}>
      {isAllow ? now : undo}
      {isAllow ? undo : now}
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
        <ScopedButton scope="approve" key={option.id} variant="default" isBlocked={isBlocked} onClick={() => onSay(option)}>
          {option.decision === 'allow' ? 'Always allow' : 'Never allow'} {call.tool} in this session
        </ScopedButton>
      ))}
    </Group>
  );
}

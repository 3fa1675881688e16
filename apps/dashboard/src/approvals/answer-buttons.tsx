import { Group, Kbd } from '@mantine/core';
import type { ApprovalOption, Call } from '#contracts';
import { ScopedButton } from '../components/scoped-button.js';
import classes from './decision-card.module.css';

interface ToolAnswersProps {
  readonly call: Call;
  readonly pending: boolean;
  readonly onSay: (option: Pick<ApprovalOption, 'decision' | 'scope'>) => void;
}

interface AnswerButtonsProps extends Omit<ToolAnswersProps, 'call'> {
  readonly onEdit: () => void;
}

/** Answers about this call. */
export function AnswerButtons({ pending, onSay, onEdit }: AnswerButtonsProps) {
  return (
    <Group gap="xs" className={classes.answers}>
      <ScopedButton
        scope="approve"
        color="teal.9"
        loading={pending}
        onClick={() => onSay({ decision: 'allow', scope: 'once' })}
        rightSection={<Kbd size="xs">a</Kbd>}
      >
        Allow once
      </ScopedButton>
      <ScopedButton
        scope="approve"
        color="red.8"
        loading={pending}
        onClick={() => onSay({ decision: 'deny', scope: 'once' })}
        rightSection={<Kbd size="xs">d</Kbd>}
      >
        Deny
      </ScopedButton>
      <ScopedButton scope="approve" variant="default" disabled={pending} onClick={onEdit} rightSection={<Kbd size="xs">e</Kbd>}>
        Edit and allow
      </ScopedButton>
    </Group>
  );
}

/** Answers about its tool for the rest of the session. */
export function ToolAnswers({ call, pending, onSay }: ToolAnswersProps) {
  const always = call.approval?.options.filter(({ scope }) => scope === 'session-tool') ?? [];
  if (always.length === 0) return null;
  return (
    <Group gap="xs">
      {always.map((option) => (
        <ScopedButton scope="approve" key={option.id} variant="default" disabled={pending} onClick={() => onSay(option)}>
          {option.decision === 'allow' ? 'Always allow' : 'Never allow'} {call.tool} in this session
        </ScopedButton>
      ))}
    </Group>
  );
}

import { Button, Tooltip, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Scope } from '#contracts';
import { useScopes } from '../session/use-scopes.js';

interface ScopedButtonProps extends ButtonProps {
  /** What the key must have for what the button does. */
  readonly scope: Scope;
  /** Another reason why it cannot be done now. */
  readonly whyNot?: string | undefined;
  readonly type?: 'button' | 'submit';
  readonly onClick?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** A button that is switched off, with the reason, where the key does not allow what it does. It stays in the order of the Tab key, so that everybody finds the reason. */
export function ScopedButton({ scope, whyNot, onClick, type = 'button', ...props }: ScopedButtonProps) {
  const reason = useScopes().lacks(scope) ?? whyNot;
  if (reason === undefined) return <Button type={type} {...(onClick === undefined ? {} : { onClick })} {...props} />;
  return (
    <Tooltip label={reason} multiline maw={300} events={{ hover: true, focus: true, touch: true }}>
      <Button type="button" {...props} rightSection={undefined} data-disabled aria-disabled aria-description={reason} />
    </Tooltip>
  );
}

import { Button, Tooltip, type ButtonProps } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Scope } from '#contracts';
import { useScopes } from '../stream/use-scopes.js';

interface ScopedButtonProps extends ButtonProps {
  /** The scope that the action needs. */
  readonly scope: Scope;
  /** Another reason to disable it. */
  readonly whyNot?: string | undefined;
  /** True while clicks are ignored, as just after the question appeared. */
  readonly isBlocked?: boolean;
  readonly type?: 'button' | 'submit';
  readonly onClick?: (() => void) | undefined;
  readonly children: ReactNode;
}

/** A button that is disabled with the reason if the key lacks its scope. It stays focusable, so that the reason can be read. */
export function ScopedButton({ scope, whyNot, isBlocked = false, onClick, type = 'button', ...props }: ScopedButtonProps) {
  const reason = useScopes().lacks(scope) ?? whyNot;
  if (reason === undefined && isBlocked) return <Button type="button" {...props} aria-disabled data-blocked />;
  if (reason === undefined) return <Button type={type} {...(onClick === undefined ? {} : { onClick })} {...props} />;
  return (
    <Tooltip label={reason} multiline maw={300} events={{ hover: true, focus: true, touch: true }}>
      <Button type="button" {...props} rightSection={undefined} data-disabled aria-disabled aria-description={reason} />
    </Tooltip>
  );
}

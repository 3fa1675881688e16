import { Box, Kbd, Text } from '@mantine/core';
import type { TrustOption } from '#contracts';
import { escapeInvisible } from '#subject';
import { ScopedButton } from '../components/scoped-button.js';
import classes from './decision-card.module.css';
import { trustMeaning } from './trust-meaning.js';

interface TrustChoicesProps {
  readonly options: readonly TrustOption[];
  readonly pending: boolean;
  readonly onTrust: (option: TrustOption) => void;
}

/** What a person can trust beyond this call, with what that lets run; the first six have the keys 1 to 6. */
export function TrustChoices({ options, pending, onTrust }: TrustChoicesProps) {
  if (options.length === 0) return null;
  return (
    <Box>
      <Text size="sm" fw={600} mb={6}>
        Allow, and trust for the rest of the session
      </Text>
      <ul className={classes.choices}>
        {options.map((trust, index) => (
          <li key={trust.id}>
            <ScopedButton
              scope="approve"
              variant="default"
              size="xs"
              disabled={pending}
              onClick={() => onTrust(trust)}
              leftSection={index < 6 ? <Kbd size="xs">{index + 1}</Kbd> : undefined}
            >
              <span className={classes.trusted}>
                {trust.label}: {escapeInvisible(trust.display)}
              </span>
            </ScopedButton>
            <Text span size="xs" c="dimmed">
              {escapeInvisible(trustMeaning(trust))}
            </Text>
          </li>
        ))}
      </ul>
    </Box>
  );
}

import { Box, Kbd, Text } from '@mantine/core';
import type { TrustOption } from '#contracts';
import { markedText } from '#subject';
import { DecisionButton } from './decision-area.js';
import classes from './decision-card.module.css';
import { trustMeaning } from './trust-meaning.js';

interface TrustChoicesProps {
  readonly options: readonly TrustOption[];
  readonly isBlocked: boolean;
  /** The choice of this digit is granted when it is pressed again. */
  readonly digitPressed: number | undefined;
  readonly onTrust: (option: TrustOption) => void;
}

/** Trust options beyond this call, with the calls that each allows; the first six have the keys 1 to 6, pressed twice. */
export function TrustChoices({ options, isBlocked, digitPressed, onTrust }: TrustChoicesProps) {
  if (options.length === 0) return null;
  return (
    <Box>
      <Text size="sm" fw={600} mb={6}>
        Allow, and trust for the rest of the session
      </Text>
      <ul className={classes.choices}>
        {options.map((trust, index) => (
          <li key={trust.id}>
            <DecisionButton
              variant="default"
              size="xs"
              isBlocked={isBlocked}
              onClick={() => onTrust(trust)}
              leftSection={index < 6 ? <Kbd size="xs">{index + 1}</Kbd> : undefined}
            >
              <span className={classes.trusted}>
                {trust.label}: {markedText(trust.display)}
              </span>
            </DecisionButton>
            <Text span size="xs" c="dimmed">
              {markedText(trustMeaning(trust))}
            </Text>
            {index < 6 && (
              // Hidden it keeps its place: what moves takes no answer for a while, and the second press would be refused.
              <Text span size="xs" fw={600} role="status" style={{ visibility: index + 1 === digitPressed ? 'visible' : 'hidden' }}>
                Press {index + 1} again to trust it.
              </Text>
            )}
          </li>
        ))}
      </ul>
    </Box>
  );
}

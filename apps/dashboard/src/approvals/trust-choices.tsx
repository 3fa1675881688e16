import { Box, Group, Kbd, Text } from '@mantine/core';
import type { TrustOption } from '#contracts';
import { escapeInvisible } from '#subject';
import { ScopedButton } from '../components/scoped-button.js';

interface TrustChoicesProps {
  readonly options: readonly TrustOption[];
  readonly pending: boolean;
  readonly onTrust: (option: TrustOption) => void;
}

/** What a person can trust beyond this call; the first six have the keys 1 to 6. */
export function TrustChoices({ options, pending, onTrust }: TrustChoicesProps) {
  if (options.length === 0) return null;
  return (
    <Box>
      <Text size="sm" fw={600} mb={6}>
        Allow, and trust for the rest of the session
      </Text>
      <Group gap="xs">
        {options.map((trust, index) => (
          <ScopedButton
            scope="approve"
            key={trust.id}
            variant="default"
            size="xs"
            disabled={pending}
            onClick={() => onTrust(trust)}
            leftSection={index < 6 ? <Kbd size="xs">{index + 1}</Kbd> : undefined}
          >
            {trust.label}: {escapeInvisible(trust.display)}
          </ScopedButton>
        ))}
      </Group>
    </Box>
  );
}

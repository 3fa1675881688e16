import { Alert, List } from '@mantine/core';
import type { Violation } from '#contracts';

/** The gateway's errors about arguments that were not submitted. */
export function ArgumentViolations({ violations }: { readonly violations: readonly Violation[] }) {
  if (violations.length === 0) return null;
  return (
    <Alert color="red" title="These arguments do not fit the tool" role="alert">
      <List size="sm">
        {violations.map(({ pointer, message }) => (
          <List.Item key={`${pointer} ${message}`}>
            <strong>{pointer === '' ? 'arguments' : pointer}</strong> {message}
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}

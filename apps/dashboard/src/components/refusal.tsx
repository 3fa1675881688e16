import { Alert, List, Text } from '@mantine/core';
import { ToolyardError } from '#client';

/** Reason why the gateway refused a form, field by field. */
export function Refusal({ title, error }: { readonly title: string; readonly error: Error }) {
  const { detail = error.message, errors = [] } = (error instanceof ToolyardError && error.problem) || {};
  const fields = errors.filter(({ pointer, message }) => pointer !== '' && message !== detail);
  return (
    <Alert color="red" title={title} role="alert">
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {detail}
      </Text>
      {fields.length > 0 && (
        <List size="sm">
          {fields.map(({ pointer, message }) => (
            <List.Item key={`${pointer} ${message}`}>
              <strong>{pointer}</strong> {message}
            </List.Item>
          ))}
        </List>
      )}
    </Alert>
  );
}

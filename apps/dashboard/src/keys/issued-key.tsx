import { Alert, Button, Code, CopyButton, Group, Stack, Text } from '@mantine/core';
import { IconCheck, IconCopy, IconKey } from '@tabler/icons-react';
import type { IssuedKey } from '#contracts';

/** The text of a new key: it is shown this once. */
export function IssuedKeyText({ issued }: { readonly issued: IssuedKey }) {
  return (
    <Alert color="teal" icon={<IconKey aria-hidden />} title="Copy the key now" role="status">
      <Stack gap="xs">
        <Text size="sm">
          This is the only time that its text is shown: only a digest of it is stored. Its id is <Code>{issued.id}</Code>.
        </Text>
        <Code block style={{ overflowWrap: 'anywhere', whiteSpace: 'pre-wrap' }} data-issued-key>
          {issued.key}
        </Code>
        <Group>
          <CopyButton value={issued.key}>
            {({ copied, copy }) => (
              <Button
                size="xs"
                onClick={copy}
                leftSection={copied ? <IconCheck size={14} aria-hidden /> : <IconCopy size={14} aria-hidden />}
              >
                {copied ? 'Copied' : 'Copy'}
              </Button>
            )}
          </CopyButton>
        </Group>
      </Stack>
    </Alert>
  );
}

import { Button, Code, CopyButton, Group, Paper, SegmentedControl, Text, Title } from '@mantine/core';
import { IconPlayerPlay } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { z } from 'zod';
import { asCurl, asPython, asSdk, shellWord } from '#subject';
import { LinkButton } from '../components/links.js';
import { notifyError } from '../components/notify.js';
import { ScopedButton } from '../components/scoped-button.js';
import { useKey } from '../session/key.js';
import { useToolyard } from '../stream/toolyard.js';
import { runExample } from './example-session.js';

const FIRST = { tool: 'shell', arguments: { command: 'echo hello' }, sessionId: 'first-steps' };
const Language = z.enum(['curl', 'TypeScript', 'Python']);
const CODE = { curl: asCurl, TypeScript: asSdk, Python: asPython } as const;

/** Shown while there is no call: how to make the first one, and an example that makes several. */
export function FirstRun() {
  const { client } = useToolyard();
  const navigate = useNavigate();
  const key = useKey();
  const [language, setLanguage] = useState<z.output<typeof Language>>('curl');
  const example = useMutation({
    mutationFn: () => runExample(client),
    onSuccess: (sessionId) => void navigate({ to: '/sessions/$sessionId', params: { sessionId } }),
    onError: (error) => notifyError('The example did not start', error),
  });
  const code = CODE[language](FIRST, location.origin);
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-label="First steps" data-first-run>
      <Group justify="space-between" mb="xs">
        <Title order={2}>Make the first call</Title>
        <SegmentedControl
          size="xs"
          aria-label="Language of the example"
          value={language}
          onChange={(chosen) => setLanguage(Language.parse(chosen))}
          data={[...Language.options]}
        />
      </Group>
      <Text size="sm" c="dimmed" mb="xs">
        There is no call yet. Put {key === undefined ? 'a key' : 'the key of this page'} into <Code>TOOLYARD_API_KEY</Code> in a terminal
        and paste this; the call appears here while it runs.
      </Text>
      <Code block tabIndex={0} aria-label={`Example in ${language}`}>
        {code}
      </Code>
      <Group mt="md" gap="xs">
        <ScopedButton
          scope="submit"
          size="sm"
          loading={example.isPending}
          leftSection={<IconPlayerPlay size={16} aria-hidden />}
          onClick={() => example.mutate()}
        >
          Run an example agent
        </ScopedButton>
        {key !== undefined && <Copy name="Copy the line with the key" text={`export TOOLYARD_API_KEY=${shellWord(key)}`} />}
        <Copy name="Copy" text={code} />
        <LinkButton to="/tools" variant="default">
          Try a tool
        </LinkButton>
      </Group>
      <Text size="xs" c="dimmed" mt={6}>
        The example makes six calls in a session of its own: it writes a small script, runs it, fails, mends it.
      </Text>
    </Paper>
  );
}

function Copy({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <CopyButton value={text}>
      {({ copied, copy }) => (
        <Button variant="default" onClick={copy}>
          {copied ? 'Copied' : name}
        </Button>
      )}
    </CopyButton>
  );
}

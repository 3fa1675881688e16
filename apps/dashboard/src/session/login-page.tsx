import { Alert, Button, Center, Code, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useState, type FormEvent } from 'react';
import { ToolyardClient, ToolyardError } from '#client';
import { setKey } from './key.js';

/** Asks for the API key once a tab, and accepts only one that the gateway knows. */
export function LoginPage() {
  const [key, setTyped] = useState('');
  const [fault, setFault] = useState<string>();
  const [asking, setAsking] = useState(false);

  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setAsking(true);
    setFault(await keyError(key.trim()));
    setAsking(false);
  };

  return (
    <Center component="main" mih="100dvh" p="md">
      <Paper withBorder shadow="sm" p="xl" w="100%" maw={420}>
        <form onSubmit={(event) => void submit(event)}>
          <Stack gap="md">
            <Title order={1}>Toolyard</Title>
            <Text size="sm" c="dimmed">
              Watch agents at work, approve, cancel and replay their calls.
            </Text>
            <PasswordInput
              label="API key"
              description={
                <>
                  A key with the scope <Code>read</Code>; more scopes, more buttons. <Code>npm start</Code> keeps one in{' '}
                  <Code>.toolyard/key</Code>.
                </>
              }
              value={key}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              required
              data-autofocus
              autoFocus
            />
            {fault !== undefined && (
              <Alert color="red" role="alert" title="Not let in">
                {fault}
              </Alert>
            )}
            <Button type="submit" loading={asking}>
              Open the dashboard
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}

/** The error of the key; undefined if the gateway accepted it, and then it is stored. */
async function keyError(key: string): Promise<string | undefined> {
  try {
    await new ToolyardClient({ baseUrl: location.origin, apiKey: key }).queues.list();
    setKey(key);
    return undefined;
  } catch (error) {
    if (error instanceof ToolyardError) return error.message;
    return 'The gateway does not answer. Is it running? Try again in a moment.';
  }
}

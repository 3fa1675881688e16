import { Alert, Button, Center, Code, Divider, Paper, PasswordInput, Stack, Text, Title } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect, useState, type FormEvent } from 'react';
import { ToolyardClient, ToolyardError } from '#client';
import { LOGIN_LIMITS, type LoginOptions } from '#contracts';
import { setKey } from './key.js';
import { forgetPages } from './use-login.js';

interface LoginPageProps {
  readonly provider: LoginOptions['provider'];
}

/** Offers to sign in with a provider, where there is one, and asks for the API key once a tab: only one that the gateway knows is accepted. */
export function LoginPage({ provider }: LoginPageProps) {
  const [key, setTyped] = useState('');
  const [fault, setFault] = useState<string>();
  const [asking, setAsking] = useState(false);
  const queries = useQueryClient();
  useEffect(() => forgetPages(queries), [queries]);

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
            {provider !== undefined && (
              <>
                <Button component="a" href={`${provider.url}?${new URLSearchParams({ returnTo: pageNow() }).toString()}`}>
                  Sign in with {provider.name}
                </Button>
                <Divider label="or" labelPosition="center" />
              </>
            )}
            <PasswordInput
              label="API key"
              description={
                <>
                  A key with the scope <Code>read</Code>; more scopes, more buttons. <Code>npm start</Code> keeps one in{' '}
                  <Code>.toolyard/key</Code>, or in the folder of <Code>TOOLYARD_DATA</Code>.
                </>
              }
              value={key}
              onChange={(event) => setTyped(event.currentTarget.value)}
              autoComplete="off"
              required
              {...(provider === undefined ? { 'data-autofocus': true, autoFocus: true } : {})}
            />
            {fault !== undefined && (
              <Alert color="red" role="alert" title="Not let in">
                {fault}
              </Alert>
            )}
            <Button type="submit" loading={asking} variant={provider === undefined ? 'filled' : 'default'}>
              Open the dashboard
            </Button>
          </Stack>
        </form>
      </Paper>
    </Center>
  );
}

/** Address to return to after the login. The gateway accepts no backslash. */
function pageNow(): string {
  const page = (location.pathname + location.search + location.hash).replaceAll('\\', '%5C');
  return page.length <= LOGIN_LIMITS.returnToChars ? page : location.pathname;
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

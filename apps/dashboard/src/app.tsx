import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { MutationCache, QueryCache, QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { ToolyardError } from '#client';
import { PendingDecisionsProvider } from './approvals/use-pending-decisions.js';
import { LoadAhead } from './layout/load-ahead.js';
import { router } from './router.js';
import { useKey } from './session/key.js';
import { isSignedOut, lookAtLogin, useLogin } from './session/use-login.js';
import { ToolyardProvider } from './stream/toolyard.js';
import { cssVariables, theme } from './components/theme.js';
import type { ReactNode } from 'react';
import { LoginPage } from './session/login-page.js';

/** Retries faults of the network or a restart only; a refusal is final. */
const queries: QueryClient = new QueryClient({
  queryCache: new QueryCache({ onError: whenRefused }),
  mutationCache: new MutationCache({ onError: whenRefused }),
  defaultOptions: {
    queries: {
      // The client has tried each of these several times.
      retry: (failures, error) => failures < 1 && !(error instanceof ToolyardError && (error.status ?? 500) < 500),
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5000),
      refetchOnWindowFocus: false,
      staleTime: 5000,
      gcTime: 60_000,
    },
  },
});

/** The login page comes at the address at which the login was over. */
function whenRefused(error: unknown): void {
  if (isSignedOut(error)) lookAtLogin(queries);
}

function Pages({ apiKey }: { readonly apiKey: string | undefined }) {
  return (
    <ToolyardProvider apiKey={apiKey}>
      <PendingDecisionsProvider>
        <LoadAhead />
        <RouterProvider router={router} />
      </PendingDecisionsProvider>
    </ToolyardProvider>
  );
}

export function App() {
  const key = useKey();
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <Notifications position="bottom-right" limit={4} />
      <QueryClientProvider client={queries}>
        {key === undefined ? (
          <LoginGate>
            <Pages apiKey={undefined} />
          </LoginGate>
        ) : (
          <Pages key={key} apiKey={key} />
        )}
      </QueryClientProvider>
    </MantineProvider>
  );
}

/** The pages for a person who has signed in; else the login page, at the same address. */
function LoginGate({ children }: { readonly children: ReactNode }) {
  const { data, isPending } = useLogin();
  if (isPending) return null;
  return data?.signedIn === true ? children : <LoginPage provider={data?.provider} />;
}

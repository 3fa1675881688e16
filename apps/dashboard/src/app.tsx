import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { ToolyardError } from '#client';
import { HeldAnswersProvider } from './approvals/use-held.js';
import { router } from './router.js';
import { LoginPage } from './session/login-page.js';
import { useKey } from './session/key.js';
import { ToolyardProvider } from './stream/toolyard.js';
import { cssVariables, theme } from './components/theme.js';

/** Retries only what the network or a restart may have caused; a refusal is final. */
const queries = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 3 && !(error instanceof ToolyardError && (error.status ?? 500) < 500),
      retryDelay: (attempt) => Math.min(500 * 2 ** attempt, 5000),
      refetchOnWindowFocus: false,
      staleTime: 5000,
      gcTime: 60_000,
    },
  },
});

export function App() {
  const key = useKey();
  return (
    <MantineProvider theme={theme} cssVariablesResolver={cssVariables} defaultColorScheme="auto">
      <Notifications position="bottom-right" limit={4} />
      <QueryClientProvider client={queries}>
        {key === undefined ? (
          <LoginPage />
        ) : (
          <ToolyardProvider key={key} apiKey={key}>
            <HeldAnswersProvider>
              <RouterProvider router={router} />
            </HeldAnswersProvider>
          </ToolyardProvider>
        )}
      </QueryClientProvider>
    </MantineProvider>
  );
}

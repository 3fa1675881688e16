import { useQuery, type QueryClient } from '@tanstack/react-query';
import { ToolyardClient, ToolyardError } from '#client';

const LOGIN = {
  queryKey: ['login-options'],
  queryFn: ({ signal }: { readonly signal: AbortSignal }) =>
    new ToolyardClient({ baseUrl: location.origin, login: true }).gateway.loginOptions({ signal }),
} as const;

/** How people sign in here, and whether the browser has a login that counts. */
export function useLogin() {
  return useQuery({ ...LOGIN, staleTime: Infinity });
}

/** Reloads the login after a refusal, since it may have ended. Requests nothing while a key is used. */
export function lookAtLogin(queries: QueryClient): void {
  void queries.invalidateQueries(LOGIN);
}

/**
 * Checks the login after the gateway ended the event stream. A continuing login may have other roles: all pages load again. Never
 * rejects.
 */
export async function isStillSignedIn(queries: QueryClient): Promise<boolean> {
  try {
    const { signedIn } = await queries.fetchQuery({ ...LOGIN, staleTime: 0 });
    if (signedIn) void queries.invalidateQueries({ predicate: isOfPages });
    return signedIn;
  } catch {
    // The gateway is out of reach: the stream tries again.
    return true;
  }
}

/** Nothing that one person has loaded is shown to the next. */
export function forgetPages(queries: QueryClient): void {
  queries.removeQueries({ predicate: isOfPages });
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ToolyardError && error.status === 401;
}

function isOfPages({ queryKey }: { readonly queryKey: readonly unknown[] }): boolean {
  return queryKey[0] !== LOGIN.queryKey[0];
}

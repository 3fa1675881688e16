import { useQuery, type QueryClient } from '@tanstack/react-query';
import { ToolyardClient, ToolyardError } from '#client';

const LOGIN = ['login-options'] as const;

/** How people sign in here, and whether the browser has a login that counts. */
export function useLogin() {
  return useQuery({
    queryKey: LOGIN,
    queryFn: ({ signal }) => new ToolyardClient({ baseUrl: location.origin, login: true }).gateway.loginOptions({ signal }),
    staleTime: Infinity,
  });
}

/** After a refusal: the login may be over. Nothing is asked for while a key is used. */
export function lookAtLogin(queries: QueryClient): void {
  void queries.invalidateQueries({ queryKey: LOGIN });
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof ToolyardError && error.status === 401;
}

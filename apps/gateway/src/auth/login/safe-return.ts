import { ProblemError } from '#contracts';

/** Path of a dashboard page. Excludes paths of the API. */
const PAGE = /^\/(?![/\\])(?!(?:v1|mcp)(?:[/?#]|$))[\x21-\x7e]*$/;

/** Path of the page for the return. @throws ProblemError `invalid_request` for anything that leads elsewhere */
export function safeReturn(returnTo: string | undefined, origin: string): string {
  if (returnTo === undefined) return '/';
  const target = PAGE.test(returnTo) && !returnTo.includes('\\') && URL.canParse(returnTo, origin) ? new URL(returnTo, origin) : undefined;
  if (target?.origin === origin) return target.pathname + target.search + target.hash;
  const message = 'expected the path of a page of the dashboard, such as /approvals';
  throw new ProblemError('invalid_request', `returnTo: ${message}`, { errors: [{ pointer: '/returnTo', message }] });
}

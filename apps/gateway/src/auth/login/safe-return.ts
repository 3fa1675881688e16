import { ProblemError } from '#contracts';

/** Not those of programs: a page of the dashboard alone. */
const PAGE = /^\/(?![/\\])(?!(?:v1|mcp)(?:[/?#]|$))[\x21-\x7e]*$/;

/** The path of the page that a person comes back to. @throws ProblemError `invalid_request` for anything that leads elsewhere */
export function safeReturn(returnTo: string | undefined, origin: string): string {
  if (returnTo === undefined) return '/';
  const target = PAGE.test(returnTo) && !returnTo.includes('\\') && URL.canParse(returnTo, origin) ? new URL(returnTo, origin) : undefined;
  if (target?.origin === origin) return target.pathname + target.search + target.hash;
  const message = 'expected the path of a page of the dashboard, such as /approvals';
  throw new ProblemError('invalid_request', `returnTo: ${message}`, { errors: [{ pointer: '/returnTo', message }] });
}

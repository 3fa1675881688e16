import type { Posture } from '#contracts';

export interface BannerFacts {
  readonly url: string;
  /** Where the key is, or undefined when it came from the environment. */
  readonly keyFile: string | undefined;
  /** The key itself, where it may be shown: at a terminal, never in a log. */
  readonly keyToShow: string | undefined;
  readonly redis: string;
  readonly dataDirectory: string;
  readonly posture: Posture;
  readonly tookMs: number;
}

/** What a person sees once all is up: where to look, where the key is, and a line to paste. */
export function banner(facts: BannerFacts): string {
  const key = facts.keyFile === undefined ? '$TOOLYARD_API_KEY' : `$(cat ${shellWord(facts.keyFile)})`;
  return `
Toolyard is up after ${(facts.tookMs / 1000).toFixed(1)} s.  Ctrl-C drains and stops it; a second Ctrl-C stops at once.

  Dashboard   ${facts.url}/${facts.keyToShow === undefined ? '' : `#key=${facts.keyToShow}`}
  API         ${facts.url}
  Explore     ${facts.url}/docs
  Metrics     ${facts.url}/metrics
  Key         ${facts.keyFile ?? 'from TOOLYARD_API_KEY'}
  Data        ${facts.dataDirectory}
  Redis       ${facts.redis}
  Posture     ${postureText(facts.posture)}

A first call:

  curl -sS ${facts.url}/v1/calls -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -H 'Prefer: wait=10' -d '{"tool":"shell","arguments":{"command":"echo hello"}}'
`;
}

/** What sessions that nobody set up may do, and how to have it otherwise. */
function postureText({ autonomy, permissionMode }: Posture): string {
  const said = `${autonomy}, ${permissionMode}`;
  if (autonomy !== 'full' || permissionMode !== 'danger-full-access') return said;
  return `${said}: nobody is asked. DEFAULT_AUTONOMY=supervised DEFAULT_PERMISSION_MODE=workspace-write has you asked about commands`;
}

/** Plain where it may be, single-quoted where the shell would read it otherwise. */
function shellWord(path: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

import { userInfo } from 'node:os';
import type { Posture } from '#contracts';
import type { ConfigFacts } from '../../gateway/src/platform/config-facts.js';
import type { Programs } from './programs.js';

export interface BannerFacts {
  readonly url: string;
  /** Where the key is, or undefined when it came from the environment. */
  readonly keyFile: string | undefined;
  /** The key itself, where it may be shown: at a terminal, never in a log. */
  readonly keyToShow: string | undefined;
  readonly redis: string;
  readonly dataDirectory: string;
  /** Address and data folder are the defaults, so programs in this folder need no variable. */
  readonly foundByDefault: boolean;
  readonly posture: Posture;
  readonly programs: Programs;
  readonly configFile: ConfigFacts | undefined;
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
  Config      ${configText(facts.configFile)}
  Posture     ${postureText(facts.posture)}
  Sandbox     ${sandboxText(facts.programs)}
  Search      ${facts.programs.ripgrep ? 'ripgrep' : 'none: file_search and glob fail. To have them: apt-get install ripgrep'}
${exportLines(facts)}
A first call:

  curl -sS ${facts.url}/v1/calls -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -H 'Prefer: wait=10' -d '{"tool":"shell","arguments":{"command":"echo hello"}}'
`;
}

/** For other terminals, where the defaults do not hold. */
function exportLines({ foundByDefault, dataDirectory, url }: BannerFacts): string {
  if (foundByDefault) return '';
  return `
For \`npx toolyard\`, the examples and your programs, in another terminal:

  export TOOLYARD_DATA=${shellWord(dataDirectory)}
  export TOOLYARD_URL=${url}
`;
}

function sandboxText({ sandbox }: Programs): string {
  if (sandbox === undefined) return 'none needed: this worker does not serve the pool shell';
  const why = sandbox.reason === undefined ? '' : ` (${sandbox.reason})`;
  if (!sandbox.ok) return `${sandbox.backend}: commands are refused${why}`;
  if (sandbox.isolation !== 'none') return `${sandbox.backend}: commands run isolated in their workspace`;
  return `none: commands run as ${userInfo().username}, with all rights of that user${why}. To isolate them: apt-get install bubblewrap`;
}

/** `/etc/toolyard.yaml: 1 agent, 2 hooks`. */
function configText(file: ConfigFacts | undefined): string {
  if (file === undefined) return 'none (TOOLYARD_CONFIG names a file)';
  const { path, keys, agents, hooks } = file;
  const counted = [counts(keys, 'key'), counts(agents, 'agent'), counts(hooks, 'hook')].filter((text) => text !== '');
  return counted.length === 0 ? path : `${path}: ${counted.join(', ')}`;
}

function counts(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`;
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

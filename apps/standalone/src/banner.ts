import { userInfo } from 'node:os';
import type { Posture } from '#contracts';
import { cleanText } from '#patterns';
import type { ConfigFacts, OwnPosture } from '../../gateway/src/platform/config-facts.js';
import type { Programs } from './programs.js';
import type { FoundSource } from './sources.js';

/** Characters of the reason of a failing source. */
const MAX_REASON = 300;

export interface BannerFacts {
  readonly url: string;
  /** The key's file; undefined if the key came from the environment. */
  readonly keyFile: string | undefined;
  /** The key itself, if it may be shown: on a terminal, never in a log. */
  readonly keyToShow: string | undefined;
  readonly redis: string;
  readonly history: string;
  readonly dataDirectory: string;
  /** Address and data folder are the defaults: programs in this folder need no variable. */
  readonly foundByDefault: boolean;
  readonly posture: Posture;
  readonly ownPostures: readonly OwnPosture[];
  readonly programs: Programs;
  readonly configFile: ConfigFacts | undefined;
  readonly sources: readonly FoundSource[];
  readonly toolFolders: readonly string[];
  readonly tookMs: number;
}

/** The start message: addresses, the key's place, and a first call to paste. */
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
  History     ${facts.history}
  Config      ${configText(facts.configFile)}
  Sources     ${sourcesText(facts.sources)}
  Tools       ${facts.toolFolders.join(', ') || 'no folder of your own: TOOLYARD_TOOLS names one'}
  Posture     ${postureText(facts.posture)}${ownPosturesText(facts.ownPostures)}
  Sandbox     ${sandboxText(facts.programs)}${hostsText(facts.programs)}
  Search      ${facts.programs.ripgrep ? 'ripgrep' : 'none: file_search and glob fail. To install it: apt-get install ripgrep'}
${exportLines(facts)}
A first call:

  curl -sS ${facts.url}/v1/calls -H "Authorization: Bearer ${key}" -H 'Content-Type: application/json' -H 'Prefer: wait=10' -d '{"tool":"shell","arguments":{"command":"echo hello"}}'
`;
}

/** The last line: what a person wants to know after Ctrl-C. `open`: calls that have not ended, if they were counted. */
export function stoppedText(open: number | undefined): string {
  if (open === undefined) return 'Stopped.';
  if (open === 0) return 'Stopped. No call was left open.';
  return `Stopped, nothing lost: ${open === 1 ? '1 call goes' : `${open} calls go`} on at the next start.`;
}

/** Export lines for other terminals, if the defaults do not apply. */
function exportLines({ foundByDefault, dataDirectory, url }: BannerFacts): string {
  if (foundByDefault) return '';
  return `
For \`toolyard\`, the examples and your programs, in another terminal:

  export TOOLYARD_DATA=${shellWord(dataDirectory)}
  export TOOLYARD_URL=${url}
`;
}

function sandboxText({ sandbox }: Programs): string {
  if (sandbox === undefined) return 'none needed: this worker does not serve the pool shell';
  const why = sandbox.reason === undefined ? '' : ` (${sandbox.reason})`;
  if (!sandbox.ok) return `${sandbox.backend}: commands are refused${why}`;
  if (sandbox.isolation !== 'none') return `${sandbox.backend}: commands run isolated in their workspace${why}`;
  return `none: commands run as ${userInfo().username}, with all rights of that user${why}. To isolate them: apt-get install bubblewrap`;
}

/** A line for each host that has the commands of some agents and sessions. */
function hostsText({ hosts }: Programs): string {
  const whose = ({ tenant, agents, sessions }: Programs['hosts'][number]) =>
    `tenant ${tenant}, agents ${agents.join(', ')}, sessions ${sessions.join(', ')}`;
  return hosts
    .map((host) => `\n              ${host.name}: commands of ${whose(host)} run there over ssh, with all rights of its account`)
    .join('');
}

/** `4 sources, 1 failing`, and a line for each that fails. */
function sourcesText(sources: readonly FoundSource[]): string {
  if (sources.length === 0) return 'none besides the built-in tools: toolyard sources add, or the config file';
  const failing = sources.filter((source) => source.state === 'fails');
  const connecting = sources.filter(({ state }) => state === 'connecting').length;
  const counted = [
    counts(sources.length, 'source'),
    ...(failing.length === 0 ? [] : [`${failing.length} failing`]),
    ...(connecting === 0 ? [] : [`${connecting} connecting`]),
  ];
  return counted.join(', ') + failing.map(({ name, reason }) => `\n              ${name}: ${inOneLine(reason)}`).join('');
}

/** Text of a source, which may be hostile, for a terminal. */
function inOneLine(text: string): string {
  return cleanText(text).replaceAll(/\s+/g, ' ').slice(0, MAX_REASON);
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

/** The default posture, and how to change it. */
function postureText({ autonomy, permissionMode }: Posture): string {
  const posture = `${autonomy}, ${permissionMode}`;
  if (autonomy !== 'full' || permissionMode !== 'danger-full-access') return posture;
  return `${posture}: calls run without approval. To approve commands: DEFAULT_AUTONOMY=supervised DEFAULT_PERMISSION_MODE=workspace-write`;
}

/** A line for each tenant and agent that has another posture. */
function ownPosturesText(own: readonly OwnPosture[]): string {
  const whose = ({ tenant, agent }: OwnPosture) => (agent === undefined ? `tenant ${tenant}` : `tenant ${tenant}, agent ${agent}`);
  return own.map((it) => `\n              ${whose(it)}: ${it.posture.autonomy}, ${it.posture.permissionMode}`).join('');
}

/** A shell word; single-quoted if needed. */
function shellWord(path: string): string {
  return /^[A-Za-z0-9_@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

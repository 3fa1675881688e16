import { realpath, stat } from 'node:fs/promises';
import { DisabledSandbox, type PoolSandbox, type ProcessCommand, ProcessStartError, Sandbox, isWithin, resolveSandboxView } from '#sandbox';
import { type ToolContext, ToolError } from '#tool-sdk';
import { everyMs, FailurePauses, type Ticker } from '#timing';
import type { EndedSession } from '../../session-ends.js';
import { LanguageServer } from './language-server.js';
import { type LanguageServerSettings, NO_LANGUAGE_SERVERS, type ServerSettings } from './language-servers.config.js';

const LOOK_MS = 30_000;
const START_PAUSES = { firstMs: 1_000, maxMs: 60_000 };
const PRIVATE_HOME = '/tmp';

interface Entry {
  readonly tenantId: string;
  /** Undefined for calls without a session. */
  readonly sessionId: string | undefined;
  readonly root: string;
  readonly server: Promise<LanguageServer>;
  /** Calls that use it or wait for its start. */
  users: number;
  lastUsed: number;
  /** True if the session was deleted: the server ends with its last user. */
  isOver: boolean;
}

const UNISOLATED =
  'they run code of the workspace without an approval, and commands are not isolated on this worker: set SANDBOX=bubblewrap';

/** Availability of servers in a process with these settings and commands, determined without starting one. */
export function languageServersStatus(
  { servers }: LanguageServerSettings,
  { ok, isolation, reason }: PoolSandbox,
): { readonly ok: boolean; readonly reason?: string } {
  if (servers.length === 0) return { ok: false, reason: 'not configured: set LANGUAGE_SERVERS for the workers' };
  if (!ok) return { ok, reason: `commands do not run on this worker: ${reason}` };
  return isolation === 'none' ? { ok: false, reason: UNISOLATED } : { ok };
}

/**
 * Language servers of this process: one for each workspace, visible part of it, and configured server. Started by the first
 * call, ended after idle time, on deletion of its session or workspace, or to make room for another one. The class is the
 * injection token.
 */
export class LanguageServers {
  private readonly entries = new Map<string, Entry>();
  /** By server and workspace, until it has answered a request; for floods by server and tenant. */
  private readonly pauses = new FailurePauses(START_PAUSES);
  private readonly closing = new AbortController();
  private ticker: Ticker | undefined;

  constructor(
    private readonly settings: LanguageServerSettings = NO_LANGUAGE_SERVERS,
    private readonly sandbox: Sandbox = new DisabledSandbox('no sandbox was chosen for this process'),
  ) {}

  get configured(): readonly ServerSettings[] {
    return this.settings.servers;
  }

  /** Server by file extension. */
  serverFor(path: string): ServerSettings | undefined {
    const extension = path.slice(path.lastIndexOf('.') + 1).toLowerCase();
    return this.settings.servers.find(({ extensions }) => extensions.includes(extension));
  }

  /** @throws ToolError with the setting that the operator has to add */
  required(path: string): ServerSettings {
    const found = this.serverFor(path);
    if (found !== undefined) return found;
    const there = this.settings.servers.map(({ name, extensions }) => `${name} for .${extensions.join(', .')}`).join('; ');
    throw new ToolError(
      'unavailable',
      `not configured: no language server is configured for ${path.slice(0, 200)}. The operator names one in LANGUAGE_SERVERS of the workers (there now: ${there || 'none'}). ` +
        'Use the operations of code by symbol_name, or pattern_rewrite of code_edit.',
      { retryable: false },
    );
  }

  /**
   * Lets a call use the server, which is started if necessary.
   * @throws ToolError `unavailable` if it cannot start or there is no room, and errors of `work`
   */
  async use<T>(settings: ServerSettings, ctx: ToolContext, work: (server: LanguageServer) => Promise<T>): Promise<T> {
    const { key, entry } = await this.entryFor(settings, ctx);
    let server: LanguageServer | undefined;
    try {
      server = await unlessAborted(entry.server, ctx.signal);
      const result = await work(server);
      if (server.hasWorked) this.pauses.forget(key);
      return result;
    } finally {
      // Charges concurrent calls to the first one that ends, including the CPU time of the server between calls.
      if (server !== undefined) ctx.onCpuTime?.(server.takeCpuMs());
      entry.users -= 1;
      entry.lastUsed = performance.now();
      if (entry.isOver) await this.dropOver(key, entry);
    }
  }

  /** The session was deleted. Servers that a call still uses end after it. */
  async endOf({ tenantId, sessionId }: EndedSession): Promise<void> {
    const own = [...this.entries].filter(([, entry]) => entry.tenantId === tenantId && entry.sessionId === sessionId);
    for (const [, entry] of own) entry.isOver = true;
    await Promise.all(own.map(([key, entry]) => this.dropOver(key, entry)));
  }

  /** Ends all servers. Idempotent. */
  async close(): Promise<void> {
    this.ticker?.unsubscribe();
    this.closing.abort();
    await Promise.all([...this.entries.keys()].map((key) => this.drop(key, 'its worker was stopped')));
  }

  /** The caller is counted as a user in the step that finds or opens the entry: in a later one, another call could take its room. */
  private async entryFor(settings: ServerSettings, ctx: ToolContext): Promise<{ key: string; entry: Entry }> {
    const root = await realpath(ctx.workspace.root);
    const view = await resolveSandboxView({ ...ctx.workspace, root }, ctx.signal);
    const hidden = (view?.hidden ?? []).filter(({ path }) => isWithin(path, root));
    const key = JSON.stringify([settings.name, ctx.tenantId, root, hidden]);
    const before = this.entries.get(key);
    if (before !== undefined) return { key, entry: used(before) };
    const { ok, isolation, detail } = await this.sandbox.probe();
    const why = ok && isolation === 'none' ? UNISOLATED : detail;
    if (!ok || isolation === 'none') throw new ToolError('unavailable', `Language servers are disabled: ${why}`, { retryable: false });
    const command = this.commandOf(settings, root, hidden, ctx);
    return { key, entry: used(this.entries.get(key) ?? this.open(key, { settings, root, command }, ctx)) };
  }

  /** The server sees its workspace, which it cannot write to, nothing that is denied to the call, and no network. */
  private commandOf(
    { name, command: [program, ...args] }: ServerSettings,
    root: string,
    hidden: readonly { readonly path: string; readonly directory: boolean }[],
    { env }: ToolContext,
  ): ProcessCommand {
    const file = program.startsWith('/') ? program : this.sandbox.findProgram([program], env['PATH']);
    if (file === undefined)
      throw new ToolError(
        'unavailable',
        `The language server ${name} is not available: ${program} is not installed where commands see it. Install it under /usr, or name its folder in SANDBOX_READABLE and PATH.`,
        { retryable: false },
      );
    const command = { file, args, cwd: root, env: { ...env, HOME: PRIVATE_HOME, PWD: root } };
    return this.sandbox.wrap(command, root, { visible: [], hidden, readOnly: [root], network: 'none' });
  }

  /** @throws ToolError `unavailable` during a pause of any of the keys */
  private assertNoPause(name: string, ...keys: string[]): void {
    const leftMs = Math.max(...keys.map((key) => this.pauses.leftMs(key)));
    if (leftMs === 0) return;
    const seconds = Math.ceil(leftMs / 1_000);
    throw new ToolError(
      'unavailable',
      `The language server ${name} has ended by itself and is not started again before ${seconds} s have passed. Try again then, or use operations by symbol_name.`,
      { retryable: true, retryAfterMs: Math.ceil(leftMs) },
    );
  }

  private open(
    key: string,
    start: { settings: ServerSettings; root: string; command: ProcessCommand },
    { tenantId, sessionId }: ToolContext,
  ): Entry {
    const { name } = start.settings;
    this.assertNoPause(name, key, tenantKey(tenantId, name));
    const room = this.makeRoom(tenantId);
    const entry: Entry = {
      tenantId,
      sessionId,
      root: start.root,
      server: room.then(() => this.start(key, start)),
      users: 0,
      lastUsed: performance.now(),
      isOver: false,
    };
    this.entries.set(key, entry);
    entry.server.catch(() => {
      if (this.entries.get(key) === entry) this.entries.delete(key);
    });
    this.ticker ??= everyMs(Math.min(LOOK_MS, this.settings.idleMs), () => this.dropUnused());
    return entry;
  }

  private async start(
    key: string,
    start: { readonly settings: ServerSettings; readonly root: string; readonly command: ProcessCommand },
  ): Promise<LanguageServer> {
    const entry = this.entries.get(key);
    const onEnd = (_why = '', isFlood = false): void => {
      // Ignores a server that was ended on purpose: it is no longer in the table.
      if (entry === undefined || this.entries.get(key) !== entry) return;
      this.entries.delete(key);
      // A flood keeps the server out of all workspaces of the tenant.
      this.pauses.begin(isFlood ? tenantKey(entry.tenantId, start.settings.name) : key);
    };
    try {
      return await LanguageServer.start({ ...start, times: this.settings }, { signal: this.closing.signal }, onEnd);
    } catch (error) {
      onEnd();
      if (!(error instanceof ProcessStartError)) throw error;
      throw new ToolError('unavailable', `The language server ${start.settings.name} cannot start: ${error.message}.`, {
        retryable: false,
        cause: error,
      });
    }
  }

  /** @throws ToolError when all servers that could make room are in use */
  private makeRoom(tenantId: string): Promise<void> {
    const all = [...this.entries];
    const own = all.filter(([, entry]) => entry.tenantId === tenantId);
    const isOwnFull = own.length >= Math.ceil(this.settings.most / 2);
    if (!isOwnFull && all.length < this.settings.most) return Promise.resolve();
    const [oldest] = (isOwnFull ? own : all).filter(([, { users }]) => users === 0).toSorted(([, a], [, b]) => a.lastUsed - b.lastUsed);
    if (oldest === undefined)
      throw new ToolError('unavailable', 'All language servers of this worker are in use. Try again later.', { retryable: true });
    return this.drop(oldest[0], 'its room was needed for another workspace');
  }

  private async dropUnused(): Promise<void> {
    const unused = performance.now() - this.settings.idleMs;
    for (const [key, { users, lastUsed, root }] of this.entries) {
      if (users > 0) continue;
      const isThere = await stat(root).then(
        () => true,
        () => false,
      );
      if (!isThere) await this.drop(key, 'its workspace is gone');
      else if (lastUsed < unused && this.entries.get(key)?.users === 0) await this.drop(key, 'it was not used for a while');
    }
  }

  private async dropOver(key: string, entry: Entry): Promise<void> {
    if (entry.users === 0 && this.entries.get(key) === entry) await this.drop(key, 'its session was deleted');
  }

  private async drop(key: string, why: string): Promise<void> {
    const entry = this.entries.get(key);
    this.entries.delete(key);
    const server = await entry?.server.catch(() => undefined);
    await server?.stop(why);
  }
}

const tenantKey = (tenantId: string, name: string): string => JSON.stringify([tenantId, name]);

function used(entry: Entry): Entry {
  entry.users += 1;
  return entry;
}

async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted();
  let stop = (): void => {};
  const aborted = new Promise<never>((_resolve, reject) => {
    stop = () => reject(signal.reason instanceof Error ? signal.reason : new Error('aborted'));
    signal.addEventListener('abort', stop, { once: true });
  });
  return Promise.race([work, aborted]).finally(() => signal.removeEventListener('abort', stop));
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { RemoteHostSettings, RemoteHosts as HostSettings } from '#contracts';
import { globMatches } from '#patterns';
import { everyMs, type Ticker } from '#timing';
import { findExecutable } from '../process/find-executable.js';
import type { ResourceLimits } from '../process/resource-limits.js';
import { knownHostsText } from './ssh-command.js';
import type { SshFailure } from './ssh-failure.js';
import { SshHost, type RemoteHostState } from './ssh-host.adapter.js';

const PROBE_EVERY_MS = 60_000;

/** Tenant, agents and sessions whose commands run on a host. */
export type HostRule = Pick<RemoteHostSettings, 'tenant' | 'agents' | 'sessions'>;

/** Caller of the commands. */
export interface RemoteCaller {
  readonly tenantId: string;
  readonly agentId?: string | undefined;
  readonly sessionId?: string | undefined;
}

/** Host in the status of a worker. */
export interface RemoteHostStatus extends RemoteHostState, HostRule {
  readonly name: string;
}

export interface RemoteHostsOptions {
  readonly limits?: ResourceLimits;
  /** Environment with the private keys of `secretEnv`. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly ssh?: string | undefined;
  readonly onFailure?: (host: string, failure: SshFailure) => void;
}

/** First of `rules` that matches tenant, agent and session of a call. Undefined: its commands run on the worker. */
export function hostFor<Rule extends HostRule>(rules: readonly Rule[], caller: RemoteCaller): Rule | undefined {
  const fits = (globs: readonly string[], name: string | undefined) =>
    globs.some((glob) => glob === '*' || (name !== undefined && globMatches(glob, name)));
  return rules.find(
    ({ tenant, agents, sessions }) => tenant === caller.tenantId && fits(agents, caller.agentId) && fits(sessions, caller.sessionId),
  );
}

/** The hosts that this process reaches over ssh. Keys and known hosts are in a folder of its own, which `close` removes. */
export class RemoteHosts {
  private readonly hosts: ReadonlyMap<string, SshHost>;
  private readonly rules: readonly (HostRule & { readonly name: string })[];
  private folder: string | undefined;
  private ticker: Ticker | undefined;

  /** @throws Error for a private key that is named and not there */
  constructor(
    settings: HostSettings = {},
    private readonly options: RemoteHostsOptions = { env: {} },
  ) {
    this.rules = Object.entries(settings).map(([name, { tenant, agents, sessions }]) => ({ name, tenant, agents, sessions }));
    this.hosts = new Map(Object.entries(settings).map(([name, host]) => [name, this.hostOf(name, host)]));
  }

  /** Tries all hosts now and every minute. Never rejects. */
  async watch(): Promise<void> {
    if (this.hosts.size === 0) return;
    const probeAll = () => Promise.all([...this.hosts.values()].map((host) => host.probe()));
    this.ticker = everyMs(PROBE_EVERY_MS, probeAll);
    await probeAll();
  }

  nameFor(caller: RemoteCaller): string | undefined {
    return hostFor(this.rules, caller)?.name;
  }

  get(name: string): SshHost | undefined {
    return this.hosts.get(name);
  }

  status(): RemoteHostStatus[] {
    return this.rules.map((rule) => ({ ...rule, ...(this.hosts.get(rule.name)?.state ?? { ok: false }) }));
  }

  /** Idempotent. */
  close(): void {
    this.ticker?.unsubscribe();
    if (this.folder !== undefined) rmSync(this.folder, { recursive: true, force: true });
    this.folder = undefined;
  }

  private hostOf(name: string, settings: RemoteHostSettings): SshHost {
    const { limits, onFailure, ssh = findExecutable(['ssh']) } = this.options;
    const knownHosts = this.write(`${name}.hosts`, knownHostsText(name, settings));
    const files = { knownHosts, identity: this.identityOf(name, settings), logs: dirname(knownHosts) };
    return new SshHost(name, settings, files, { ssh, limits, onFailure: (failure) => onFailure?.(name, failure) });
  }

  private identityOf(name: string, { identity }: RemoteHostSettings): string {
    if ('secretFile' in identity) return identity.secretFile;
    const key = this.options.env[identity.secretEnv];
    if (key === undefined || key === '')
      throw new Error(
        `remoteHosts.${name}.identity: expected the private key in the environment variable ${identity.secretEnv}, which is not set`,
      );
    return this.write(`${name}.key`, `${key.trimEnd()}\n`);
  }

  private write(file: string, text: string): string {
    this.folder ??= mkdtempSync(join(tmpdir(), 'toolyard-ssh-'));
    const path = join(this.folder, file);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  }
}

import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import type { z } from 'zod';
import { SCOPES, type ConfigFile, type SourcePage, type ToolDescriptor } from '#contracts';
import { Agent } from '../agent.js';
import { eventually } from '../eventually.js';
import { startCli, type CliOptions, type CliProcess } from '../cli.js';
import { forgetHistories, historiesOf } from '../invariants/client-histories.js';
import { gatewayUrls } from '../validated/gateways.js';
import { HELD, HeldCalls } from './held-calls.js';
import type { ConfigFragment } from './installation-config.js';
import type { TenantEnd } from './offer.js';
import type { SharedPlaces } from './shared-installation.js';

type Key = NonNullable<z.input<typeof ConfigFile>['keys']>[number];

export interface TenantOptions {
  /** Keys by a name that is unique in the tenant. A key `main` with all scopes, for all agents and users, is always there. */
  readonly keys?: Readonly<Record<string, Partial<Omit<Key, 'id' | 'tenant' | 'key'>>>>;
  /** Sources of tools; they become sources of this tenant. Those that the installation connects are connected at both gateways. */
  readonly sources?: ConfigFragment['sources'];
  /** True for a tenant with the tools `held` and `held_write`, whose calls the test itself runs. */
  readonly held?: boolean;
  /** Part of the config file about the tenant: policy, agents, hooks, limits, webhooks and so on. */
  readonly settings?: ConfigFragment['settings'];
}

/** A tenant of one test file in the installation that all files of `test/api` share. */
export interface Tenant {
  readonly tenantId: string;
  /** Addresses of two gateways. */
  readonly url: string;
  readonly otherUrl: string;
  /** Acts with the key `main`, at the first gateway. */
  readonly agent: Agent;
  /** The same at the other gateway. */
  readonly other: Agent;
  /** Acts with the key of that name. */
  agentOf(name: string, url?: string): Agent;
  /** The key of that name, as it is sent. */
  keyOf(name: string): string;
  /** Id of the key of that name, as it is stored in events. */
  keyId(name: string): string;
  /** Runs calls of `held` and `held_write`. @throws unless the tenant was made with `held`. */
  readonly held: HeldCalls;
  /** Starts the command line tool with the key `main`. */
  cli(words: readonly string[], options?: Partial<CliOptions>): CliProcess;
  /** Folder in which the tools of a session work. */
  workspaceOf(sessionId?: string): string;
  /** Replaces what the config file says of the tenant; resolves when it is in force at both gateways. */
  configure(settings: ConfigFragment['settings']): Promise<void>;
  /** Ends the calls that are still open. @throws when one gets no End. */
  close(): Promise<void>;
}

/**
 * Adds a tenant to the shared installation, which starts when the first file asks for it. `name` begins its id, so that a
 * violation of an invariant names the file. Calls wait for no approval unless `settings` say so.
 */
export async function useTenant(
  name: string,
  { keys = {}, sources = [], settings = {}, held = false }: TenantOptions = {},
): Promise<Tenant> {
  const tenantId = `${name}-${randomUUID().slice(0, 8)}`;
  const keyId = (key: string) => `${tenantId}-${key}`;
  const keyOf = (key: string) => `key-of-${keyId(key)}`;
  const all: Readonly<Record<string, Partial<Key>>> = { main: { scopes: [...SCOPES], agents: ['*'], users: ['*'] }, ...keys };
  const entries = Object.entries(all).map(([key, rights]) => ({ ...rights, id: keyId(key), key: keyOf(key), tenant: tenantId }));
  const ofTest: ConfigFragment['sources'] = held ? [...sources, { kind: 'worker', name: HELD, trust: true }] : sources;
  const fragment: ConfigFragment = { tenantId, keys: entries, settings, sources: ofTest.map((it) => ({ ...it, tenant: tenantId })) };
  const { gateways, workspaceRoot } = await ask<SharedPlaces>('/tenants', fragment);
  const [url = '', otherUrl = ''] = gateways;
  for (const gateway of gateways) gatewayUrls.add(gateway);
  const agentOf = (key: string, at = url) => {
    if (!(key in all)) throw new Error(`expected one of the keys ${Object.keys(all).join(', ')}, got ${key}`);
    return new Agent(at, keyOf(key));
  };
  const calls = held ? await HeldCalls.open(url, keyOf('main')) : undefined;
  for (const gateway of held ? gateways : []) await hasTool(agentOf('main', gateway), HELD);
  for (const gateway of gateways) await areConnected(agentOf('main', gateway), sources.filter(({ kind }) => kind !== 'worker').length);
  return {
    tenantId,
    url,
    get held() {
      if (calls === undefined) throw new Error('expected a tenant that was made with `held: true`');
      return calls;
    },
    otherUrl,
    agent: agentOf('main'),
    other: agentOf('main', otherUrl),
    agentOf,
    keyOf,
    keyId,
    cli: (words, options = {}) => startCli(words, { url, ...options, env: { TOOLYARD_API_KEY: keyOf('main'), ...options.env } }),
    workspaceOf: (sessionId) => join(workspaceRoot, tenantId, ...(sessionId === undefined ? ['default'] : ['sessions', sessionId])),
    configure: async (changed) => void (await ask<SharedPlaces>('/tenants', { ...fragment, settings: changed })),
    close: async () => {
      calls?.close();
      const histories = Object.fromEntries(gateways.map((gateway) => [gateway, historiesOf(gateway).history]));
      for (const gateway of gateways) forgetHistories(gateway);
      await ask<object>('/tenants/end', { tenantId, histories } satisfies TenantEnd);
    },
  };
}

/** The other gateways know the tools of a foreign worker a moment later. */
async function hasTool(agent: Agent, name: string): Promise<void> {
  const tools = async () => (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools;
  await eventually(async () => (await tools()).some((tool) => tool.name === name), `${agent.url} to have the tool ${name}`);
}

async function areConnected(agent: Agent, count: number): Promise<void> {
  if (count === 0) return;
  let sources: SourcePage['sources'] = [];
  const isConnected = async () => {
    ({ sources } = (await agent.get<SourcePage>('/v1/sources')).body);
    return sources.filter(({ status }) => status === 'ok').length >= count;
  };
  const states = () => sources.map(({ name, status, error }) => `${name} ${status} ${error ?? ''}`).join(', ');
  await eventually(isConnected, () => `${agent.url} to have connected the sources: ${states()}`);
}

async function ask<T>(path: string, body: object): Promise<T> {
  const answer = await fetch(`${process.env['TEST_INSTALLATION_URL']}${path}`, { method: 'POST', body: JSON.stringify(body) });
  if (!answer.ok) throw new Error(await answer.text());
  return (await answer.json()) as T;
}

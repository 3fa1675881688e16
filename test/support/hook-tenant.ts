import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call, Problem } from '#contracts';
import type { Agent, Answer } from './agent.js';
import { eventually } from './eventually.js';
import { useTenant, type Tenant, type TenantOptions } from './installation/use-tenant.js';
import { startWebhookServer, type WebhookServer } from './webhook.js';

/** Agents of the config file: each test has one of its own. */
export type HookTestAgents = NonNullable<NonNullable<TenantOptions['settings']>['agents']>;

/** A tenant whose agents have hooks, and a server for webhooks. */
export class HookTenant {
  private readonly folder = mkdtempSync(join(tmpdir(), 'toolyard-hooks-'));

  private constructor(
    readonly webhooks: WebhookServer,
    private started?: Tenant,
  ) {}

  private agents: HookTestAgents = {};
  private sessions = 0;

  /** @throws when two of the suites that share the tenant have an agent of the same name. */
  static async start(suites: readonly ((hooked: HookTenant) => HookTestAgents)[]): Promise<HookTenant> {
    const hooked = new HookTenant(await startWebhookServer());
    const agents = suites.flatMap((agentsOf) => Object.entries(agentsOf(hooked)));
    const names = agents.map(([name]) => name);
    const twice = names.find((name, index) => names.indexOf(name) < index);
    if (twice !== undefined) throw new Error(`two suites have an agent of the name ${twice}: expected a name of its own for each`);
    hooked.agents = Object.fromEntries(agents);
    hooked.started = await useTenant('hooks', { settings: { agents: hooked.agents } });
    return hooked;
  }

  get tenant(): Tenant {
    if (this.started === undefined) throw new Error('the tenant is not there yet');
    return this.started;
  }

  get agent(): Agent {
    return this.tenant.agent;
  }

  /** A file of this test run. */
  at(name: string): string {
    return join(this.folder, name);
  }

  linesOf(name: string): string[] {
    return existsSync(this.at(name)) ? readFileSync(this.at(name), 'utf8').split('\n').slice(0, -1) : [];
  }

  /** A command that starts another, writes down both process ids, and never ends. */
  sleeper(name: string): string {
    return `sleep 600 & echo $! >> ${this.at(name)}; echo $$ >> ${this.at(name)}; wait`;
  }

  /** The processes that `sleeper` wrote down. */
  pidsIn(name: string): Promise<string[]> {
    return eventually(() => (this.linesOf(name).length >= 2 ? this.linesOf(name) : undefined), `pids in ${name}`);
  }

  /** A name that no other session of this installation has. */
  newSession(prefix: string): string {
    return `${prefix}-${++this.sessions}`;
  }

  /** Replaces one agent in the config file. */
  change(name: string, agent: HookTestAgents[string]): Promise<void> {
    this.agents = { ...this.agents, [name]: agent };
    return this.tenant.configure({ agents: this.agents });
  }

  submitAs(agentId: string, tool = 'echo', args: object = { n: 1 }, more: object = {}): Promise<Answer<Call>> {
    return this.agent.submit(tool, args, { agentId, ...more });
  }

  runAs(agentId: string, tool = 'echo', args: object = { n: 1 }, more: object = {}): Promise<Call> {
    return this.agent.run(tool, args, { agentId, ...more });
  }

  async close(): Promise<void> {
    await this.started?.close();
    await this.webhooks.close();
    rmSync(this.folder, { recursive: true });
  }
}

export function problemOf({ body }: { readonly body: unknown }): Problem & { callId: string } {
  return body as Problem & { callId: string };
}

/** The text of a result for the model, without its JSON. */
export function textOf({ result }: Pick<Call, 'result'>): string {
  return (result?.content ?? []).map((item) => (item.type === 'text' ? item.text : '')).join('\n');
}

export function isAlive(pid: string): boolean {
  return existsSync(`/proc/${pid}`) && !/^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
}

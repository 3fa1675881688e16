import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call, Problem } from '#contracts';
import { Agent, type Answer } from './agent.js';
import { eventually } from './eventually.js';
import { startTestCluster, type AppProcess, type TestCluster } from './test-cluster.js';
import { startWebhookServer, type WebhookServer } from './webhook.js';

export const HOOK_SECRET = 'whsec_c2VjcmV0IG9mIHRoZSBob29rIHRlc3Rz';
export const HOOK_TOKEN = 'Bearer token-of-the-hook-tests';

/** What the config file says of agents: each test has one of its own. */
export type HookTestAgents = Readonly<Record<string, HookTestAgent>>;

interface HookTestAgent {
  readonly hooks: readonly object[];
  readonly policy?: object;
}

/** A gateway and two workers whose agents have hooks, and a server for webhooks. */
export class HookTestCluster {
  private readonly folder = mkdtempSync(join(tmpdir(), 'toolyard-hooks-'));

  private constructor(
    readonly webhooks: WebhookServer,
    private started?: TestCluster,
  ) {}

  private readonly agents = new Map<string, HookTestAgent>();
  private sessions = 0;

  /** @throws when two of the suites that share the installation have an agent of the same name. */
  static async start(suites: readonly ((hooked: HookTestCluster) => HookTestAgents)[]): Promise<HookTestCluster> {
    const hooked = new HookTestCluster(await startWebhookServer());
    for (const [name, agent] of suites.flatMap((agentsOf) => Object.entries(agentsOf(hooked)))) {
      if (hooked.agents.has(name)) throw new Error(`two suites have an agent of the name ${name}: expected a name of its own for each`);
      hooked.agents.set(name, agent);
    }
    hooked.save();
    hooked.started = await startTestCluster({
      lists: true,
      workers: 2,
      env: {
        TOOLYARD_CONFIG: hooked.at('toolyard.json'),
        HOOK_TEST_SECRET: HOOK_SECRET,
        HOOK_TEST_TOKEN: HOOK_TOKEN,
        EGRESS_ALLOW_HOSTS: `127.0.0.1:${hooked.webhooks.port}`,
      },
    });
    return hooked;
  }

  get gateway(): AppProcess {
    const [gateway] = this.started?.gateways ?? [];
    if (gateway === undefined) throw new Error('no gateway');
    return gateway;
  }

  get workers(): readonly AppProcess[] {
    return this.started?.workers ?? [];
  }

  get redisUrl(): string {
    return this.started?.redis.url ?? '';
  }

  get agent(): Agent {
    return new Agent(this.gateway.url);
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
  change(name: string, agent: HookTestAgent): void {
    this.agents.set(name, agent);
    this.save();
  }

  private save(): void {
    writeFileSync(this.at('toolyard.json'), JSON.stringify({ agents: Object.fromEntries(this.agents) }));
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

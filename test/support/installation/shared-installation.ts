import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Agent } from '../agent.js';
import type { ClientHistory } from '../invariants/client-histories.js';
import { historiesOf } from '../invariants/client-histories.js';
import { HOOK_SECRET, HOOK_TOKEN } from '../hook-secrets.js';
import { testDatabase } from '../postgres.js';
import { startTestCluster, type TestCluster } from '../test-cluster.js';
import { InstallationConfig, type ConfigFragment } from './installation-config.js';

/** Addresses and folders of the installation, for a test file. */
export interface SharedPlaces {
  readonly gateways: readonly string[];
  readonly workspaceRoot: string;
}

/** Two gateways, two workers, a projector, Redis and a database, all real processes, for all files of `test/api`. */
export class SharedInstallation {
  private constructor(
    private readonly folder: string,
    private readonly config: InstallationConfig,
    private readonly cluster: TestCluster,
    /** Key of the tenant `default`, which no test uses: a test without a key of its own is rejected. */
    private readonly key: string,
  ) {}

  static async start(): Promise<SharedInstallation> {
    const folder = mkdtempSync(join(tmpdir(), 'toolyard-installation-'));
    const path = join(folder, 'toolyard.json');
    const config = new InstallationConfig(path);
    const databaseUrl = await testDatabase();
    const key = `key-of-the-installation-${randomUUID()}`;
    const env = {
      TOOLYARD_API_KEY: key,
      TOOLYARD_CONFIG: path,
      DATABASE_URL: databaseUrl,
      // Servers of tests are on loopback. Commands of several files wait at the same time.
      EGRESS_ALLOW_HOSTS: '127.0.0.1',
      WORKER_CONCURRENCY: 'shell=16',
      GATEWAY_ALLOWED_ORIGINS: 'https://dash.example',
      // Secrets that hooks of tests name.
      HOOK_TEST_SECRET: HOOK_SECRET,
      HOOK_TEST_TOKEN: HOOK_TOKEN,
      // An MCP client with tasks gets each call as a task.
      MCP_TASK_MS: '0',
      // Variables that tools must not see, and one that they see.
      WORKER_SECRET: 'canary',
      TOOL_ENV_ALLOWLIST: 'PATH,LANG,LC_ALL,TZ,TERM,ONLY_THIS',
      ONLY_THIS: 'given',
      OTHER: 'not',
    };
    const cluster = await startTestCluster({ gateways: 2, workers: 2, env });
    await cluster.projector({ DATABASE_URL: databaseUrl, TOOLYARD_CONFIG: path });
    return new SharedInstallation(folder, config, cluster, key);
  }

  get places(): SharedPlaces {
    return { gateways: this.cluster.gateways.map(({ url }) => url), workspaceRoot: this.cluster.workspaceRoot };
  }

  /** Adds a tenant, or changes its configuration. @throws when the fragment is invalid. */
  async setTenant(fragment: ConfigFragment): Promise<SharedPlaces> {
    const { places } = this;
    const gateways = places.gateways.map((url) => new Agent(url, this.key));
    await this.config.set(fragment, gateways);
    return places;
  }

  /**
   * Cancels the calls that the tenant left open and waits for their Ends. `histories` are checked against the log when the
   * installation is closed, by gateway.
   */
  async endTenant(tenantId: string, histories: Readonly<Record<string, ClientHistory>>): Promise<void> {
    for (const [url, history] of Object.entries(histories)) historiesOf(url).add(history);
    await this.cluster.endCallsOf(tenantId);
  }

  /** @throws with what the log, or what clients saw, violates of the invariants; each violation names the tenant. */
  async close(): Promise<void> {
    try {
      await this.cluster.close();
    } finally {
      rmSync(this.folder, { recursive: true, force: true });
    }
  }
}

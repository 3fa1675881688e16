import { afterAll, afterEach, beforeAll, expect } from '@jest/globals';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import type { Agent } from './agent.js';
import { startBrowser, type TestBrowser } from './browser.js';
import { startTestCluster, TEST_KEY, type TestCluster } from './test-cluster.js';

/** A key that may look at everything and do nothing. */
export const READER_KEY = 'key-of-one-who-only-looks';

/** Timeout for commands that run until the test ends: the default would kill them after a minute. */
export const LONG_MS = 600_000;

interface OpenOptions extends BrowserContextOptions {
  readonly key?: string;
  /** Closed after the file, not after the test. */
  readonly kept?: boolean;
}

/** A whole installation with a browser before it, for the tests of one file. */
export interface DashboardHarness {
  readonly toolyard: TestCluster;
  /** A second client, besides the page. */
  readonly agent: Agent;
  readonly browser: TestBrowser;
  readonly url: string;
  /** A page of its own, logged in; closed after the test. */
  open(path: string, options?: OpenOptions): Promise<Page>;
  /** A command whose lines go on one by one, when the test says so. */
  gated(lines: readonly string[]): { readonly command: string; open(line: number): void };
}

/**
 * Sets up a dashboard; called once at the top of a file. `settings` go into the config file, `gatewayEnv` into the environment of
 * the gateway. Fails after the tests if a page threw or violated its security policy.
 */
export function dashboardHarness(
  settings: () => Promise<object> = async () => ({}),
  gatewayEnv: () => Record<string, string> = () => ({}),
): DashboardHarness {
  let parts: { readonly toolyard: TestCluster; readonly browser: TestBrowser; readonly agent: Agent } | undefined;
  const kept = new Set<BrowserContext>();
  let close = async () => {};
  const stage = () => {
    if (parts === undefined) throw new Error('the stage stands only while tests run');
    return parts;
  };

  beforeAll(async () => {
    const config = {
      keys: [{ id: 'reader', key: READER_KEY, tenant: 'default', scopes: ['read'] }],
      policy: { egress: { privateHosts: ['127.0.0.1'] } },
      ...(await settings()),
    };
    const env = { SANDBOX: 'host', EGRESS_ALLOW_HOSTS: '127.0.0.1', SOURCE_TOKEN_KEY: 'key-of-source-tokens-in-tests-of-pages' };
    const starting = [startTestCluster({ lists: true, env, config, gatewayEnv: gatewayEnv() }), startBrowser()] as const;
    // Closes the parts that started even if another one failed to start.
    close = async () => void (await Promise.allSettled(starting.map(async (started) => (await started).close())));
    const [toolyard, browser] = await Promise.all(starting);
    parts = { toolyard, browser, agent: toolyard.agent };
  });
  afterEach(async () => {
    for (const context of stage().browser.browser.contexts()) if (!kept.has(context)) await context.close();
  });
  afterAll(async () => {
    await close();
    expect(parts?.browser.faults).toEqual([]);
  });

  return {
    get toolyard() {
      return stage().toolyard;
    },
    get agent() {
      return stage().agent;
    },
    get browser() {
      return stage().browser;
    },
    get url() {
      return stage().agent.url;
    },
    open: async (path, { key = TEST_KEY, kept: isKept = false, ...options } = {}) => {
      const page = await stage().browser.open(stage().agent.url + path, options, key);
      if (isKept) kept.add(page.context());
      return page;
    },
    gated: (lines) => {
      const gate = join(stage().toolyard.workspaceRoot, `gate-${Math.random().toString(36).slice(2)}`);
      const command = lines.map((line, index) => `until [ -e ${gate}-${index} ]; do sleep 0.02; done; ${line}`).join('\n');
      return { command, open: (line) => writeFileSync(`${gate}-${line}`, '') };
    },
  };
}

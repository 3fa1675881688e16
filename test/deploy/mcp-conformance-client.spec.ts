import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { SourceRules } from '#contracts';
import { EgressPolicy } from '#sandbox';
import { BOOTSTRAP_KEY } from '../support/gateway.js';
import { startBridge, type Bridge } from '../support/mcp-bridge.js';
import { ConformanceSuite, faultsOf } from '../support/mcp-conformance.js';

const RUNS = [
  ['initialize', '2025-11-25'],
  ['tools_call', '2025-11-25'],
  ['sse-retry', '2025-11-25'],
  ['json-schema-2020-12-preservation', '2025-11-25'],
  ['tools_call', '2026-07-28'],
  ['request-metadata', '2026-07-28'],
  ['http-standard-headers', '2026-07-28'],
  ['http-custom-headers', '2026-07-28'],
  ['http-invalid-tool-headers', '2026-07-28'],
  ['json-schema-ref-no-deref', '2026-07-28'],
  ['json-schema-2020-12-preservation', '2026-07-28'],
  ['sep-2322-client-request-state', '2026-07-28'],
] as const;

const SKILLS = 'it is about skills, an extension that sources do not use';
/** Scenarios that do not apply, with the reason. */
const EXCEPT: Readonly<Record<string, string>> = {
  'auth/*': 'sources have OAuth by client credentials with a secret; in all others a person logs in, or the client has a key pair',
  'elicitation-sep1034-client-defaults': 'a person answers forms: no client fills in defaults',
  'sep-2640-client-no-prefetch': SKILLS,
  'sep-2640-client-verify-digest': SKILLS,
  'sep-2640-client-verify-frontmatter': SKILLS,
  'sep-2640-client-verify-size': SKILLS,
};

describe('the conformance suite of the Model Context Protocol', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-conformance-'));
  let suite: ConformanceSuite;
  let bridge: Bridge;
  beforeAll(async () => {
    suite = await ConformanceSuite.install(folder);
    const sourceRules = SourceRules.parse({ secrets: [{ name: 'CONFORMANCE_SECRET', tenants: ['*'], hosts: ['http://localhost:*'] }] });
    bridge = await startBridge(
      [],
      { egress: new EgressPolicy(['localhost']), sourceRules },
      // The secret that the suite gives its client.
      { EGRESS_ALLOW_HOSTS: 'localhost', CONFORMANCE_SECRET: 'conformance-test-secret' },
    );
  });
  afterAll(async () => {
    await bridge?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const run = (options: readonly string[]) => {
    const command = `${process.execPath} ${resolve('test/support/mcp-client-driver.fixture.mjs')}`;
    return suite.client(command, options, { TOOLYARD_URL: bridge.gateway.url, TOOLYARD_API_KEY: BOOTSTRAP_KEY });
  };

  it.each(RUNS)('passes the MCP conformance suite as a client: %s of %s', async (scenario, version) => {
    const scenarios = await run(['--scenario', scenario, '--spec-version', version]);
    expect(scenarios.flatMap((found) => faultsOf(found))).toEqual([]);
  });

  it('passes the MCP conformance suite as a client: the extension OAuth client credentials', async () => {
    const scenarios = await run(['--scenario', 'auth/client-credentials-basic']);
    expect(scenarios.flatMap((found) => faultsOf(found))).toEqual([]);
  });

  it('knows of every conformance scenario for clients whether it runs or does not apply', async () => {
    const known = new Set([...RUNS.map(([name]) => name), ...Object.keys(EXCEPT)]);
    const listed = await suite.clientScenarios();
    expect(listed.length).toBeGreaterThan(40);
    expect(listed.filter((name) => !known.has(name) && !known.has(`${name.split('/')[0]}/*`))).toEqual([]);
  });
});

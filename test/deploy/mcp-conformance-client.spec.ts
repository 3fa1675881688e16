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
  ['elicitation-sep1034-client-defaults', '2025-11-25'],
  ['auth/metadata-default', '2026-07-28'],
  ['auth/metadata-var1', '2026-07-28'],
  ['auth/metadata-var2', '2026-07-28'],
  ['auth/metadata-var3', '2026-07-28'],
  ['auth/basic-cimd', '2026-07-28'],
  ['auth/scope-from-www-authenticate', '2026-07-28'],
  ['auth/scope-from-scopes-supported', '2026-07-28'],
  ['auth/scope-omitted-when-undefined', '2026-07-28'],
  ['auth/scope-retry-limit', '2026-07-28'],
  ['auth/token-endpoint-auth-basic', '2026-07-28'],
  ['auth/token-endpoint-auth-post', '2026-07-28'],
  ['auth/token-endpoint-auth-none', '2026-07-28'],
  ['auth/pre-registration', '2026-07-28'],
  ['auth/2025-03-26-oauth-metadata-backcompat', '2025-03-26'],
  ['auth/resource-mismatch', '2026-07-28'],
  ['auth/offline-access-scope', '2026-07-28'],
  ['auth/offline-access-not-supported', '2026-07-28'],
  ['auth/authorization-server-migration', '2026-07-28'],
  ['auth/iss-supported', '2026-07-28'],
  ['auth/iss-not-advertised', '2026-07-28'],
  ['auth/iss-supported-missing', '2026-07-28'],
  ['auth/iss-wrong-issuer', '2026-07-28'],
  ['auth/iss-unexpected', '2026-07-28'],
  ['auth/iss-normalized', '2026-07-28'],
  ['auth/metadata-issuer-mismatch', '2026-07-28'],
] as const;

const CLIENT_CREDENTIALS = 'auth/client-credentials-basic';
const SOURCE_TOKEN_KEY = 'key-of-source-tokens-in-the-tests-of-conformance';
const DPOP = 'it is about DPoP, an extension: sources have bearer tokens';
const SKILLS = 'it is about skills, an extension that sources do not use';
/** Scenarios that do not apply, with the reason. */
const EXCEPT: Readonly<Record<string, string>> = {
  'auth/2025-03-26-oauth-endpoint-fallback': 'an issuer has to say that it checks PKCE with S256: without its metadata none is asked',
  'auth/scope-step-up': 'an administrator chooses the scopes of a source: no answer to a call widens the rights of all callers',
  'auth/client-credentials-jwt': 'clients need one of the two methods of the extension: sources have a secret',
  'auth/dpop': DPOP,
  'auth/dpop-nonce': DPOP,
  'auth/enterprise-managed-authorization': 'it is an extension: people sign in at the issuer of the server, not at one of their company',
  'auth/wif-jwt-bearer': 'it is an extension: sources have a secret, and no token of the cloud in which workers run',
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
    const hosts = ['http://localhost:*'];
    const secrets = ['CONFORMANCE_SECRET', 'REGISTERED_SECRET'].map((secret) => ({ name: secret, tenants: ['*'], hosts }));
    // Secrets that the suite gives its client.
    const env = { CONFORMANCE_SECRET: 'conformance-test-secret', REGISTERED_SECRET: 'pre-registered-secret' };
    bridge = await startBridge(
      [],
      { egress: new EgressPolicy(['localhost']), sourceRules: SourceRules.parse({ secrets }), sourceTokenKey: SOURCE_TOKEN_KEY, env },
      { EGRESS_ALLOW_HOSTS: 'localhost', SOURCE_TOKEN_KEY, ...env },
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
    const scenarios = await run(['--scenario', CLIENT_CREDENTIALS]);
    expect(scenarios.flatMap((found) => faultsOf(found))).toEqual([]);
  });

  it('lists every conformance scenario for clients as run or not applicable', async () => {
    const known = new Set([...RUNS.map(([name]) => name), ...Object.keys(EXCEPT), CLIENT_CREDENTIALS]);
    const listed = await suite.clientScenarios();
    expect(listed.length).toBeGreaterThan(40);
    expect(listed.filter((name) => !known.has(name))).toEqual([]);
  });
});

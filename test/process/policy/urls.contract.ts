import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import type { Posture, Quote } from '#contracts';
import type { Agent } from '../../support/agent.js';
import { expectDecision, literally, submitted, type Expected } from '../../support/policy-case.js';
import type { PolicyAgents, PolicyInstallation, PolicyPlaces } from '../../support/policy-places.js';
import type { TestCluster } from '../../support/test-cluster.js';

const FULL: Posture = { autonomy: 'full', permissionMode: 'danger-full-access' };

export function urlAgents({ port }: PolicyPlaces): PolicyAgents {
  return {
    web: { policy: { egress: { privateHosts: [`127.0.0.1:${port}`], blockedDomains: ['example.com'] } }, posture: FULL },
    'web-env': { policy: { egress: { blockedDomains: ['example.com'] } }, posture: FULL },
    'web-no-private': { policy: { egress: { privateHosts: [] } }, posture: FULL },
    'web-listed': { policy: { egress: { allowedDomains: ['example.org'] } }, posture: FULL },
    'web-lists': { policy: { egress: { allowedDomains: ['example.com'], blockedDomains: ['evil.example.com'] } }, posture: FULL },
    'web-unlisted': { policy: { egress: { allowedDomains: [] } }, posture: FULL },
    'web-strict': { policy: { egress: { mode: 'strict', allowedDomains: ['example.org'] } }, posture: FULL },
    'web-private': {
      policy: { egress: { mode: 'strict', allowedDomains: ['example.org'], privateHosts: [`127.0.0.1:${port}`] } },
      posture: FULL,
    },
    'web-none': { policy: { egress: { mode: 'none' } }, posture: FULL },
    'web-off': { policy: { webTools: false }, posture: FULL },
  };
}

/** Contract: URLs that a call may contain. */
export function urlsContract(started: () => PolicyInstallation): void {
  describe('what a call names', () => {
    let toolyard: TestCluster;
    let agent: Agent;
    let folder = '';
    let port = 0;
    beforeAll(() => {
      ({ toolyard, folder, port } = started());
      ({ agent } = toolyard);
    });

    const judge = (agentId: string, tool: string, args: Record<string, unknown>, expected: Expected) =>
      expectDecision(agent, { tool, args, agentId, sessionId: `of-${agentId}` }, expected);
    const fetchUrl = (agentId: string, url: string, expected: Expected) => judge(agentId, 'web_fetch', { url }, expected);

    describe('as a URL', () => {
      it('fetches a URL from a public host, or a private one that the operator named for gateway and worker', () =>
        fetchUrl('web', `http://127.0.0.1:${port}/`, { runs: 'fetched' }));

      it('needs no second list of private hosts: the policy only names those that an agent may not reach', async () => {
        const url = `http://127.0.0.1:${port}/`;
        await fetchUrl('web-env', url, { runs: 'fetched' });
        await fetchUrl('web-no-private', url, { denied: '127.0.0.1 is not a public address' });
        await fetchUrl('web-listed', url, { denied: '127.0.0.1 is not a public address' });
      });

      it.each([
        ['http://127.0.0.1:1/', 'Blocked: 127.0.0.1 is not a public address'],
        ['http://localhost/', 'Blocked: localhost is this machine'],
        ['http://169.254.169.254/latest', 'Blocked: 169.254.169.254 is a cloud metadata address'],
        ['http://metadata.google.internal/', 'is a cloud metadata service'],
        ['http://10.1.2.3/', 'is not a public address'],
        ['http://172.16.0.1/', 'is not a public address'],
        ['http://192.168.1.1/', 'is not a public address'],
        ['http://[::1]/', 'is not a public address'],
        ['http://[fc00::1]/', 'is not a public address'],
        ['http://[fe80::1]/', 'is not a public address'],
        ['http://[::ffff:10.0.0.1]/', 'is not a public address'],
        ['file:///etc/passwd', 'only http and https URLs are allowed, not file'],
        ['gopher://example.org/', 'only http and https URLs are allowed, not gopher'],
        ['http://user:pass@example.org/', 'must not contain a user name or password'],
      ])('denies a URL that is not plainly public: %s [PP-40, PP-45]', (url, reason) =>
        fetchUrl('web', url, { denied: literally(reason) }),
      );

      it('refuses a URL that redirects to a private host when it is fetched [PP-45]', async () => {
        const { call } = await submitted(agent, { tool: 'web_fetch', args: { url: `http://127.0.0.1:${port}/away` }, agentId: 'web' });
        expect(call).toMatchObject({ decision: { effect: 'allow' }, outcome: 'denied', error: { code: 'policy_denied' } });
      });

      it.each([
        ['web', 'http://sub.example.com/', 'sub.example.com is in the blocked domain example.com'],
        ['web-private', 'http://other.net/', 'strict web egress policy blocked destination other.net (allowed: example.org)'],
      ])('checks a URL by the lists of the agent %s at each redirect: %s', async (agentId, to, reason) => {
        const { call } = await submitted(agent, { tool: 'web_fetch', args: { url: `http://127.0.0.1:${port}/to?${to}` }, agentId });
        expect(call).toMatchObject({ decision: { effect: 'allow' }, outcome: 'denied', error: { code: 'policy_denied' } });
        expect(JSON.stringify(call)).toContain(reason);
      });

      it('denies a URL in a blocked domain with all its subdomains, for tools and for words of commands', async () => {
        for (const host of ['example.com', 'sub.example.com'])
          await fetchUrl('web', `https://${host}/`, { denied: literally(`${host} is in the blocked domain example.com`) });
        await judge('web', 'shell', { command: 'echo https://sub.example.com/' }, { denied: 'in the blocked domain example.com' });
      });

      it('checks a URL by lists of domains: a subdomain as its domain, blocked before allowed, and an empty list denies all [PP-46]', async () => {
        const effectOf = async (agentId: string, host: string) => {
          const call = { tool: 'http_request', arguments: { url: `https://${host}/` }, agentId };
          return (await agent.request<Quote>('POST', '/v1/calls:quote', call)).body.decision?.effect;
        };
        const hosts = ['example.com', 'sub.example.com', 'evil.example.com', 'a.evil.example.com', 'notexample.com'];
        const effects = await Promise.all(hosts.map((host) => effectOf('web-lists', host)));
        expect(effects).toEqual(['allow', 'allow', 'deny', 'deny', 'deny']);
        expect(await effectOf('web-unlisted', 'example.com')).toBe('deny');
        const url = 'https://a.evil.example.com/';
        await judge('web-lists', 'http_request', { url }, { denied: 'a.evil.example.com is in the blocked domain evil.example.com' });
      });

      it('denies a URL outside of the list under a strict policy, and every URL without egress [PP-44]', async () => {
        await fetchUrl('web-strict', 'https://other.net/', { denied: 'strict web egress policy blocked destination other.net' });
        await fetchUrl('web-none', 'https://example.org/', { denied: 'this policy allows no egress' });
      });

      const STRICT = { top: { mode: 'strict' }, listed: { mode: 'strict', allowedDomains: ['*'] } };
      it.each([
        [STRICT.top, 'no domain'],
        [STRICT.listed, '*'],
      ])('starts no gateway with a strict egress policy without a list: %j [PP-44]', async (_egress, received) => {
        await expect(refusal()).rejects.toThrow(
          `policy.egress.allowedDomains: expected the domains that the mode strict allows; received ${received}`,
        );
      });
      /** Errors of one start: at the top level, and of an agent. */
      const refusal = () => {
        const broken = join(folder, 'strict.json');
        const config = { policy: { egress: STRICT.top }, agents: { listed: { policy: { egress: STRICT.listed } } } };
        writeFileSync(broken, JSON.stringify(config));
        return (refused ??= toolyard.gateway({ TOOLYARD_CONFIG: broken }));
      };
      let refused: Promise<unknown> | undefined;

      it('fetches a URL by a direct connection, without the proxy of the environment [PP-44]', async () => {
        const { proxied } = started();
        const before = proxied();
        await fetchUrl('web-private', `http://127.0.0.1:${port}/`, { runs: 'fetched' });
        expect(proxied() - before).toBe(0);
      });

      it('offers no tool for a URL if web tools are switched off, and refuses its calls [AV-11, AV-12]', async () => {
        const { body } = await agent.get<{ tools: { name: string }[] }>('/v1/tools?format=openai&agentId=web-off');
        expect(JSON.stringify(body)).not.toMatch(/"name":"(web_|http_)/);
        await fetchUrl('web-off', 'https://example.org/', { denied: 'tools of the web are switched off' });
      });
    });
  });
}

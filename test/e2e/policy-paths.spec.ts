import { createServer, type Server } from 'node:http';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { POLICY_PROFILES, type PolicySettings, type Posture } from '#contracts';
import { Agent } from '../support/agent.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';
import { expectDecision, literally, submitted, type Expected } from '../support/policy-case.js';

const FULL: Posture = { autonomy: 'full', permissionMode: 'danger-full-access' };
const SUPERVISED: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };
const SECRET = 'the secret beside the workspaces';

describe('what a call names', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-paths-'));
  const vault = join(folder, 'vault');
  const shared = join(folder, 'shared');
  const internal = join(shared, 'internal');
  let site: Server;
  let toolyard: TestCluster;
  let agent: Agent;
  let port: number;

  beforeAll(async () => {
    for (const path of [vault, internal]) mkdirSync(path, { recursive: true });
    writeFileSync(join(vault, 'note.txt'), 'in the vault');
    writeFileSync(join(internal, 'state.txt'), SECRET);
    writeFileSync(join(folder, 'secret.txt'), SECRET);
    symlinkSync(join(folder, 'secret.txt'), join(shared, 'way-out'));
    site = createServer((request, response) => {
      if (request.url === '/away') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('fetched');
    });
    await new Promise<void>((resolve) => site.listen(0, '127.0.0.1', resolve));
    port = (site.address() as AddressInfo).port;

    const AGENTS: Record<string, { policy: PolicySettings; posture: Posture }> = {
      confined: { policy: { profile: 'zeroclaw' }, posture: FULL },
      wide: { policy: { profile: 'zeroclaw', paths: { workspaceOnly: false } }, posture: FULL },
      'wide-rooted': {
        policy: { profile: 'zeroclaw', paths: { workspaceOnly: false, forbidden: [internal], roots: [{ path: shared, access: 'write' }] } },
        posture: FULL,
      },
      plain: { policy: { profile: 'zeroclaw', paths: { forbidden: ['/etc'] } }, posture: FULL },
      'reads-only': { policy: { profile: 'zeroclaw' }, posture: { autonomy: 'read_only', permissionMode: 'danger-full-access' } },
      unattended: { policy: {}, posture: FULL },
      supervised: { policy: {}, posture: SUPERVISED },
      mounts: {
        policy: {
          profile: 'oxydra',
          paths: {
            roots: [
              { path: vault, access: 'read' },
              { path: shared, access: 'write' },
              { path: internal, access: 'denied' },
            ],
          },
        },
        posture: FULL,
      },
      trusting: {
        policy: { paths: { trustWorkspace: false, trusted: [{ tools: ['file_*'], allowed: ['src'], denied: ['src/secret'] }] } },
        posture: SUPERVISED,
      },
      'trusting-tool': {
        policy: { allowedTools: ['file_*'], paths: { trusted: [{ tools: ['*'], allowed: [], denied: ['src/secret'] }] } },
        posture: SUPERVISED,
      },
      web: { policy: { egress: { privateHosts: [`127.0.0.1:${port}`], blockedDomains: ['example.com'] } }, posture: FULL },
      'web-env': { policy: { egress: { blockedDomains: ['example.com'] } }, posture: FULL },
      'web-no-private': { policy: { egress: { privateHosts: [] } }, posture: FULL },
      'web-listed': { policy: { egress: { allowedDomains: ['example.org'] } }, posture: FULL },
      'web-strict': { policy: { egress: { mode: 'strict', allowedDomains: ['example.org'] } }, posture: FULL },
      'web-private': {
        policy: { egress: { mode: 'strict', allowedDomains: ['example.org'], privateHosts: [`127.0.0.1:${port}`] } },
        posture: FULL,
      },
      'web-none': { policy: { egress: { mode: 'none' } }, posture: FULL },
      'web-off': { policy: { webTools: false }, posture: FULL },
    };
    const config = join(folder, 'toolyard.json');
    writeFileSync(config, JSON.stringify({ agents: AGENTS }));
    toolyard = await startTestCluster({
      env: {
        TOOLYARD_CONFIG: config,
        SHARED_ROOTS: `read=${vault},write=${shared}`,
        EGRESS_ALLOW_HOSTS: `127.0.0.1:${port}`,
      },
    });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
  });
  afterAll(async () => {
    await toolyard.close();
    site.close();
    rmSync(folder, { recursive: true });
  });

  const judge = (agentId: string, tool: string, args: Record<string, unknown>, expected: Expected) =>
    expectDecision(agent, { tool, args, agentId, sessionId: `of-${agentId}` }, expected);
  const read = (agentId: string, path: string, expected: Expected) => judge(agentId, 'file_read', { path }, expected);
  const write = (agentId: string, path: string, expected: Expected, content = 'written') =>
    judge(agentId, 'file_write', { path, content }, expected);
  const fetchUrl = (agentId: string, url: string, expected: Expected) => judge(agentId, 'web_fetch', { url }, expected);

  describe('as a path', () => {
    it.each(['a\0b', 'a\nb', '..%2fetc', '%2f..%2fx', '%2e%2e/x', '..\\x%5c', '．．/x', 'a\u202eb', '~root/x'])(
      'that is there to be misread is denied in every posture: %j [PP-20, PP-21, PP-22]',
      async (path) => {
        for (const agentId of ['confined', 'unattended', 'supervised'])
          await read(agentId, path, { denied: /Path (has|is longer|begins with)/ });
      },
    );

    it('is written and read below the workspace, folders on the way are made [PP-29, PP-85]', async () => {
      for (const agentId of ['confined', 'unattended', 'supervised', 'mounts']) {
        await write(agentId, 'new/folder/a..b.txt', { runs: 'Wrote 7 bytes to new/folder/a..b.txt' });
        await read(agentId, 'new/folder/a..b.txt', { runs: 'written' });
      }
    });

    it('may be absolute where not only the workspace counts, in the workspace and in roots of the policy, unless it is forbidden [PP-23]', async () => {
      await write('wide-rooted', 'own.txt', { runs: /./ });
      const own = join(toolyard.workspaceRoot, 'default', 'sessions', 'of-wide-rooted', 'own.txt');
      await read('wide-rooted', own, { runs: 'written' });
      await write('wide-rooted', join(shared, 'wide.txt'), { runs: /./ });
      await read('wide-rooted', join(shared, 'wide.txt'), { runs: 'written' });
      await read('wide-rooted', join(internal, 'state.txt'), { denied: literally(`Forbidden path: ${internal}`) });
      await read('wide-rooted', '/nowhere', { denied: literally('(PathOutsideAllowedRoots)') });
      for (const path of [own, join(shared, 'wide.txt')]) await read('confined', path, { denied: /./ });
    });

    it('is refused in the words of its tool, and with the reason of the violation [PP-28, TB-20, TB-30]', async () => {
      await read('plain', '../x', { denied: literally('Path not allowed by security policy: ../x') });
      await write('plain', '../x', { denied: literally('Path not allowed: ../x') });
      for (const path of ['../x', 'fine']) await write('reads-only', path, { denied: literally('Read-only mode: cannot write files') });
      await read('mounts', '/nowhere', { denied: literally('blocked by security policy (PathOutsideAllowedRoots): ') });
      await read('mounts', 'a\0b', { denied: literally('blocked by security policy (InvalidArguments): Path has a NUL byte in it') });
      await read('mounts', '~root/x', { denied: literally('blocked by security policy (PathResolutionFailed): Path begins with another') });
      await judge(
        'mounts',
        'shell',
        { command: 'curl x' },
        { denied: literally("blocked by security policy (CommandNotAllowed): 'curl'") },
      );
    });

    it('that is longer than any system takes is denied', () =>
      read('unattended', 'x'.repeat(5_000), { denied: 'Path is longer than 4096 characters' }));

    it.each(['/srv/x', 'a/../b', '../x', '.././x'])(
      'that is not plainly below the workspace is denied where only that counts: %s [K-18, PP-21, PP-23]',
      (path) => read('confined', path, { denied: /(Path not allowed by security policy|Forbidden path): / }),
    );

    it.each(POLICY_PROFILES.zeroclaw.paths.forbidden)(
      'in the forbidden folder %s is denied, and so is everything below [PP-22, PP-24]',
      async (path) => {
        await read('wide', path, { denied: literally(`Forbidden path: ${path}`) });
        await read('wide', `${path}/x`, { denied: literally(`Forbidden path: ${path}/x`) });
      },
    );

    it('outside of everything is asked for in a supervised session, denied where the policy says so, and never read [K-18, PP-28, PP-85]', async () => {
      await read('supervised', '/other/file', { asks: literally('/other/file is outside of the workspace') });
      await read('supervised', '../other', { asks: 'is outside of the workspace' });
      await read('mounts', '/nowhere', { denied: literally('blocked by security policy (PathOutsideAllowedRoots)') });
      const { call } = await submitted(agent, { tool: 'file_read', args: { path: join(folder, 'secret.txt') }, agentId: 'unattended' });
      expect(call).toMatchObject({
        outcome: 'denied',
        error: { code: 'policy_denied', message: expect.stringContaining('Path not allowed') },
      });
    });

    it('that is a link out of the workspace is refused when it is opened, whatever the policy decided [PP-25]', async () => {
      await write('unattended', 'd/own.txt', { runs: /./ });
      const root = join(toolyard.workspaceRoot, 'default', 'sessions', 'of-unattended');
      symlinkSync(join(folder, 'secret.txt'), join(root, 'link.txt'));
      symlinkSync(folder, join(root, 'folder'));
      symlinkSync('own.txt', join(root, 'd', 'inside.txt'));
      await read('unattended', 'd/inside.txt', { runs: 'written' });
      for (const path of ['link.txt', 'folder/secret.txt']) {
        const { call, text } = await submitted(agent, {
          tool: 'file_read',
          args: { path },
          agentId: 'unattended',
          sessionId: 'of-unattended',
        });
        expect(call).toMatchObject({ decision: { effect: 'allow' }, outcome: 'denied', error: { code: 'policy_denied' } });
        expect(text).toMatch(/^Path not allowed: .*Only paths inside the workspace are allowed/);
      }
    });

    it('in a shared folder is read and written as that folder allows, and never left by a link [K-18, PP-26, PP-27, PP-40]', async () => {
      await read('mounts', join(vault, 'note.txt'), { runs: 'in the vault' });
      await write('mounts', join(vault, 'new.txt'), { denied: literally(`${vault}, which is read-only`) });
      await write('mounts', join(shared, 'deep/new.txt'), { runs: literally(`Wrote 7 bytes to ${join(shared, 'deep/new.txt')}`) });
      expect(readFileSync(join(shared, 'deep/new.txt'), 'utf8')).toBe('written');
      await judge('mounts', 'file_edit', { path: join(shared, 'deep/new.txt'), old_text: 'written', new_text: 'edited' }, { runs: /./ });
      await judge('mounts', 'file_list', { path: shared, max_depth: 2 }, { runs: literally('deep/new.txt') });
      for (const path of [internal, join(internal, 'state.txt')])
        await read('mounts', path, { denied: literally(`is in the denied root ${internal}`) });
      await write('mounts', join(internal, 'x'), { denied: literally(internal) });
      const { text } = await submitted(agent, { tool: 'file_read', args: { path: join(shared, 'way-out') }, agentId: 'mounts' });
      expect(text).toContain('Path not allowed');
      expect(text).not.toContain(SECRET);
    });

    it('in a shared folder is not there for agents whose policy does not name the folder [PP-26]', async () => {
      await read('supervised', join(vault, 'note.txt'), { asks: 'is outside of the workspace' });
      await read('confined', join(vault, 'note.txt'), { denied: /(Path not allowed by security policy|Forbidden path): / });
    });

    it('trusted by a glob runs, with all below; denied beats allowed; a path without a rule needs an approval [PP-30, PP-72, PP-74]', async () => {
      await write('trusting', 'src/a', { runs: /./ });
      await read('trusting', 'src/deep/../a', { runs: 'written' });
      await read('trusting', 'src/secret/x', { denied: literally('by the pattern src/secret') });
      await read('trusting', 'docs/x', { asks: literally('docs/x is in the workspace, and it is not trusted') });
      await read('trusting-tool', 'src/secret/x', { denied: literally('by the pattern src/secret') });
    });

    it('among several is judged with all of them: one that is denied denies the call, undecided ones are asked for together [PP-31]', async () => {
      await judge('wide', 'shell', { command: 'cat fine.txt /etc/passwd' }, { denied: 'Forbidden path: /etc/passwd' });
      const command = `cat ${join(vault, 'note.txt')} ${join(internal, 'state.txt')}`;
      await judge('mounts', 'shell', { command }, { denied: literally(`is in the denied root ${internal}`) });
      await judge('supervised', 'shell', { command: 'cat /one /two' }, { asks: /\/one is outside[\s\S]*\/two is outside/ });
    });

    it('that was refused is still on record: who, what, when and why [PP-42]', async () => {
      const { call } = await read('wide', '/etc/passwd', { denied: 'Forbidden path: /etc/passwd' });
      const [first, last] = await agent.events(call.id);
      expect(first).toMatchObject({
        type: 'call.submitted',
        actor: 'apikey:bootstrap',
        agentid: 'wide',
        time: expect.any(String),
        data: { tool: 'file_read', capabilityProfile: 'file_read_only', arguments: { path: '/etc/passwd' }, decision: call.decision },
      });
      expect(last).toMatchObject({ type: 'call.end', data: { outcome: 'denied', attempts: 0 } });
    });
  });

  describe('as a URL', () => {
    it('is fetched from a public host, or a private one that the operator named for gateway and worker', () =>
      fetchUrl('web', `http://127.0.0.1:${port}/`, { runs: 'fetched' }));

    it('needs no second list for a private host: the policy says only which of them an agent may not reach', async () => {
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
    ])('is denied when it is not plainly public: %s [PP-40, PP-45]', (url, reason) => fetchUrl('web', url, { denied: literally(reason) }));

    it('that leads to a private host by a redirect is refused where it is fetched [PP-45]', async () => {
      const { call } = await submitted(agent, { tool: 'web_fetch', args: { url: `http://127.0.0.1:${port}/away` }, agentId: 'web' });
      expect(call).toMatchObject({ decision: { effect: 'allow' }, outcome: 'denied', error: { code: 'policy_denied' } });
    });

    it('is denied in a blocked domain with all its subdomains, for tools and for words of commands', async () => {
      for (const host of ['example.com', 'sub.example.com'])
        await fetchUrl('web', `https://${host}/`, { denied: literally(`${host} is in the blocked domain example.com`) });
      await judge('web', 'shell', { command: 'echo https://sub.example.com/' }, { denied: 'in the blocked domain example.com' });
    });

    it('is denied outside of the list where the policy is strict, and everywhere where it allows no egress [PP-44]', async () => {
      await fetchUrl('web-strict', 'https://other.net/', { denied: 'strict web egress policy blocked destination other.net' });
      await fetchUrl('web-none', 'https://example.org/', { denied: 'this policy allows no egress' });
    });

    it.each([
      [{ mode: 'strict' }, 'no domain'],
      [{ mode: 'strict', allowedDomains: ['*'] }, '*'],
    ])('may not be strict without a list: no gateway starts with %j [PP-44]', async (egress, received) => {
      const broken = join(folder, 'strict.json');
      writeFileSync(broken, JSON.stringify({ policy: { egress } }));
      await expect(toolyard.gateway({ TOOLYARD_CONFIG: broken })).rejects.toThrow(
        `policy.egress.allowedDomains: expected the domains that the mode strict allows; received ${received}`,
      );
    });

    it('is fetched by a connection of its own: a proxy that the environment names is not asked [PP-44]', async () => {
      let asked = 0;
      const proxy = createServer((_request, response) => void response.end(`proxied ${(asked += 1)}`));
      proxy.on('connect', (_request, socket) => void socket.end(`HTTP/1.1 502 proxied ${(asked += 1)}\r\n\r\n`));
      await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
      const address = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
      const names = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];
      const [first] = toolyard.workers;
      const proxied = await toolyard.worker({ ...Object.fromEntries(names.map((name) => [name, address])), NODE_USE_ENV_PROXY: '1' });
      try {
        first?.signal('SIGTERM');
        await first?.ended();
        await fetchUrl('web-private', `http://127.0.0.1:${port}/`, { runs: 'fetched' });
        expect(asked).toBe(0);
      } finally {
        await toolyard.worker();
        proxied.signal('SIGTERM');
        await proxied.ended();
        proxy.close();
      }
    });

    it('has no tool where tools of the web are switched off: none in the catalog, and a call of one is refused [AV-11]', async () => {
      const { body } = await agent.get<{ tools: { name: string }[] }>('/v1/tools?format=openai&agentId=web-off');
      expect(JSON.stringify(body)).not.toContain('web_fetch');
      await fetchUrl('web-off', 'https://example.org/', { denied: 'tools of the web are switched off' });
    });
  });
});

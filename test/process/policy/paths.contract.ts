import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from '@jest/globals';
import { POLICY_PROFILES, type Posture } from '#contracts';
import type { Agent } from '../../support/agent.js';
import { expectDecision, literally, submitted, type Expected } from '../../support/policy-case.js';
import { SECRET, type PolicyAgents, type PolicyInstallation, type PolicyPlaces } from '../../support/policy-places.js';
import type { TestCluster } from '../../support/test-cluster.js';

const FULL: Posture = { autonomy: 'full', permissionMode: 'danger-full-access' };
const SUPERVISED: Posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };

export function pathAgents({ vault, shared, internal }: PolicyPlaces): PolicyAgents {
  return {
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
  };
}

/** Contract: paths that a call may contain. */
export function pathsContract(started: () => PolicyInstallation): void {
  describe('what a call names', () => {
    let toolyard: TestCluster;
    let agent: Agent;
    let folder = '';
    let vault = '';
    let shared = '';
    let internal = '';
    beforeAll(() => {
      ({ toolyard, folder, vault, shared, internal } = started());
      ({ agent } = toolyard);
    });

    const judge = (agentId: string, tool: string, args: Record<string, unknown>, expected: Expected) =>
      expectDecision(agent, { tool, args, agentId, sessionId: `of-${agentId}` }, expected);
    const read = (agentId: string, path: string, expected: Expected) => judge(agentId, 'file_read', { path }, expected);
    const write = (agentId: string, path: string, expected: Expected, content = 'written') =>
      judge(agentId, 'file_write', { path, content }, expected);

    describe('as a path', () => {
      it.each(['a\0b', 'a\nb', '..%2fetc', '%2f..%2fx', '%2e%2e/x', '..\\x%5c', '．．/x', 'a\u202eb', '~root/x'])(
        'denies a misleading path in every posture: %j [PP-20, PP-21, PP-22]',
        async (path) => {
          for (const agentId of ['confined', 'unattended', 'supervised'])
            await read(agentId, path, { denied: /Path (has|is longer|begins with)/ });
        },
      );

      it('writes and reads paths below the workspace, and makes folders on the way [PP-29, PP-85]', async () => {
        for (const agentId of ['confined', 'unattended', 'supervised', 'mounts']) {
          await write(agentId, 'new/folder/a..b.txt', { runs: 'Wrote 7 bytes to new/folder/a..b.txt' });
          await read(agentId, 'new/folder/a..b.txt', { runs: 'written' });
        }
      });

      it('accepts absolute paths in the workspace and roots of the policy unless only the workspace is allowed or they are forbidden [PP-23]', async () => {
        await write('wide-rooted', 'own.txt', { runs: /./ });
        const own = join(toolyard.workspaceRoot, 'default', 'sessions', 'of-wide-rooted', 'own.txt');
        await read('wide-rooted', own, { runs: 'written' });
        await write('wide-rooted', join(shared, 'wide.txt'), { runs: /./ });
        await read('wide-rooted', join(shared, 'wide.txt'), { runs: 'written' });
        await read('wide-rooted', join(internal, 'state.txt'), { denied: literally(`Forbidden path: ${internal}`) });
        await read('wide-rooted', '/nowhere', { denied: literally('(PathOutsideAllowedRoots)') });
        for (const path of [own, join(shared, 'wide.txt')]) await read('confined', path, { denied: /./ });
      });

      it('refuses a path in the words of its tool, with the reason of the violation [PP-28, TB-20, TB-30]', async () => {
        await read('plain', '../x', { denied: literally('Path not allowed by security policy: ../x') });
        await write('plain', '../x', { denied: literally('Path not allowed: ../x') });
        for (const path of ['../x', 'fine']) await write('reads-only', path, { denied: literally('Read-only mode: cannot write files') });
        await read('mounts', '/nowhere', { denied: literally('blocked by security policy (PathOutsideAllowedRoots): ') });
        await read('mounts', 'a\0b', { denied: literally('blocked by security policy (InvalidArguments): Path has a NUL byte in it') });
        await read('mounts', '~root/x', {
          denied: literally('blocked by security policy (PathResolutionFailed): Path begins with another'),
        });
        await judge(
          'mounts',
          'shell',
          { command: 'curl x' },
          { denied: literally("blocked by security policy (CommandNotAllowed): 'curl'") },
        );
      });

      it('denies a path longer than any system accepts', () =>
        read('unattended', 'x'.repeat(5_000), { denied: 'Path is longer than 4096 characters' }));

      it.each(['/srv/x', 'a/../b', '../x', '.././x'])(
        'denies a path not plainly below the workspace if only that is allowed: %s [K-18, PP-21, PP-23]',
        (path) => read('confined', path, { denied: /(Path not allowed by security policy|Forbidden path): / }),
      );

      it.each(POLICY_PROFILES.zeroclaw.paths.forbidden)(
        'denies a path in the forbidden folder %s, and everything below [PP-22, PP-24]',
        async (path) => {
          await read('wide', path, { denied: literally(`Forbidden path: ${path}`) });
          await read('wide', `${path}/x`, { denied: literally(`Forbidden path: ${path}/x`) });
        },
      );

      it('asks about a path outside of all roots in a supervised session, denies it by policy, and never reads it [K-18, PP-28, PP-85]', async () => {
        await read('supervised', '/other/file', { asks: literally('/other/file is outside of the workspace') });
        await read('supervised', '../other', { asks: 'is outside of the workspace' });
        await read('mounts', '/nowhere', { denied: literally('blocked by security policy (PathOutsideAllowedRoots)') });
        const { call } = await submitted(agent, { tool: 'file_read', args: { path: join(folder, 'secret.txt') }, agentId: 'unattended' });
        expect(call).toMatchObject({
          outcome: 'denied',
          error: { code: 'policy_denied', message: expect.stringContaining('Path not allowed') },
        });
      });

      it('refuses a link out of the workspace when it is opened, for any policy decision [PP-25]', async () => {
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

      it('reads and writes paths in a shared folder as that folder allows, and leaves it by no link [K-18, PP-26, PP-27, PP-40]', async () => {
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

      it('hides a shared folder from agents whose policy does not name it [PP-26]', async () => {
        await read('supervised', join(vault, 'note.txt'), { asks: 'is outside of the workspace' });
        await read('confined', join(vault, 'note.txt'), { denied: /(Path not allowed by security policy|Forbidden path): / });
      });

      it('runs paths trusted by a glob, with all below; denied beats allowed; a path without a rule needs an approval [PP-30, PP-72, PP-74]', async () => {
        await write('trusting', 'src/a', { runs: /./ });
        await read('trusting', 'src/deep/../a', { runs: 'written' });
        await read('trusting', 'src/secret/x', { denied: literally('by the pattern src/secret') });
        await read('trusting', 'docs/x', { asks: literally('docs/x is in the workspace, and it is not trusted') });
        await read('trusting-tool', 'src/secret/x', { denied: literally('by the pattern src/secret') });
      });

      it('decides several paths together: a denied one denies the call, undecided ones are one question [PP-31]', async () => {
        await judge('wide', 'shell', { command: 'cat fine.txt /etc/passwd' }, { denied: 'Forbidden path: /etc/passwd' });
        const command = `cat ${join(vault, 'note.txt')} ${join(internal, 'state.txt')}`;
        await judge('mounts', 'shell', { command }, { denied: literally(`is in the denied root ${internal}`) });
        await judge('supervised', 'shell', { command: 'cat /one /two' }, { asks: /\/one is outside[\s\S]*\/two is outside/ });
      });

      it('records a refused path: who, what, when and why [PP-42]', async () => {
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
  });
}

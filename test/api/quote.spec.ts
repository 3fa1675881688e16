import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import type { Quote } from '#contracts';
import { useTenant, type Tenant } from '../support/installation/use-tenant.js';

describe('the quote of a call that writes', () => {
  let tenant: Tenant;
  beforeAll(async () => {
    tenant = await useTenant('quote');
  });
  afterAll(() => tenant?.close());

  const asked = async (tool: string, args: object) => {
    const { body } = await tenant.agent.request<Quote>('POST', '/v1/calls:quote', { tool, arguments: args, sessionId: 'writing' });
    return [body.valid, body.approvalNeeded, body.decision?.reasons.find(({ effect }) => effect === 'ask')?.rule];
  };
  const create = (path: string) => ({ patch: `--- /dev/null\n+++ b/${path}\n@@ -0,0 +1 @@\n+a\n`, paths: [path] });
  const WRITES: [tool: string, args: (path: string) => object][] = [
    ['file_write', (path) => ({ path, content: 'x' })],
    ['file_edit', (path) => ({ path, old_text: 'a', new_text: 'b' })],
    ['file_copy', (destination) => ({ source: 'a', destination })],
    ['file_patch', create],
    ['file_patch', (path) => ({ patch: create(path).patch })],
    ['apply_patch', (path) => ({ patch: `*** Begin Patch\n*** Add File: ${path}\n+a\n*** End Patch` })],
    ['apply_patch', (path) => ({ patch: `*** Begin Patch\n*** Update File: a\n*** Move to: ${path}\n*** End Patch` })],
    ['apply_patch', (path) => ({ patch: `diff --git a/x b/y\nrename from ${path}\nrename to moved\n` })],
    ['file_delete', (path) => ({ path })],
  ];

  it.each(WRITES)('asks a person in the quote of %s if later commands run the file, but not for other files', async (tool, args) => {
    const posture = { autonomy: 'supervised', permissionMode: 'workspace-write' };
    await tenant.agent.request('PUT', '/v1/sessions/writing', { posture });
    for (const path of ['.git/config', 'sub/.gitattributes', '.GIT/hooks/pre-commit', 'a/../.npmrc', 'node_modules/.bin/jest'])
      expect([path, ...(await asked(tool, args(path)))]).toEqual([path, true, true, 'auto-run-file']);
    for (const path of ['src/a', 'package.json', '.gitignore'])
      expect([path, ...(await asked(tool, args(path)))]).toEqual([path, true, false, undefined]);
  });

  it('explains faults of arguments in a call’s quote, also beyond the tool’s schema', async () => {
    const { body } = await tenant.agent.request<Quote>('POST', '/v1/calls:quote', { tool: 'file_patch', arguments: { patch: 'no patch' } });
    expect(body).toMatchObject({ valid: false, errors: [{ pointer: '/arguments', message: expect.stringContaining('Invalid patch: ') }] });
  });
});

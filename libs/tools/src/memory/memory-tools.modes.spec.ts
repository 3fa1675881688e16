import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { Test, type TestingModule } from '@nestjs/testing';
import { Memory, memorySettings, MEMORY_ENV } from '#memory';
import { DisabledSandbox, Sandbox } from '#sandbox';
import { ToolRegistry } from '#tool-sdk';
import { z } from 'zod';
import { testDatabase } from '../../../../test/support/postgres.js';
import { testWorkspace } from '../testing/test-workspace.js';
import { toolContract } from '../tool.contract.js';
import { ToolsModule } from '../tools.module.js';

let app: TestingModule;
let memory: Memory;
beforeAll(async () => {
  const settings = memorySettings(z.object(MEMORY_ENV).parse({}), await testDatabase());
  if (settings === undefined) throw new Error('no database');
  const offline = () => Promise.reject(new Error('no model is asked'));
  memory = Memory.open(settings, offline, (error) => {
    throw error;
  });
  const providers = [
    { provide: Sandbox, useValue: new DisabledSandbox() },
    { provide: Memory, useValue: memory },
  ];
  app = await Test.createTestingModule({ imports: [ToolsModule.forRoot({ providers })] }).compile();
  await app.init();
});
afterAll(async () => {
  await app.close();
  await memory.close();
});

const names = readdirSync(new URL('./', import.meta.url))
  .filter((file) => file.endsWith('.tool.ts'))
  .map((file) => basename(file, '.tool.ts').replaceAll('-', '_'));

/** Contract with a database and a user; `builtin.modes.spec.ts` runs it without. */
toolContract(names, () => ({
  registry: app.get(ToolRegistry),
  contexts: Object.fromEntries(names.map((name) => [name, { userId: 'alice', sessionId: 'contract', callId: randomUUID() }])),
  workspace: async () => {
    const { root, put, remove } = await testWorkspace();
    await put('docs/notes.md', '# Notes\nThe colour is blue.\n');
    // Constant snapshot, since nothing is written to the workspace.
    return { root, remove, snapshot: () => Promise.resolve('') };
  },
  texts: { knowledge: ['docs', 'docs/notes.md', '..', 'note-'], memory_search: ["it's", '& | !', '\ud800', 'a:*'] },
}));

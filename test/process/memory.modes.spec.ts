import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import type { Call, ToolDescriptor } from '#contracts';
import { Agent } from '../support/agent.js';
import { startEmbeddingServer, type EmbeddingServer } from '../support/embedding-server.js';
import { eventually } from '../support/eventually.js';
import { startModelServer, type ModelServer } from '../support/model-server.js';
import { textOf } from '../support/policy-case.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const key = (name: string) => `key-of-${name}-with-a-memory`;
const USERS = ['alice', 'bob', 'carol', 'dora', 'erin'];
const FILE = {
  keys: [
    ...USERS.map((user) => ({ id: user, key: key(user), tenant: 'default', user })),
    { id: 'rival', key: key('rival'), tenant: 'rival', user: 'alice' },
    { id: 'plain', key: key('plain'), tenant: 'default' },
  ],
};
const MEMORY_TOOLS = [
  'knowledge',
  'memory_delete',
  'memory_forget',
  'memory_recall',
  'memory_save',
  'memory_search',
  'memory_store',
  'memory_turn',
  'memory_update',
];

const folder = mkdtempSync(join(tmpdir(), 'toolyard-memory-'));
let embeddings: EmbeddingServer;
let models: ModelServer;
let toolyard: TestCluster;
beforeAll(async () => {
  [embeddings, models] = await Promise.all([startEmbeddingServer(), startModelServer()]);
  const config = join(folder, 'toolyard.json');
  const asks = { model: { provider: 'openai-compatible', name: 'reminder', url: models.url }, tier: 'read_only' };
  const sources = [{ kind: 'agent', name: 'reminder', tenant: '*', memory: true, ...asks }];
  writeFileSync(config, JSON.stringify({ ...FILE, sources }));
  const model = { EMBEDDINGS_URL: embeddings.url, EMBEDDINGS_MODEL: 'concepts', EMBEDDINGS_API_KEY: 'key-of-the-model' };
  toolyard = await startTestCluster({ lists: true, env: { TOOLYARD_CONFIG: config, EGRESS_ALLOW_HOSTS: embeddings.host, ...model } });
});
afterAll(async () => {
  await toolyard.close();
  await Promise.all([embeddings.close(), models.close()]);
  rmSync(folder, { recursive: true });
});

const as = (name: string) => new Agent(toolyard.gateways[0]?.url ?? '', key(name));
/** The first text of the result; the second says by what it is ranked. */
const first = ({ result }: Call) => (result?.content[0]?.type === 'text' ? result.content[0].text : '');
const run = (name: string, tool: string, args: object, more: Record<string, unknown> = {}) => as(name).run(tool, args, more);
const said = async (name: string, tool: string, args: object, more: Record<string, unknown> = {}) => {
  const call = await run(name, tool, args, more);
  expect(call).toMatchObject({ outcome: 'completed' });
  return first(call);
};
const json = async <T>(name: string, tool: string, args: object, more: Record<string, unknown> = {}) =>
  JSON.parse(await said(name, tool, args, more)) as T;
const save = async (name: string, content: string) => (await json<{ note_id: string }>(name, 'memory_save', { content })).note_id;
interface Note {
  readonly text: string;
  readonly source: string;
  readonly score: number;
  readonly note_id: string;
}
const search = (name: string, query: string, more: object = {}) => json<Note[]>(name, 'memory_search', { query, ...more });

describe('facts of a user', () => {
  it('stores facts of a user by key and finds them by their words; the same key replaces the fact [K-19, TB-70, TB-71]', async () => {
    expect(await said('alice', 'memory_store', { key: 'editor', content: 'Alice writes in vim.' })).toBe('Stored memory: editor');
    await said('alice', 'memory_store', { key: 'editor', content: 'Alice writes in emacs.', category: 'tools' });
    expect(await said('alice', 'memory_recall', { query: 'what does Alice write in?' })).toBe(
      'Found 1 memories:\n\n- **editor**: Alice writes in emacs.\n',
    );
    expect(await said('alice', 'memory_recall', { query: 'vim' })).toBe('No matching memories found');
  });

  it('forgets facts of a user by key, and with the session if they were stored for it alone [TB-72]', async () => {
    await said('alice', 'memory_store', { key: 'branch', content: 'The branch is main.' });
    await said('alice', 'memory_store', { key: 'branch', content: 'The branch is fix-7.', session_only: true }, { sessionId: 'fixing' });
    expect(await said('alice', 'memory_recall', { query: 'branch', limit: 9 }, { sessionId: 'other' })).not.toContain('fix-7');
    expect(await said('alice', 'memory_recall', { query: 'branch' }, { sessionId: 'fixing' })).toContain('fix-7');
    expect(await said('alice', 'memory_forget', { key: 'branch' }, { sessionId: 'fixing' })).toBe('Forgot memory: branch');
    expect(await said('alice', 'memory_recall', { query: 'branch' }, { sessionId: 'fixing' })).toContain('The branch is main.');
    expect(await said('alice', 'memory_forget', { key: 'branch' })).toBe('Forgot memory: branch');
    expect(await said('alice', 'memory_forget', { key: 'branch' })).toBe('No memory found with key: branch');
  });
});

describe('notes of a user', () => {
  it('saves notes of a user under an id of their own, and none without content [TB-75]', async () => {
    expect(await save('alice', 'The spare key is under the blue pot.')).toMatch(/^note-[0-9a-f-]{36}$/);
    expect((await run('alice', 'memory_save', { content: ' \n' })).error).toMatchObject({
      code: 'invalid_arguments',
      message: expect.stringContaining('content must not be empty'),
    });
  });

  it('finds notes by exact terms and by synonyms, best first [TB-73]', async () => {
    const ids = [await save('bob', 'Order AX-4711 is late.'), await save('bob', 'My automobile is in the garage.')];
    const [term] = await search('bob', 'AX-4711');
    expect(term).toMatchObject({ text: 'Order AX-4711 is late.', source: 'user_memory', note_id: ids[0] });
    const [paraphrase] = await search('bob', 'where do I keep the vehicle');
    expect(paraphrase).toMatchObject({ note_id: ids[1] });
    const scores = (await search('bob', 'AX-4711 vehicle', { top_k: 20 })).map(({ score }) => score);
    expect(scores).toEqual([...scores].sort((a, b) => b - a));
    expect((await run('bob', 'memory_search', { query: 'x', top_k: 50 })).error?.code).toBe('invalid_arguments');
    expect(new Set(embeddings.authorizations)).toEqual(new Set(['Bearer key-of-the-model']));
  });

  it('keeps the id of a note when its text is replaced, and finds no deleted note [TB-76, TB-77]', async () => {
    const id = await save('carol', 'Carol lives in Rome.');
    await said('carol', 'memory_update', { note_id: id, content: 'Carol lives in Oslo.' });
    expect(await search('carol', 'Carol lives')).toMatchObject([{ text: 'Carol lives in Oslo.', note_id: id }]);
    expect(await search('carol', 'Rome')).toEqual([]);
    expect(await json('carol', 'memory_delete', { note_id: id })).toEqual({ message: 'Note deleted successfully.' });
    expect(await search('carol', 'Carol lives Oslo')).toEqual([]);
    for (const [tool, args] of [['memory_delete', {}] as const, ['memory_update', { content: 'x' }] as const])
      expect((await run('carol', tool, { note_id: id, ...args })).error?.message).toContain(`Note not found: ${id}`);
  });

  it('shows the notes of one user of one tenant in all sessions, and to no other user [K-19, TB-78]', async () => {
    const id = await save('alice', 'The alarm code is seven seven.');
    for (const other of ['bob', 'rival']) {
      expect(await search(other, 'alarm code seven', { include_conversation: true })).toEqual([]);
      expect((await run(other, 'memory_delete', { note_id: id })).error?.message).toContain('Note not found');
      expect((await run(other, 'memory_update', { note_id: id, content: 'mine' })).error?.message).toContain('Note not found');
    }
    const later = await json<Note[]>('alice', 'memory_search', { query: 'alarm code' }, { sessionId: 'a-later-one' });
    expect(later).toMatchObject([{ text: 'The alarm code is seven seven.', note_id: id }]);
  });

  it('fails a memory tool without a user, with the reason, and stores nothing [CC-27]', async () => {
    for (const [tool, args] of [
      ['memory_save', { content: 'note of none' }],
      ['memory_search', { query: 'note' }],
      ['memory_store', { key: 'k', content: 'c' }],
      ['knowledge', { command: 'show' }],
    ] as const)
      expect((await run('plain', tool, args)).error).toMatchObject({
        code: 'tool_failed',
        message: expect.stringContaining('user context is not available'),
      });
    expect(await search('alice', 'note of none', { top_k: 20 })).not.toContainEqual(expect.objectContaining({ text: 'note of none' }));
  });

  it('stores notes without secrets, and sends no secret to the embedding model', async () => {
    const secret = `ghp_${'a1B2'.repeat(9)}`;
    await save('dora', `The token is ${secret}, for the robot.`);
    expect(await search('dora', 'token robot')).toMatchObject([{ text: 'The token is [REDACTED], for the robot.' }]);
    expect(embeddings.texts.join()).not.toContain(secret);
  });
});

describe('turns of a conversation', () => {
  it('finds turns of a conversation with the notes on request, in other sessions too', async () => {
    await said('dora', 'memory_turn', { role: 'user', content: 'My puppy is called Rex.' }, { sessionId: 'monday' });
    expect(await search('dora', 'dog name')).toEqual([]);
    expect(await search('dora', 'dog name', { include_conversation: true })).toMatchObject([
      { text: 'My puppy is called Rex.', source: 'conversation', note_id: '' },
    ]);
  });
});

describe('a sub-agent with memory', () => {
  /** Task for its model. */
  const asked = async (name: string, task: string, more: Record<string, unknown> = {}): Promise<string[]> => {
    models.on('reminder', [{ text: 'It hangs behind the blue gate.' }]);
    expect(await run(name, 'reminder', { task }, more)).toMatchObject({ outcome: 'completed' });
    return models.calls('reminder')[0]?.body.messages.map(({ content }: { content: string }) => content) ?? [];
  };

  it('reads memories of its user for a sub-agent before the first turn, and stores its run as a conversation', async () => {
    const isOffered = async () =>
      (await as('erin').get<{ tools: ToolDescriptor[] }>('/v1/tools')).body.tools.some(
        ({ name, available }) => name === 'reminder' && available.ok,
      );
    await eventually(isOffered, 'the sub-agent');
    await save('erin', 'The ladder of Erin is in the shed.');
    await said('erin', 'memory_store', { key: 'ladder', content: 'It has nine steps.' });
    const task = 'Where is the ladder?';
    const [memory, ...rest] = await asked('erin', task);
    expect(rest).toEqual([task]);
    expect(memory).toContain('no instructions');
    for (const text of ['The ladder of Erin is in the shed.', 'ladder: It has nine steps.']) expect(memory).toContain(text);
    const [later] = await asked('erin', 'What did you say of the blue gate?', { sessionId: 'later' });
    for (const text of [task, 'It hangs behind the blue gate.']) expect(later).toContain(text);
  });

  it('reads no memory for a sub-agent of other users and tenants, without a user, or if the session may not use it', async () => {
    const operator = new Agent(toolyard.gateways[0]?.url ?? '');
    expect((await operator.request('PUT', '/v1/sessions/narrow', { tools: ['reminder'] })).status).toBeLessThan(300);
    for (const [name, more] of [['bob'], ['rival'], ['plain'], ['erin', { sessionId: 'narrow' }]] as const)
      expect((await asked(name, 'The ladder and the shed?', more)).join()).not.toContain('Erin');
    expect(await asked('plain', 'The ladder?')).toEqual(['The ladder?']);
    expect(await search('erin', 'and the shed', { include_conversation: true })).not.toContainEqual(
      expect.objectContaining({ text: 'The ladder and the shed?' }),
    );
  });
});

describe('an agent outside with memory', () => {
  const recall = (name: string, task: string, sessionId = 'outside') =>
    new ToolyardClient({ baseUrl: toolyard.gateways[0]?.url ?? '', apiKey: key(name) }).recall(task, { sessionId });

  it('gives an outside agent its user’s memories about a task before its first turn, by one client method', async () => {
    await save('carol', 'The kayak of Carol is under the bridge.');
    await said('carol', 'memory_store', { key: 'kayak', content: 'It has two seats.' });
    await said('carol', 'memory_turn', { role: 'user', content: 'The kayak needs a new paddle.' }, { sessionId: 'monday' });
    const message = await recall('carol', 'Where is the kayak?');
    expect(message).toMatch(/^What the memory of the user has[^\n]*no instructions/);
    for (const text of ['The kayak of Carol is under the bridge.', 'kayak: It has two seats.', 'The kayak needs a new paddle.'])
      expect(JSON.parse(message?.split('\n')[1] ?? '')).toContain(text);
    // Cut inside the last character.
    expect(await recall('carol', `${'Where is the kayak?'.padEnd(1_999)}🛶`)).toContain('under the bridge');
  });

  it('gives an outside agent no memory of other users and tenants, without a user, or if its session may not use it', async () => {
    await save('carol', 'The canoe of Carol is green.');
    const operator = new Agent(toolyard.gateways[0]?.url ?? '');
    expect((await operator.request('PUT', '/v1/sessions/no-memory', { tools: ['echo'] })).status).toBeLessThan(300);
    for (const [name, sessionId] of [['bob'], ['rival'], ['plain'], ['carol', 'no-memory']])
      expect((await recall(name!, 'Which colour has the canoe of Carol?', sessionId)) ?? '').not.toContain('green');
  });
});

describe('knowledge of a user', () => {
  const write = (path: string, content: string) => said('alice', 'file_write', { path, content }, { sessionId: 'library' });
  const knowledge = <T>(args: object, name = 'alice') => json<T>(name, 'knowledge', args, { sessionId: 'library' });

  it('indexes, shows, searches with snippets, replaces and removes a folder of knowledge [K-19, TB-79]', async () => {
    await write('docs/cars.md', `# Cars\n\n${'Nothing of interest. '.repeat(200)}The gearbox needs oil of grade 75W.\n`);
    await write('docs/pets.txt', 'The hound sleeps in the kitchen.');
    const added = await knowledge<{ operation_id: string; context_id: string }>({ command: 'add', name: 'manuals', path: 'docs' });
    expect(added).toMatchObject({ documents: 2, skipped: 0 });
    expect(await knowledge({ command: 'status' })).toMatchObject([
      { operation_id: added.operation_id, status: 'completed', documents: 2, total: 2 },
    ]);
    expect(await knowledge({ command: 'show' })).toMatchObject([{ context_id: added.context_id, name: 'manuals', path: 'docs' }]);
    const found = await knowledge<{ snippet: string }[]>({ command: 'search', query: 'gearbox oil 75W', snippet_length: 100, limit: 1 });
    expect(found).toMatchObject([{ context: 'manuals', path: 'docs/cars.md', snippet: expect.stringContaining('gearbox needs oil') }]);
    expect(found[0]?.snippet.length).toBeLessThanOrEqual(100);
    expect(await knowledge({ command: 'search', query: 'puppy', file_type: 'txt' })).toMatchObject([{ path: 'docs/pets.txt' }]);
    expect(await knowledge({ command: 'search', query: 'puppy', file_type: 'md' })).toEqual([]);
    expect(await knowledge({ command: 'show' }, 'bob')).toEqual([]);
    expect(await knowledge({ command: 'search', query: 'gearbox' }, 'bob')).toEqual([]);

    await write('docs/pets.txt', 'The cat sleeps in the attic.');
    expect(await knowledge({ command: 'update', context_id: added.context_id, path: 'docs' })).toMatchObject({ documents: 2 });
    expect(await knowledge({ command: 'search', query: 'kitchen' })).toEqual([]);
    expect(await knowledge({ command: 'search', query: 'attic' })).toMatchObject([{ path: 'docs/pets.txt' }]);
    await knowledge({ command: 'remove', path: 'docs' });
    expect(await knowledge({ command: 'search', query: 'attic' })).toEqual([]);
    expect(await knowledge({ command: 'clear' })).toEqual({ message: 'Removed 0 contexts.' });
  });

  it('names the missing argument of a knowledge command, and refuses files that the call may not read', async () => {
    const fault = async (args: object) => (await run('alice', 'knowledge', args, { sessionId: 'library' })).error;
    expect(await fault({ command: 'add', name: 'x' })).toMatchObject({
      code: 'invalid_arguments',
      message: 'The command add needs path or value.',
    });
    expect(await fault({ command: 'search' })).toMatchObject({ code: 'invalid_arguments' });
    expect(await fault({ command: 'add', name: 'x', path: '/etc/passwd' })).toBeDefined();
    expect((await fault({ command: 'add', name: 'gone', path: 'not-there.md' }))?.message).toContain('File not found: not-there.md');
    const operations = await knowledge<{ name: string }[]>({ command: 'status' });
    expect(operations.find(({ name }) => name === 'gone')).toMatchObject({
      status: 'failed',
      error: expect.stringContaining('File not found: not-there.md'),
    });
    expect((await fault({ command: 'remove', name: 'never' }))?.message).toContain('No knowledge context never');
  });
});

describe('the memory tools', () => {
  const catalog = async () => {
    const { body } = await as('alice').get<{ tools: ToolDescriptor[] }>('/v1/tools');
    return body.tools.filter(({ requires }) => requires?.includes('memory'));
  };

  it('answers a memory search by full text alone while the embedding model fails, and reports it', async () => {
    await save('dora', 'The physician is in room nine.');
    embeddings.answer = 'error';
    const call = await run('dora', 'memory_search', { query: 'room nine' });
    embeddings.answer = 'vectors';
    expect(JSON.parse(first(call))).toMatchObject([{ text: 'The physician is in room nine.' }]);
    expect(textOf(call)).toContain('full text alone, since the embedding model did not answer');
  });

  it('removes the memory tools from the catalog of models if no worker has a database, with the reason for calls [RP-11, AV-12]', async () => {
    expect((await catalog()).map(({ name, available }) => [name, available.ok])).toEqual(MEMORY_TOOLS.map((name) => [name, true]));
    const [worker] = toolyard.workers;
    await toolyard.worker({ DATABASE_URL: '' });
    worker?.signal('SIGTERM');
    await worker?.ended();
    const available = await eventually(async () => {
      const tools = await catalog();
      return tools.every(({ available: { ok } }) => !ok) ? tools[0]?.available : undefined;
    }, 'the gateway to know');
    expect(available?.reason).toMatch(/^knowledge is not available: no worker of the pool write has the memory \(DATABASE_URL is not set/);
    const { body: forModels } = await as('alice').get<{ tools: { name: string }[] }>('/v1/tools?format=anthropic');
    expect(forModels.tools.filter(({ name }) => MEMORY_TOOLS.includes(name))).toEqual([]);
    expect((await run('alice', 'memory_search', { query: 'x' })).error?.code).toBe('unavailable');
  });
});

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Agent } from '../support/agent.js';
import { startEmbeddingServer, type EmbeddingServer } from '../support/embedding-server.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Number of turns, of two calls each. */
const TURNS = 1_000;
/** At the same time: a hundred times the connections of a worker. */
const AT_ONCE = 400;
/** Timeout that lets a call wait for its turn also on a slow machine. */
const timeouts = { runMs: 300_000 };
const key = (name: string) => `key-of-${name}-among-many-users`;
const FILE = {
  keys: [
    { id: 'alice', key: key('alice'), tenant: 'default', user: 'alice' },
    { id: 'bob', key: key('bob'), tenant: 'default', user: 'bob' },
    { id: 'app', key: key('app'), tenant: 'default', users: ['alice', 'bob'] },
  ],
};

const folder = mkdtempSync(join(tmpdir(), 'toolyard-memory-users-'));
let embeddings: EmbeddingServer;
let toolyard: TestCluster;
beforeAll(async () => {
  embeddings = await startEmbeddingServer();
  const config = join(folder, 'toolyard.json');
  writeFileSync(config, JSON.stringify(FILE));
  const env = {
    TOOLYARD_CONFIG: config,
    EGRESS_ALLOW_HOSTS: embeddings.host,
    EMBEDDINGS_URL: embeddings.url,
    EMBEDDINGS_MODEL: 'concepts',
  };
  toolyard = await startTestCluster({ lists: true, workers: 2, env });
});
afterAll(async () => {
  await toolyard.close();
  await embeddings.close();
  rmSync(folder, { recursive: true });
});

const as = (name: string) => new Agent(toolyard.gateways[0]?.url ?? '', key(name));

describe('the memory of users', () => {
  it('shows the memory of a user only to that user in 1,000 turns, 400 at a time, over two workers, in one session [CC-26]', async () => {
    const turn = async (index: number) => {
      const user = index % 2 === 0 ? 'alice' : 'bob';
      // Half of them with a key of the user, half by a program that names the user.
      const [agent, who] = index % 4 < 2 ? [as(user), {}] : [as('app'), { userId: user }];
      const more = { sessionId: 'shared', timeouts, ...who };
      const saved = await agent.run('memory_save', { content: `${user} owns the car number ${index}` }, more);
      expect(saved).toMatchObject({ outcome: 'completed', userId: user });
      const found = await agent.run('memory_search', { query: `who owns the vehicle number ${index}`, top_k: 20 }, more);
      expect(found.outcome).toBe('completed');
      const [first] = found.result?.content ?? [];
      const texts = (JSON.parse(first?.type === 'text' ? first.text : '[]') as { text: string }[]).map(({ text }) => text);
      expect(texts).toContain(`${user} owns the car number ${index}`);
      return texts.filter((text) => !text.startsWith(user));
    };
    const strangers: string[] = [];
    let next = 0;
    const agent = async () => {
      while (next < TURNS) strangers.push(...(await turn(next++)));
    };
    await Promise.all(Array.from({ length: AT_ONCE }, agent));
    expect(strangers).toEqual([]);
  });

  it('ranks memories by text alone or by vectors alone, by the weights of the workers [TB-74]', async () => {
    const scope = { userId: 'alice', sessionId: 'weights' };
    for (const content of ['The physician has a garage.', 'A puppy barks.'])
      await as('app').run('memory_turn', { role: 'user', content }, scope);
    const ranked = async (env: Record<string, string>) => {
      const before = toolyard.workers.filter(({ child }) => child.exitCode === null);
      const worker = await toolyard.worker(env);
      for (const old of before) old.signal('SIGTERM');
      await Promise.all(before.map((old) => old.ended()));
      expect(worker.child.exitCode).toBeNull();
      const { result } = await as('app').run('memory_search', { query: 'garage dog', include_conversation: true, top_k: 1 }, scope);
      const [first] = result?.content ?? [];
      return (JSON.parse(first?.type === 'text' ? first.text : '[]') as { text: string }[])[0]?.text;
    };
    expect(await ranked({ MEMORY_TEXT_WEIGHT: '1', MEMORY_VECTOR_WEIGHT: '0' })).toBe('The physician has a garage.');
    expect(await ranked({ MEMORY_TEXT_WEIGHT: '0', MEMORY_VECTOR_WEIGHT: '1' })).toBe('A puppy barks.');
  });
});

describe('a worker that dies', () => {
  it('leaves the old text of a note or the new one when its worker dies, and ends the call', async () => {
    const { result } = await as('alice').run('memory_save', { content: 'the old text of the note' });
    const [first] = result?.content ?? [];
    const { note_id } = JSON.parse(first?.type === 'text' ? first.text : '') as { note_id: string };
    const worker = toolyard.workers.find(({ child }) => child.exitCode === null);
    const { body } = await as('alice').submit('memory_update', { note_id, content: 'the new text of the note' });
    worker?.signal('SIGKILL');
    await toolyard.worker();
    const ended = await eventually(async () => {
      const call = await as('alice').ended(body.id);
      return call.status === 'ended' ? call : undefined;
    }, 'the update to end');
    expect(ended.outcome).toBe('completed');
    const search = await as('alice').run('memory_search', { query: 'text of the note', top_k: 20 });
    expect(JSON.stringify(search.result)).toContain('the new text of the note');
    expect(JSON.stringify(search.result)).not.toContain('the old text of the note');
  });
});

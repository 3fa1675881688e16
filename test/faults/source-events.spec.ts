import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Notice, NOTICE_TYPES, type ToolDescriptor } from '#contracts';
import { Agent, type Stream } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

const OTHER_KEY = 'key-of-a-tenant-without-that-server';
const SERVER = 'test/support/mcp-server.fixture.mjs';
const types = NOTICE_TYPES.filter((type) => type.startsWith('source.'));

describe('an MCP server that is killed and cannot start again', () => {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-source-events-'));
  const startable = join(folder, 'startable');
  let toolyard: TestCluster;
  let agent: Agent;
  let other: Agent;

  beforeAll(async () => {
    const program = 'test -e "$1" && exec "$2" "$3" stdio';
    const command = ['sh', '-c', program, 'sh', startable, process.execPath, resolve(SERVER)];
    const paths = [folder, resolve('test/support'), resolve('node_modules'), resolve('package.json')];
    const sources = [{ name: 'frail', kind: 'mcp', tenant: 'default', command, paths, trust: true }];
    const keys = [{ id: 'other', tenant: 'other', sha256: createHash('sha256').update(OTHER_KEY).digest('hex') }];
    const config = join(folder, 'toolyard.json');
    writeFileSync(config, JSON.stringify({ sources, keys }));
    writeFileSync(startable, '');
    toolyard = await startTestCluster({ workers: 0, env: { TOOLYARD_CONFIG: config } });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    other = new Agent(agent.url, OTHER_KEY);
  });
  afterAll(async () => {
    await toolyard?.close();
    rmSync(folder, { recursive: true });
  });

  const watch = async (by: Agent): Promise<Stream> => {
    const stream = await by.stream();
    stream.send({ op: 'subscribe', id: 'w', filter: { types } });
    await stream.frame('subscribed', 'w');
    return stream;
  };
  const offers = async (name: string) => {
    const { body } = await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools');
    return body.tools.some((tool) => tool.name === name && tool.available.ok);
  };

  it('sends events of a killed MCP server to its tenant while its tools leave the catalog and return [EV-13]', async () => {
    const [mine, theirs] = [await watch(agent), await watch(other)];
    const story = async (...expected: string[]) => {
      const seen = () => mine.notices('w').map(({ type }) => type);
      await eventually(() => seen().length >= expected.length, expected.join());
      expect(seen()).toEqual(expected);
    };
    await toolyard.worker();
    await eventually(() => offers('add'), 'the tools of the server');
    const started = ['source.loading', 'source.ready'];
    await story(...started);

    rmSync(startable);
    expect(await agent.run('exit', {})).toMatchObject({ outcome: 'failed', error: { code: 'unavailable' } });
    await story(...started, 'source.exited', 'source.failed');
    await eventually(async () => !(await offers('add')), 'the tools to leave the catalog');

    writeFileSync(startable, '');
    await eventually(() => offers('add'), 'the tools to be back');
    await story(...started, 'source.exited', 'source.failed', 'source.ready');
    const events = mine.notices('w').map((event) => Notice.parse(event));
    for (const event of events)
      expect(event).toMatchObject({
        subject: 'source/frail',
        tenantid: 'default',
        data: { kind: 'mcp' },
        actor: expect.stringMatching(/^worker:/),
      });
    expect(theirs.notices('w')).toEqual([]);
    mine.close();
    theirs.close();
  });
});

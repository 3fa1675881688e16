import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '#client';
import type { Call } from '#contracts';
import { eventually } from '../support/eventually.js';
import { TEST_KEY, startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Their examples need the internet, a sub-agent, a skill, or a schedule. */
const OUTSIDE = ['web_fetch', 'web_search', 'http_request', 'agent', 'agent_crew', 'skill', 'summary', 'cron_remove'];
/** Their examples need the id of a note that is there. */
const OF_A_NOTE = ['memory_update', 'memory_delete'];
/** Their examples need the id of a background run. */
const OF_A_RUN = ['shell_output', 'shell_stop'];
/** Their programs may be missing; they have tests of their own. */
const OF_A_PROGRAM = ['aws', 'powershell', 'browser'];
const NOT_RUN = [...OUTSIDE, ...OF_A_NOTE, ...OF_A_RUN, ...OF_A_PROGRAM];
/** Tool that waits for a person. */
const ASKS = 'ask_user';

describe.each(['bubblewrap', 'host', 'none'])('the examples of the catalog, with SANDBOX=%s', (SANDBOX) => {
  let toolyard: TestCluster;
  let client: ToolyardClient;
  beforeAll(async () => {
    toolyard = await startTestCluster({ lists: true, env: { TOOLYARD_USER: 'local', SANDBOX } });
    client = new ToolyardClient({ baseUrl: toolyard.gateways[0]!.url, apiKey: TEST_KEY });
  });
  afterAll(() => toolyard.close());

  /** Runs a call; a person answers what its tool asks. */
  const run = async (submission: Parameters<typeof client.calls.submit>[0]): Promise<Call> => {
    if (submission.tool !== ASKS) return client.calls.run(submission);
    const { id } = await client.calls.submit(submission);
    await eventually(async () => (await client.calls.get(id)).status === 'waiting_input', 'the tool to ask');
    await client.calls.input(id, { value: 'main' });
    return client.calls.wait(id);
  };

  it('runs the examples of the catalog in an empty workspace, after the calls that they name as their setup', async () => {
    const tools = await client.tools.list();
    // Excludes a tool that changes the rights of an agent, which is available only by name.
    expect(tools.filter(({ available }) => !available.ok).map(({ name }) => name)).toEqual(expect.arrayContaining(['switch_to_execution']));
    expect(tools.length).toBeGreaterThan(40);
    const withoutPrograms = tools.filter(({ available }) => available.reason?.includes('SANDBOX switches commands off') === true);
    expect(withoutPrograms.map(({ name }) => name)).toEqual(SANDBOX === 'none' ? ['cron_add', 'repl', 'shell'] : []);
    for (const { name, examples } of tools.filter((tool) => tool.available.ok && !NOT_RUN.includes(tool.name))) {
      for (const [index, { title, arguments: args, setup = [] }] of examples.entries()) {
        const sessionId = `${name}-${index}`;
        for (const step of setup) expect(await client.calls.run({ ...step, sessionId })).toMatchObject({ ok: true });
        const { ok, error, note } = await run({ tool: name, arguments: JSON.stringify(args), sessionId });
        expect({ name, title, ok, error, note }).toEqual({ name, title, ok: true, error: undefined, note: undefined });
      }
    }
  });
});

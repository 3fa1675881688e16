import { readdirSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Call, Dialect, type Problem, type ToolDescriptor } from '#contracts';
import { argumentsOf } from '../../libs/dialects/src/testing/arbitrary-arguments.js';
import { randomArguments } from '../../libs/tools/src/testing/random-arguments.js';
import { Agent, type Answer } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { SshServer } from '../support/ssh-server.js';
import { startTestCluster, type TestCluster } from '../support/test-cluster.js';

/** Calls of each tool, at least one by each of its names. More: `RANDOM_ARGUMENTS=500 npm test -- test/process/every-tool.modes.spec.ts`. */
const CALLS = Number(process.env.RANDOM_ARGUMENTS ?? 10);
const AT_A_TIME = 8;
const SEED = Number(process.env.RANDOM_SEED ?? Math.floor(Math.random() * 2 ** 31));
/** Texts that are awkward for the tools that start programs, or ask other hosts. */
const TEXTS = ['exit 3', 'kill -9 $$', 'echo a; false', '"', '$(', 'while', 'process.exit(3)', 'http://127.0.0.1:1/', 'http://[', '//x'];
/** Their time limit is short: random arguments may say sleep, or wait for input. */
const TIMEOUTS = { runMs: 5_000 };
const WAITS = ['suspended', 'approval', 'input'];

/** On a host over ssh run all commands of all sessions; what would run on the worker beside them is refused. */
const PLACES: [place: string, sandbox: string][] = [
  ['with SANDBOX=bubblewrap', 'bubblewrap'],
  ['with SANDBOX=none', 'none'],
  ['whose commands run on a host over ssh', 'none'],
];

describe.each(PLACES)('every tool of an installation %s', (place, SANDBOX) => {
  let host: SshServer | undefined;
  let toolyard: TestCluster;
  let agent: Agent;
  let tools: ToolDescriptor[];
  beforeAll(async () => {
    if (place.includes('ssh')) host = await SshServer.start({ asOrdinaryUser: true, contained: true });
    toolyard = await startTestCluster({
      lists: true,
      env: { SANDBOX, TOOLYARD_USER: 'local', EGRESS_ALLOW_HOSTS: '' },
      ...(host === undefined ? {} : { config: { remoteHosts: { build: host.settings() } } }),
    });
    agent = new Agent(toolyard.gateways[0]?.url ?? '');
    ({ tools } = (await agent.get<{ tools: ToolDescriptor[] }>('/v1/tools')).body);
  });
  afterAll(async () => {
    await toolyard.close();
    await host?.close();
  });

  const filesOnWorker = () =>
    readdirSync(toolyard.workspaceRoot, { recursive: true, withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [entry.name] : []));

  /** Random arguments may have made schedules, whose runs would go on. */
  const schedulesRemoved = async () => {
    const { schedules } = (await agent.get<{ schedules: { id: string }[] }>('/v1/schedules')).body;
    await Promise.all(schedules.map(({ id }) => agent.request('DELETE', `/v1/schedules/${id}`)));
  };

  const ended = async ({ status, body }: Answer<Call | Problem>): Promise<Call | undefined> => {
    const id = 'id' in body ? body.id : body.callId;
    if (status >= 400) expect(body).toMatchObject({ status, code: expect.stringMatching(/^[a-z_]+$/), detail: expect.any(String) });
    if (id === undefined) return undefined;
    const call = await eventually(async () => {
      const { body: now } = await agent.get(`/v1/calls/${id}?wait=5`);
      if (now.waiting !== undefined && WAITS.includes(now.waiting.reason)) await agent.request('POST', `/v1/calls/${id}/cancel`, {});
      return now.status === 'ended' ? now : undefined;
    }, `the call ${id} to end`);
    const ends = (await agent.events(id)).filter(({ type }) => type === 'call.end');
    expect([ends.length, ends[0]?.data]).toEqual([1, expect.objectContaining({ outcome: call.outcome })]);
    return Call.parse(call);
  };

  type Spoken = Pick<ToolDescriptor, 'name' | 'aliases' | 'input'>;

  /** Calls each tool, by each of its names in turn, and counts how that ended. */
  const callEach = async (
    named: readonly Spoken[],
    argumentsFor: (tool: Spoken) => fc.Arbitrary<unknown>,
    { dialect = 'core', calls = CALLS } = {},
  ) => {
    const outcomes = new Map<string, number>();
    for (const tool of named) {
      const names = [tool.name, ...(dialect === 'core' ? [] : tool.aliases)];
      const rest = fc.sample(argumentsFor(tool), { numRuns: Math.max(calls, names.length), seed: SEED }).entries();
      const some = async () => {
        for (const [n, raw] of rest) {
          const args = typeof raw === 'string' ? raw : JSON.stringify(raw);
          const call = {
            tool: names[n % names.length],
            arguments: args,
            dialect,
            sessionId: `${dialect}-${tool.name}`,
            timeouts: TIMEOUTS,
          };
          try {
            const answer = await agent.request<Call | Problem>('POST', '/v1/calls', call);
            expect(answer.status).not.toBe(500);
            const known = await ended(answer);
            const outcome = known?.error?.code ?? known?.outcome ?? `refused with ${answer.status}`;
            outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1);
          } catch (cause) {
            throw new Error(`${call.tool} of ${dialect}, RANDOM_SEED=${SEED}, call ${n} with ${args}`, { cause });
          }
        }
      };
      await Promise.all(Array.from({ length: AT_A_TIME }, some));
      await schedulesRemoved();
    }
    // An error of the program itself, a worker that died and a name that no tool has, have codes of their own.
    const broken = ['refused with 404', 'internal', 'worker_lost', 'output_invalid', 'queue_timeout'];
    expect([...outcomes.keys()].filter((code) => broken.includes(code))).toEqual([]);
    // Of the few tools of a dialect chance may choose no arguments that fit.
    if (dialect === 'core') expect(outcomes.get('completed')).toBeGreaterThan(0);
    if (host !== undefined) expect(filesOnWorker()).toEqual([]);
    const apps = [...toolyard.gateways, ...toolyard.workers];
    expect(apps.map(({ child }) => [child.exitCode, child.signalCode])).toEqual(apps.map(() => [null, null]));
    if (process.env.RANDOM_ARGUMENTS !== undefined) console.log(place, dialect, SEED, named.length, Object.fromEntries(outcomes));
  };

  it(
    'answers random arguments with one End of a known outcome, or refuses them with a code [CC-49]',
    () => callEach(tools, (tool) => randomArguments(tool, TEXTS)),
    CALLS * 60_000,
  );

  it.each(Dialect.options.filter((name) => name !== 'core'))(
    'answers arguments accepted by the tools of the dialect %s the same under all of their names',
    async (dialect) => {
      const { body } = await agent.get<{ tools: Spoken[] }>(`/v1/tools?dialect=${dialect}`);
      // No test asks another machine.
      const texts = ({ input }: Spoken) =>
        argumentsOf(input).map((args) => JSON.stringify(args).replaceAll('https://example.com/', 'http://127.0.0.1:1/'));
      await callEach(body.tools, texts, { dialect, calls: Math.ceil(CALLS / 3) });
    },
    CALLS * 60_000,
  );
});

import { spawn, type ChildProcessByStdio } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { openApiDocument } from '../../apps/gateway/src/operations/docs/openapi.js';
import type { Agent } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

interface Sample {
  readonly label: 'curl' | 'TypeScript' | 'Python';
  readonly source: string;
}
interface Operation {
  readonly operationId: string;
  readonly 'x-codeSamples'?: readonly Sample[];
}

/**
 * Programs that run each line of their input, a sample as JSON text, and print its output as JSON. They import modules once, which
 * takes longer than a sample does.
 */
const HOSTS = {
  Python: [
    'python3',
    '-c',
    `import contextlib, io, json, sys, traceback, urllib.request
for line in sys.stdin:
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try: exec(json.loads(line), {'__name__': '__main__'})
        except BaseException: traceback.print_exc(file=out)
    print(json.dumps(out.getvalue()), flush=True)`,
  ],
  TypeScript: [
    process.execPath,
    '--input-type=module',
    '-e',
    `import { createInterface } from 'node:readline';
let out = '';
console.log = (...words) => (out += words.join(' ') + '\\n');
for await (const line of createInterface({ input: process.stdin })) {
  out = '';
  await import('data:text/javascript,' + encodeURIComponent(JSON.parse(line))).catch((error) => console.log(error));
  process.stdout.write(JSON.stringify(out) + '\\n');
}`,
  ],
} as const;

/** Programs that run the text of one sample. */
const PROGRAMS: Readonly<Record<Sample['label'], readonly string[]>> = {
  curl: ['sh', '-c'],
  TypeScript: [process.execPath, '--input-type=module', '-e'],
  Python: ['python3', '-c'],
};
const OPERATIONS = Object.values(openApiDocument('1.2.3').paths ?? {})
  .flatMap((methods) => Object.values(methods) as unknown as Operation[])
  .filter((operation) => operation['x-codeSamples'] !== undefined);

/** Samples that are refused here: the status of the answer, and why. Those of all others succeed. */
const REFUSED: Readonly<Record<string, readonly [status: number, reason: string]>> = {
  putCallOutput: [404, 'only the worker that runs a call may send its output'],
  uploadBundle: [422, 'the body stands for the bytes of a file'],
  beginSourceAuthorization: [409, 'the source is none that people authorize'],
  revokeSourceAuthorization: [409, 'the source is none that people authorize'],
  finishSourceAuthorization: [409, 'no authorization of a source was begun'],
  eraseCall: [409, 'calls are erased in the archive, which is not there'],
  startLogin: [501, 'no provider of logins is configured'],
  finishLogin: [501, 'no provider of logins is configured'],
  signOut: [501, 'no provider of logins is configured'],
  retryDelivery: [404, 'no delivery has failed'],
};

/** Call id in the examples. */
const CALL = '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V';
const BATCH = '07-01JZ8C6A1B2C3D4E5F6G7H8J9K';
const SCHEDULE = 'sch-6f1c2f0e-6a0a-4f6e-9a53-1f3c6c1f7a10';
const KEY = 'key-01jz8c5w3q4x9r7t2m6k8n0p1v';
const WORKER = 'deploys-5b1c';
const MCP_SESSION = '5b1c0a7e-8f7c-4c59-9d58-3b9f0f2f8d11';

let toolyard: TestCluster;
let agent: Agent;
/** curl writes the status of each answer to its error output there. */
let curlHome: string;
let hosts: Readonly<Record<keyof typeof HOSTS, SampleHost>>;

beforeAll(async () => {
  const webhook = { name: 'chat', url: 'https://chat.example.com/', secretEnv: 'HOOK_SECRET', types: ['call.end'], tools: ['none'] };
  toolyard = await startTestCluster({
    lists: true,
    env: { HOOK_SECRET: 'secret-of-the-webhook-of-the-samples', SOURCE_TOKEN_KEY: 'key-of-source-tokens-of-the-samples' },
    config: { sourceRules: { allowCommands: true }, tenants: { default: { webhooks: [webhook] } } },
  });
  ({ agent } = toolyard);
  curlHome = mkdtempSync(join(tmpdir(), 'toolyard-curl-'));
  writeFileSync(join(curlHome, '.curlrc'), 'write-out = "%{stderr}status %{http_code}"\n');
  hosts = { Python: new SampleHost(HOSTS.Python), TypeScript: new SampleHost(HOSTS.TypeScript) };
});
afterAll(async () => {
  await Promise.all(Object.values(hosts ?? {}).map((host) => host.close()));
  await toolyard?.close();
  rmSync(curlHome, { recursive: true, force: true });
});

/** The id of what a request made. */
async function made(method: string, path: string, body: object): Promise<string> {
  const answer = await agent.request<{ id?: string; workerId?: string }>(method, path, body);
  if (answer.status >= 300) throw new Error(`${method} ${path} was answered with ${answer.status}: ${JSON.stringify(answer.body)}`);
  return answer.body.id ?? answer.body.workerId ?? '';
}

async function waiting(status: string, tool: string, args: object, sessionId: string): Promise<string> {
  const { id } = (await agent.submit(tool, args, { sessionId })).body;
  await eventually(async () => (await agent.get(`/v1/calls/${id}`)).body.status === status, `${tool} to be ${status}`);
  return id;
}

async function mcpSession(): Promise<string> {
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'test', version: '1' } };
  const body = { jsonrpc: '2.0', id: 1, method: 'initialize', params };
  const { headers } = await agent.request('POST', '/mcp', body, { accept: 'application/json, text/event-stream' });
  return headers.get('mcp-session-id') ?? 'none';
}

const registered = (worker: string) =>
  made('POST', '/v1/workers', { op: 'hello', protocol: 'toolyard-worker/1', worker, sdk: 'test/1', tools: [] });

/** Operations that need what they are about in a state of its own, by what their samples name. */
const STATES: Readonly<Record<string, (name: string) => Promise<Readonly<Record<string, string>>>>> = {
  decideApproval: async (name) => {
    await made('PUT', `/v1/sessions/${name}`, { posture: { autonomy: 'supervised' } });
    return { [CALL]: await waiting('waiting_approval', 'shell', { command: 'true' }, name) };
  },
  giveInput: async (name) => ({ [CALL]: await waiting('waiting_input', 'ask_user', { question: 'Which branch?' }, name) }),
  cancelCall: async (name) => ({ [CALL]: await waiting('running', 'shell', { command: 'sleep 600' }, name) }),
  addSource: (name) => Promise.resolve({ tracker: name }),
  createKey: () => Promise.resolve({}),
  registerWorker: (name) => Promise.resolve({ '"deploys"': `"${name}"` }),
  sendWorkerMessages: async (name) => ({ [WORKER]: await registered(name) }),
};

/** Makes what a sample names, and gives the name in its place. */
const MAKERS: readonly (readonly [named: string, make: (name: string) => Promise<string>])[] = [
  [CALL, async (name) => (await agent.run('echo', {}, { sessionId: name })).id],
  [BATCH, () => made('POST', '/v1/batches', { calls: [{ tool: 'echo' }] })],
  [SCHEDULE, () => made('POST', '/v1/schedules', { cron: '0 0 1 1 *', call: { tool: 'echo' } })],
  [KEY, (name) => made('POST', '/v1/keys', { name })],
  [WORKER, registered],
  [MCP_SESSION, mcpSession],
  ['tracker', (name) => made('POST', '/v1/sources', { name, kind: 'mcp', url: 'https://tools.example.com/mcp' }).then(() => name)],
  ['demo', (name) => agent.run('echo', {}, { sessionId: name }).then(() => name)],
];

async function filled(operationId: string, { label, source }: Sample): Promise<string> {
  const name = `${label}-${OPERATIONS.findIndex((it) => it.operationId === operationId)}`.toLowerCase();
  let text = source;
  for (const [from, to] of Object.entries((await STATES[operationId]?.(name)) ?? {})) text = text.replaceAll(from, to);
  if (operationId in STATES) return text;
  for (const [named, make] of MAKERS) if (text.includes(named)) text = text.replaceAll(named, await make(name));
  return text;
}

const environment = () => ({
  PATH: process.env['PATH'],
  CURL_HOME: curlHome,
  PYTHONUNBUFFERED: '1',
  TOOLYARD_URL: agent.url,
  TOOLYARD_API_KEY: TEST_KEY,
});

class SampleHost {
  private readonly child: ChildProcessByStdio<Writable, Readable, null>;
  private readonly lines: AsyncIterator<string>;
  private readonly exited: Promise<unknown>;

  constructor([program, ...words]: readonly [string, ...string[]]) {
    this.child = spawn(program, words, { env: environment(), stdio: ['pipe', 'pipe', 'inherit'] });
    this.lines = createInterface({ input: this.child.stdout })[Symbol.asyncIterator]();
    this.exited = once(this.child, 'exit');
  }

  /** Output of one sample, with its error; one sample at a time. */
  async run(source: string): Promise<string> {
    this.child.stdin.write(`${JSON.stringify(source)}\n`);
    const { value, done } = await this.lines.next();
    if (done === true) throw new Error('the program of the samples ended');
    return JSON.parse(value) as string;
  }

  async close(): Promise<void> {
    this.child.stdin.end();
    await this.exited;
  }
}

interface Shown {
  readonly label: Sample['label'];
  readonly status: number;
  readonly text: string;
}

/** Output of a program about the response. A stream ends with its first bytes. */
async function run(label: Sample['label'], source: string, streams: boolean): Promise<Shown> {
  if (label !== 'curl' && !streams) {
    const text = await hosts[label].run(source);
    return { status: Number((/^(\d{3}) /.exec(text) ?? /HTTP Error (\d+)/.exec(text))?.[1]), text, label };
  }
  const [program = '', ...words] = PROGRAMS[label];
  const child = spawn(program, [...words, source], { env: environment(), stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let [out, err] = ['', ''];
  child.stdout.on('data', (bytes: Buffer) => (out += String(bytes)));
  // The shell and curl.
  if (streams) child.stdout.once('data', () => process.kill(-(child.pid ?? 0)));
  child.stderr.on('data', (bytes: Buffer) => (err += String(bytes)));
  await once(child, 'close');
  if (streams) return { status: /^(?:retry|event|id|data|:)/.test(out) ? 200 : 0, text: out + err, label };
  return { status: Number(/status (\d+)$/.exec(err)?.[1]), text: out + err, label };
}

it.each(OPERATIONS)('runs the samples of $operationId in curl, TypeScript and Python as shown', async (operation) => {
  const [status, reason] = REFUSED[operation.operationId] ?? [];
  const samples = operation['x-codeSamples'] ?? [];
  const streams = samples.some(({ source }) => source.includes('curl -sSN'));
  const shown: Shown[] = [];
  const runSample = async (sample: Sample) =>
    void shown.push(await run(sample.label, await filled(operation.operationId, sample), streams));
  // The first bytes of a stream may be those that keep it alive, after 15 s.
  if (streams) await Promise.all(samples.map(runSample));
  else for (const sample of samples) await runSample(sample);
  for (const it of shown)
    expect({ reason, ...it }).toEqual({ reason, ...it, status: status ?? (String(it.status).startsWith('2') ? it.status : 'success') });
});

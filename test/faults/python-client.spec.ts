import { spawn, spawnSync } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { startTestCluster, TEST_KEY, type TestCluster } from '../support/test-cluster.js';

let toolyard: TestCluster;
let folder: string;

beforeAll(async () => {
  const { error } = spawnSync('python3', ['--version']);
  if (error) throw new Error('This test runs the client in Python: install Python 3.9 or newer as python3 (Debian: apt install python3).');
  toolyard = await startTestCluster({ lists: true, env: { DEFAULT_AUTONOMY: 'supervised', DEFAULT_PERMISSION_MODE: 'workspace-write' } });
  folder = mkdtempSync(join(tmpdir(), 'python-client-'));
  copyFileSync('apps/examples/python/toolyard.py', join(folder, 'toolyard.py'));
});
afterAll(async () => {
  await toolyard.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A program that imports the client, as `toolyard`. It prints lines of JSON. */
function start(program: string, env: Record<string, string> = {}) {
  const code = `import json\nfrom toolyard import Toolyard, ToolyardError, text_of\nsay = lambda *words: print(json.dumps(words), flush=True)\ntoolyard = Toolyard()\n${program}`;
  const url = toolyard.gateways[0]?.url ?? '';
  const child = spawn('python3', ['-c', code], {
    cwd: folder,
    env: { PATH: process.env['PATH'], TOOLYARD_URL: url, TOOLYARD_API_KEY: TEST_KEY, ...env },
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (chunk) => (out += String(chunk)));
  child.stderr.on('data', (chunk) => (err += String(chunk)));
  const said = () =>
    out
      .split('\n')
      .slice(0, -1)
      .map((line): unknown => JSON.parse(line));
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  return {
    said,
    ended: async () => {
      await ended;
      expect(err).toBe('');
      return said();
    },
  };
}

describe('toolyard.py', () => {
  it('lists tools, runs calls and reads their results by toolyard.py', async () => {
    const program = start(`
call = toolyard.run("echo", {"text": "héllo"})
say(call["outcome"], text_of(call))
say([tool["name"] for tool in toolyard.tools("anthropic") if tool["name"] == "echo"])
say(toolyard.get(call["id"])["id"] == call["id"])
say([call["tool"] for call in toolyard.calls(limit=1)["calls"]])
`);
    expect(await program.ended()).toEqual([['completed', '{"text":"héllo"}'], [['echo']], [true], [['echo']]]);
  });

  it.each([
    ['a refused connection', 'http://127.0.0.1:1'],
    ['an unknown host', 'http://no-such-host.invalid:7411'],
  ])('reports at once in toolyard.py that no gateway answers: %s', async (_what, url) => {
    const program = start(
      `
import time
for ask in (toolyard.tools, lambda: toolyard.run("echo"), lambda: next(toolyard.watch())):
    begun = time.monotonic()
    try:
        ask()
    except ToolyardError as error:
        say(error.code, str(error).startswith("No answer from ${url}: "), time.monotonic() - begun < 5)
`,
      { TOOLYARD_URL: url },
    );
    expect(await program.ended()).toEqual(Array.from({ length: 3 }, () => ['unreachable', true, true]));
  });

  it('runs a tool call of a model once by toolyard.py, and gives the model the text of a refused one', async () => {
    const program = start(`
ids = {"session_id": "py", "tool_call_id": "call_1"}
first = toolyard.execute("file_write", '{"path": "a.txt", "content": "1"}', **ids)
say(first == toolyard.execute("file_write", '{"path": "a.txt", "content": "1"}', **ids))
say(toolyard.execute("no_such_tool", "{}", session_id="py"))
say(toolyard.execute("file_write", '{"path": 1}', session_id="py", tool_call_id="call_2"))
`);
    const [once, unknown, invalid] = await program.ended();
    expect(once).toEqual([true]);
    expect(unknown).toEqual([expect.stringContaining('no_such_tool')]);
    expect(invalid).toEqual([expect.stringContaining('path')]);
  });

  it('waits in toolyard.py for a person, who may use it too', async () => {
    const waiting = start('say(toolyard.run("shell", {"command": "touch asked"}, sessionId="py-approval")["outcome"])');
    const person = start(`
import time
while not toolyard.approvals(): time.sleep(0.05)
say(toolyard.decide(toolyard.approvals()[0]["id"], "deny", reason="not today")["status"])
`);
    expect(await person.ended()).toEqual([['ended']]);
    expect(await waiting.ended()).toEqual([['denied']]);
  });

  it('streams each event once by toolyard.py, also when the gateway is killed', async () => {
    const command = 'echo before; until [ -e go ]; do sleep 0.05; done; echo after';
    await start('toolyard.execute("file_write", \'{"path": "here", "content": ""}\', session_id="py-stream")').ended();
    const program = start(`
call = toolyard.submit("shell", {"command": ${JSON.stringify(command)}}, sessionId="py-stream")
if call["status"] == "waiting_approval": toolyard.decide(call["id"], "allow")
for event in toolyard.events(call["id"]):
    text = "".join(part.get("text", "") for part in event["data"].get("content", [])) if event["type"] == "call.update" else ""
    say(event["type"], text)
`);
    await eventually(() => program.said().some((line) => JSON.stringify(line).includes('before')), 'the first output');
    const [gateway] = toolyard.gateways;
    gateway?.signal('SIGKILL');
    await gateway?.ended();
    toolyard.gateways.splice(0);
    const again = await toolyard.gateway({ GATEWAY_PORT: new URL(gateway?.url ?? '').port });
    expect(again.url).toBe(gateway?.url);
    await start('toolyard.execute("file_write", \'{"path": "go", "content": ""}\', session_id="py-stream")').ended();
    const events = (await program.ended()) as [string, string][];
    const types = events.map(([type]) => type);
    for (const type of ['call.submitted', 'call.start', 'call.end']) expect(types.filter((other) => other === type)).toHaveLength(1);
    expect(types.at(-1)).toBe('call.end');
    expect(events.map(([, text]) => text).join('')).toBe('before\nafter\n');
  });

  it('raises one error in toolyard.py with the reason of the gateway', async () => {
    const program = start(`
for attempt in (lambda: Toolyard(key="wrong").tools(), lambda: toolyard.get("nope"), lambda: list(toolyard.events("nope")), lambda: toolyard.calls(limit="x")):
    try: attempt()
    except ToolyardError as error: say(error.code, error.status, str(error))
`);
    expect(await program.ended()).toEqual([
      ['unauthenticated', 401, expect.any(String)],
      ['resource_not_found', 404, expect.any(String)],
      ['resource_not_found', 404, expect.any(String)],
      ['invalid_request', expect.any(Number), expect.stringContaining('limit')],
    ]);
  });

  it('finds address and key of npm start in toolyard.py, and names the settings without them', async () => {
    const data = join(folder, 'data');
    const missing = start('say(0)', { TOOLYARD_URL: '', TOOLYARD_DATA: data });
    await expect(missing.ended()).rejects.toThrow('Set TOOLYARD_URL, or run in the folder of `npm start`');
    spawnSync('mkdir', [data]);
    writeFileSync(join(data, 'address'), `${toolyard.gateways[0]?.url}\n`);
    writeFileSync(join(data, 'key'), `${TEST_KEY}\n`);
    const found = start('say(toolyard.run("echo", {})["outcome"])', { TOOLYARD_URL: '', TOOLYARD_API_KEY: '', TOOLYARD_DATA: data });
    expect(await found.ended()).toEqual([['completed']]);
  });
});

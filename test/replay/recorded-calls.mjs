// Calls that record.mjs has a release store: each stored form once, ended, waiting and running.

const WORK = { sessionId: 'work' };
const CAREFUL = { sessionId: 'careful' };
const LITERAL = { sessionId: 'literal' };

/** Sessions, a key and a schedule. Returns what a reader compares. */
export async function makeSettings(api) {
  await api('PUT', '/v1/sessions/careful', {
    posture: { autonomy: 'supervised', permissionMode: 'workspace-write' },
    allowedTools: ['file_read'],
    strategy: { type: 'tiered' },
  });
  await api('PUT', '/v1/sessions/literal', { posture: { permissionMode: 'prompt' } });
  const key = await api('POST', '/v1/keys', { name: 'of the recording', scopes: ['read'] });
  const schedule = await api('POST', '/v1/schedules', { cron: '0 7 * * 1', call: { tool: 'echo', arguments: { text: 'weekly' } } });
  return { keyId: key.id, scheduleId: schedule.id };
}

/** Name → id of the call. */
export async function makeCalls(api, until) {
  const submit = async (tool, args, more, headers) => (await api('POST', '/v1/calls', { tool, arguments: args, ...more }, headers)).id;
  const ended = async (id) => (await api('GET', `/v1/calls/${id}?wait=30`)).status === 'ended' && id;
  const run = async (...call) => ended(await submit(...call));
  const is = (id, status) => until(async () => ((await api('GET', `/v1/calls/${id}`)).status === status ? id : undefined));
  const decide = (id, body) => api('POST', `/v1/calls/${id}/decision`, body);
  const decided = async (id, body) => {
    await decide(id, body);
    return ended(id);
  };
  /** Trusts the first option: just this call. */
  const trusted = async (id) => {
    const [{ id: trustOption }] = (await api('GET', `/v1/calls/${id}`)).decision.trustOptions;
    return decided(id, { decision: 'allow', scope: 'session-args', trustOption });
  };

  const calls = {
    echo: await run('echo', { n: 1 }),
    shell: await run('shell', { command: 'echo hello; sleep 0.2; echo again' }, WORK),
    failed: await run('shell', { command: 'exit 3' }, WORK),
    large: await run('shell', { command: 'seq 30000' }, WORK),
    written: await run('file_write', { path: 'a.txt', content: 'ä\n' }, WORK),
    missing: await run('file_read', { path: 'none.txt' }, WORK),
    secret: await run('echo', { text: 'ghp_9z8y7x6w5v4u3t2s1r0q9z8y7x6w5v4u3t2s' }, WORK),
    keyed: await run('echo', { n: 2 }, WORK, { 'idempotency-key': 'key-1' }),
    slept: await run('sleep', { duration_ms: 300 }, WORK),
    trusted: await trusted(await submit('shell', { command: 'echo trusted' }, CAREFUL)),
    refused: await decided(await submit('shell', { command: 'echo refused' }, CAREFUL), { decision: 'deny', scope: 'once' }),
    edited: await decided(await submit('shell', { command: 'echo submitted' }, CAREFUL), {
      decision: 'allow',
      scope: 'once',
      arguments: { command: 'echo edited' },
    }),
    literal: await trusted(await submit('file_write', { path: '**', content: 'x' }, LITERAL)),
    waiting: await submit('shell', { command: 'echo waited' }, CAREFUL),
    waitingToo: await submit('shell', { command: 'echo waited too' }, CAREFUL),
    asking: await is(await submit('ask_user', { question: 'Which?', options: ['main', 'next'] }, WORK), 'waiting_input'),
  };
  const cancelled = await is(await submit('shell', { command: 'sleep 600' }, WORK), 'running');
  await api('POST', `/v1/calls/${cancelled}/cancel`, { reason: 'enough' });
  calls.cancelled = await ended(cancelled);
  return calls;
}

/** Fills the workers, so it comes last: calls that run, a batch whose first call does, and calls behind them. */
export async function makeBatches(api, until, calls) {
  const is = (id, status) => until(async () => ((await api('GET', `/v1/calls/${id}`)).status === status ? id : undefined));
  const shell = async (command, more) => (await api('POST', '/v1/calls', { tool: 'shell', arguments: { command }, ...more })).id;
  const batch = async (body) => (await api('POST', '/v1/batches', body)).id;
  const statusOf = async (id) => (await api('GET', `/v1/batches/${id}`)).status;
  const echo = (n) => ({ tool: 'echo', arguments: { n } });

  const done = await batch({ ...WORK, calls: [1, 2, 3].map(echo) });
  await until(async () => ((await statusOf(done)) === 'ended' ? true : undefined));
  calls.running = await is(await shell('echo begun; sleep 600', { sessionId: 'runs' }), 'running');
  calls.running2 = await is(await shell('sleep 600'), 'running');
  const running = await batch({
    sessionId: 'steered',
    strategy: { type: 'sequential' },
    calls: [{ tool: 'shell', arguments: { command: 'sleep 600' } }, ...[1, 2, 3].map(echo)],
  });
  await until(async () => ((await api('GET', `/v1/batches/${running}`)).results[0].status === 'running' ? true : undefined));
  await api('POST', '/v1/sessions/steered/steer', { message: 'please hurry' });
  calls.queued = await shell('echo after the upgrade', { sessionId: 'behind' });
  calls.queuedLow = await shell('echo low', { sessionId: 'behind-too', priority: 'low' });
  return { batch: { id: done, status: 'ended' }, runningBatch: { id: running, status: await statusOf(running) } };
}

import { afterEach, describe, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { cleanUp, echo, freshDirectory, isRunning, read, spawnStandalone, submit } from '../support/standalone.js';

afterEach(cleanUp);

describe('npm start when a process is killed', () => {
  it('restarts a killed Redis under npm start, and loses no call', async () => {
    const app = await spawnStandalone(freshDirectory());
    await app.up();
    const before = await submit(app, echo('before'));
    const redis = app.redisPid();
    process.kill(redis, 'SIGKILL');
    await eventually(() => app.output().includes('restarting it'), 'the message about the restart');
    const after = await eventually(() => submit(app, echo('after')).catch(() => undefined), 'a call after the restart');
    expect(after.outcome).toBe('completed');
    expect(await read(app, before.id)).toEqual(before);
    expect(app.redisPid()).not.toBe(redis);
  });

  it('takes over the directory and ends the Redis of a killed Toolyard', async () => {
    const data = freshDirectory();
    const killed = await spawnStandalone(data);
    await killed.up();
    const call = await submit(killed, echo('kept'));
    const orphan = killed.redisPid();
    killed.signal('SIGKILL');
    await killed.ended();
    expect(isRunning(orphan)).toBe(true);

    const next = await spawnStandalone(data);
    await next.up();
    expect(isRunning(orphan)).toBe(false);
    expect(await read(next, call.id)).toEqual(call);
  });

  it('exits npm start at once at a second Ctrl-C, and Redis ends too', async () => {
    const app = await spawnStandalone(freshDirectory());
    await app.up();
    const redis = app.redisPid();
    const call = await submit(app, { tool: 'shell', arguments: { command: 'sleep 600' } }, 0);
    await eventually(async () => (await read(app, call.id, 0)).status === 'running', 'the call to run');
    const pressed = performance.now();
    app.signal('SIGINT');
    // A stop alone would wait longer for the call.
    await eventually(() => {
      if (performance.now() - pressed > 1_000) app.signal('SIGINT');
      return app.child.exitCode !== null;
    }, 'the second Ctrl-C to end it');
    expect(await app.ended()).toEqual({ code: 130, signal: null });
    await eventually(() => !isRunning(redis), 'Redis to end');
  });
});

import { describe, expect, it } from '@jest/globals';
import { CLOSE_CODES } from '#contracts';
import { Stream } from '../support/agent.js';
import { eventually } from '../support/eventually.js';
import { BOOTSTRAP_KEY, startTestGateway } from '../support/gateway.js';

const TENANT = 'e2e-stream';

/** All else of streams is in test/api/stream.spec.ts. */
describe('a draining gateway', () => {
  it('asks every socket of a draining gateway to reconnect before it closes', async () => {
    const other = await startTestGateway(TENANT);
    const stream = new Stream(other.url, BOOTSTRAP_KEY);
    await stream.opened;
    await stream.frame('ready');
    await other.close();
    expect((await stream.frame('reconnect')).afterMs).toBeGreaterThanOrEqual(0);
    expect((await eventually(() => stream.closed, 'the close')).code).toBe(CLOSE_CODES.goingAway);
  });

  it('disconnects a socket whose client does not answer the close', async () => {
    const other = await startTestGateway(TENANT);
    const stream = new Stream(other.url, BOOTSTRAP_KEY);
    await stream.opened;
    await stream.frame('ready');
    stream.socket.pause();
    await other.close();
    stream.socket.resume();
    await eventually(() => stream.closed, 'the close');
  });

  it('accepts no frame of a draining gateway after it asked to reconnect', async () => {
    const other = await startTestGateway(TENANT);
    const stream = new Stream(other.url, BOOTSTRAP_KEY);
    await stream.opened;
    await stream.frame('ready');
    stream.socket.on('message', (data: Buffer) => {
      if (!data.includes('"op":"reconnect"')) return;
      stream.send({ op: 'ping', id: 'late' });
      stream.send({ op: 'fly', id: 'late' });
    });
    await other.close();
    await eventually(() => stream.closed, 'the close');
    expect(stream.frames.at(-1)?.frame.op).toBe('reconnect');
  });
});

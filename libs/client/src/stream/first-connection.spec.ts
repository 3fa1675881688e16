import { describe, expect, it } from '@jest/globals';
import { ToolyardClient } from '../toolyard-client.js';
import type { SocketConstructor } from './socket.port.js';
import type { StreamState } from './stream-state.js';

const baseUrl = 'http://gateway.test:7411';
const unreachable = { code: 'unreachable', neverAnswered: true, message: expect.stringContaining(baseUrl) };

/** Failure of `fetch` in a browser, without the reason. */
const browserFetch = () => Promise.reject(new TypeError('Failed to fetch'));
/** Failure of `fetch` in Node. */
const nodeFetch = () =>
  Promise.reject(new TypeError('fetch failed', { cause: Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }) }));

/** Sockets that close at once; if `accepts` returns true, after the gateway has accepted the key. */
function sockets(accepts: (opened: number) => boolean = () => false) {
  const counted = { opened: 0 };
  class FakeSocket extends EventTarget {
    private readonly isAccepted = accepts((counted.opened += 1));

    constructor() {
      super();
      setTimeout(() => {
        if (this.isAccepted) this.dispatchEvent(Object.assign(new Event('message'), { data: '{"op":"ready","tenantId":"t"}' }));
        this.dispatchEvent(Object.assign(new Event('close'), { code: 1006, reason: '' }));
      });
    }

    send(): void {}

    close(): void {}
  }
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its events have what the port names
  return { WebSocket: FakeSocket as unknown as SocketConstructor, counted };
}

describe('a watch where nothing has ever answered', () => {
  it('rejects a first watch in browsers after the retries, over WebSocket', async () => {
    const { WebSocket, counted } = sockets();
    const client = new ToolyardClient({ baseUrl, apiKey: 'any', fetch: browserFetch, WebSocket, retries: 2 });
    await expect(client.watch().next()).rejects.toMatchObject(unreachable);
    expect(counted.opened).toBe(3);
    await expect(client.watch().next()).rejects.toMatchObject(unreachable);
    expect(counted.opened).toBe(6);
  });

  it('rejects a first watch in browsers after the retries, over server-sent events', async () => {
    let requests = 0;
    const fetch = () => browserFetch().finally(() => (requests += 1));
    const client = new ToolyardClient({ baseUrl, apiKey: 'any', fetch, WebSocket: false, retries: 2 });
    await expect(client.watch().next()).rejects.toMatchObject(unreachable);
    expect(requests).toBe(3);
  });
});

describe.each([
  ['a browser', browserFetch],
  ['Node', nodeFetch],
])('a watch in %s whose socket was open before', (_where, fetch) => {
  it('survives more failures than `retries` in a watch that was open before', async () => {
    const { WebSocket } = sockets((opened) => opened === 1 || opened === 4);
    const client = new ToolyardClient({ baseUrl, apiKey: 'any', fetch, WebSocket, retries: 0 });
    const attempts: number[] = [];
    await new Promise<void>((resolve, reject) => {
      const onState = (state: StreamState) => {
        if (state.state === 'reconnecting') attempts.push(state.attempt);
        if (attempts.length === 4) resolve();
      };
      client.watch({}, { onState }).next().catch(reject);
    });
    expect(attempts).toEqual([1, 2, 3, 1]);
    client.close();
  });
});

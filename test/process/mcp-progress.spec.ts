import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { httpMcpServer, usualAnswer, type HttpMcpMessage, type HttpMcpServer } from '../../libs/sources/src/testing/http-mcp-server.js';
import { startBridge, type Bridge } from '../support/mcp-bridge.js';
import { BOOTSTRAP_KEY } from '../support/gateway.js';
import { connectMcp, REVISIONS } from '../support/mcp-clients.js';

interface Asked {
  readonly params: { readonly _meta: { readonly progressToken: unknown } };
}
interface Step {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}
const STEPS: readonly Step[] = [1, 2, 3].map((progress) => ({ progress, total: 3, message: `step ${progress}` }));

describe('progress of a bridged MCP call', () => {
  let server: HttpMcpServer;
  let bridge: Bridge;
  beforeAll(async () => {
    server = await httpMcpServer((message, _request, response) => {
      if (message?.method !== 'tools/call') return false;
      const { progressToken } = (message as HttpMcpMessage & Asked).params._meta;
      const notes = STEPS.map((step) => ({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken, ...step } }));
      const events = [...notes.map((it) => JSON.stringify(it)), usualAnswer(message)].map((data) => `data: ${data}\n\n`);
      response.setHeader('content-type', 'text/event-stream').end(events.join(''));
      return true;
    });
    bridge = await startBridge([{ name: 'steps', kind: 'mcp', url: server.url, trust: true }], {
      defaultPosture: { autonomy: 'full', permissionMode: 'danger-full-access' },
    });
  });
  afterAll(async () => {
    await bridge?.close();
    server?.close();
  });

  it.each(REVISIONS)(
    'reports all progress of a bridged MCP call before its answer, also if both arrive together: revision %s',
    async (revision) => {
      const client = await connectMcp(revision, { key: BOOTSTRAP_KEY, urls: [bridge.gateway.url] });
      for (let n = 0; n < 10; n += 1) {
        const steps: Step[] = [];
        const { content } = await client.call('steps__t', {}, { onprogress: (step) => steps.push(step) });
        expect(content).toEqual([{ type: 'text', text: expect.stringContaining('done') }]);
        expect(steps).toEqual(STEPS);
      }
      await client.close();
    },
  );
});

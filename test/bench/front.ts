import { Pool } from 'undici';
import { cpuOf, endProcess, forkReady } from './processes.js';
import { freePort, KEY, type ToolyardUnderTest } from './toolyard.contender.js';

const BODY = JSON.stringify({ tool: 'echo', arguments: { text: 'x'.repeat(100) } });
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

export interface FrontFigures {
  readonly bareMicros: number;
  readonly frontMicros: number;
  readonly factor: number;
}

/**
 * CPU µs a request of the gateway's process for `POST /v1/calls:quote` (authentication, validation, policy and one look
 * at the queue), against a bare Fastify that echoes the same body.
 */
export async function measureFront(toolyard: ToolyardUnderTest, requests: number): Promise<FrontFigures> {
  const port = await freePort();
  const bare = await forkReady('./bare-fastify.js', [String(port)]);
  const gatewayPid = toolyard.processes['gateway'] ?? 0;
  const bareUrl = `http://127.0.0.1:${port}`;
  const warmUp = Math.ceil(requests / 3);
  await post(bareUrl, '/echo', warmUp);
  await post(toolyard.gatewayUrl, '/v1/calls:quote', warmUp);
  const bareMicros = await cpuOfRequests(bare.pid ?? 0, () => post(bareUrl, '/echo', requests), requests);
  const frontMicros = await cpuOfRequests(gatewayPid, () => post(toolyard.gatewayUrl, '/v1/calls:quote', requests), requests);
  await endProcess(bare);
  return { bareMicros, frontMicros, factor: frontMicros / bareMicros };
}

async function cpuOfRequests(pid: number, run: () => Promise<void>, requests: number): Promise<number> {
  const before = cpuOf(pid);
  await run();
  return (cpuOf(pid) - before) / requests;
}

/** 64 at a time over 16 kept connections. */
async function post(url: string, path: string, requests: number): Promise<void> {
  const pool = new Pool(url, { connections: 16, pipelining: 4 });
  let next = 0;
  const lane = async () => {
    while (next++ < requests) {
      const { statusCode, body } = await pool.request({ path, method: 'POST', headers: HEADERS, body: BODY });
      const text = await body.text();
      if (statusCode !== 200) throw new Error(`POST ${path} answered ${statusCode}: ${text.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: 64 }, lane));
  await pool.close();
}

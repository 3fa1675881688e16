import { Pool } from 'undici';
import { median } from './load.js';
import { cpuOf, endProcess, forkReady } from './processes.js';
import { freePort, KEY, type ToolyardUnderTest } from './toolyard.contender.js';

const BODY = JSON.stringify({ tool: 'echo', arguments: { text: 'x'.repeat(100) } });
const HEADERS = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };

export interface FrontFigures {
  readonly bareMicros: number;
  readonly frontMicros: number;
  readonly factor: number;
}

/** Requests until neither server gets faster any more. */
const WARM_UP = 12_000;
/** Short enough for both to meet the same machine, long enough for the clock of /proc. */
const REQUESTS_A_ROUND = 1_000;

/**
 * CPU µs a request of the gateway's process for `POST /v1/calls:quote` (authentication, validation, policy and one look
 * at the queue), against a bare Fastify that echoes the same body. The two take turns; what counts is the median of the
 * rounds' ratios. The client never sleeps meanwhile: to wake it would cost either server as much again as it does itself,
 * and which of them pays that how often is luck.
 */
export async function measureFront(toolyard: ToolyardUnderTest, requests: number): Promise<FrontFigures> {
  const port = await freePort();
  const process = await forkReady('./bare-fastify.js', [String(port)]);
  const bare = served(process.pid ?? 0, `http://127.0.0.1:${port}`, '/echo');
  const front = served(toolyard.processes['gateway'] ?? 0, toolyard.gatewayUrl, '/v1/calls:quote');
  for (const server of [bare, front]) await server.post(WARM_UP);

  const rounds: { bare: number; front: number }[] = [];
  const awake = stayAwake();
  for (let round = 0; round < requests / REQUESTS_A_ROUND; round++) {
    const first = round % 2 === 0 ? bare : front;
    const one = await first.microsOf(REQUESTS_A_ROUND);
    const other = await (first === bare ? front : bare).microsOf(REQUESTS_A_ROUND);
    rounds.push(first === bare ? { bare: one, front: other } : { bare: other, front: one });
  }
  awake.end();
  await Promise.all([bare.close(), front.close()]);
  await endProcess(process);
  return {
    bareMicros: median(rounds.map((round) => round.bare)),
    frontMicros: median(rounds.map((round) => round.front)),
    factor: median(rounds.map((round) => round.front / round.bare)),
  };
}

interface Served {
  post(requests: number): Promise<void>;
  /** CPU µs of the server for each of so many requests. */
  microsOf(requests: number): Promise<number>;
  close(): Promise<void>;
}

/** 64 requests at a time over 16 kept connections. */
function served(pid: number, url: string, path: string): Served {
  const pool = new Pool(url, { connections: 16, pipelining: 4 });
  const post = async (requests: number) => {
    let next = 0;
    const client = async () => {
      while (next++ < requests) {
        const { statusCode, body } = await pool.request({ path, method: 'POST', headers: HEADERS, body: BODY });
        const text = await body.text();
        if (statusCode !== 200) throw new Error(`POST ${path} answered ${statusCode}: ${text.slice(0, 300)}`);
      }
    };
    await Promise.all(Array.from({ length: 64 }, client));
  };
  return {
    post,
    microsOf: async (requests) => {
      const before = cpuOf(pid);
      await post(requests);
      return (cpuOf(pid) - before) / requests;
    },
    close: () => pool.close(),
  };
}

/** Keeps this process's event loop from waiting. */
function stayAwake(): { end(): void } {
  let ended = false;
  const turn = () => {
    if (!ended) setImmediate(turn);
  };
  turn();
  return { end: () => void (ended = true) };
}

import { once } from 'node:events';
import { EventLog, type EventOrigin } from '#event-log';
import { aSubmission } from '../support/sample-calls.js';
import { residentOf } from './processes.js';
import { openSocket, type ToolyardUnderTest } from './toolyard.contender.js';

export interface UpdateFigures {
  readonly seconds: number;
  /** Memory growth of the gateway during sending. */
  readonly grownMiB: number;
  /** Updates that a slow socket was spared, over all sockets. */
  readonly spared: number;
}

const AUTHOR: EventOrigin = { source: '/bench', actor: 'worker:bench' };
const DEADLINE_MS = 120_000;

/**
 * Many updates of one call to many sockets. Workers merge updates to a few a second, so the log is fed directly; the
 * time is from the first append until the last socket has seen the last update.
 */
export async function measureUpdates(toolyard: ToolyardUnderTest, updates: number, sockets: number): Promise<UpdateFigures> {
  const log = await EventLog.open(toolyard.redisUrl, { partitions: 16 });
  const { callId, fence } = await runningCall(log);
  const gatewayPid = toolyard.processes['gateway'] ?? 0;
  const readers = await Promise.all(Array.from({ length: sockets }, () => openReader(toolyard.gatewayUrl, callId, updates)));
  const before = residentOf(gatewayPid);
  let most = before;
  const watching = setInterval(() => (most = Math.max(most, residentOf(gatewayPid))), 20);

  const begin = performance.now();
  const appended = append(log, callId, fence, updates);
  await Promise.race([Promise.all(readers.map((reader) => reader.sawLast)), deadline()]);
  const seconds = (performance.now() - begin) / 1000;
  await appended;
  clearInterval(watching);
  for (const { socket } of readers) socket.terminate();
  await log.close();
  return {
    seconds,
    grownMiB: Math.max(most, residentOf(gatewayPid)) - before,
    spared: readers.reduce((sum, reader) => sum + reader.spared(), 0),
  };
}

async function runningCall(log: EventLog): Promise<{ callId: string; fence: number }> {
  const callId = log.newCallId('default');
  await log.accept({ callId, meta: { tenantId: 'default', tool: 'echo' }, submitted: aSubmission({ priority: 'low' }), author: AUTHOR });
  const claimed = await log.claim({ callId, attempt: 1, leaseMs: 600_000, worker: 'bench', author: AUTHOR });
  if (!('fence' in claimed) || !('attempt' in claimed)) throw new Error(`The bench could not claim its call: ${claimed.code}.`);
  return { callId, fence: claimed.fence };
}

async function append(log: EventLog, callId: string, fence: number, updates: number): Promise<void> {
  for (let done = 0; done < updates; done += 500) {
    await Promise.all(
      Array.from({ length: Math.min(500, updates - done) }, (_unused, i) => {
        const update = done + i + 1;
        const text = `${update === updates ? 'last' : 'line'} ${update} of the output of a long build`;
        return log.update({
          callId,
          guard: { by: 'worker', fence, writeSeq: update },
          data: { update, content: [{ type: 'text', text }] },
          author: AUTHOR,
        });
      }),
    );
  }
}

/** Looks at bytes only: a hundred readers that parse would be the bottleneck themselves. */
async function openReader(gatewayUrl: string, callId: string, updates: number) {
  const socket = openSocket(gatewayUrl);
  const last = Buffer.from(`last ${updates} of`);
  const gap = Buffer.from('"op":"gap"');
  let spared = 0;
  await once(socket, 'open');
  socket.send(JSON.stringify({ op: 'subscribe', id: 1, filter: { callId }, batch: true }));
  const sawLast = new Promise<void>((resolve) => {
    socket.on('message', (data: Buffer) => {
      if (data.includes(gap)) spared += Number(/"n":(\d+)/.exec(String(data))?.[1] ?? 0);
      if (data.includes(last)) resolve();
    });
  });
  await once(socket, 'message');
  return { socket, sawLast, spared: () => spared };
}

function deadline(): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`The updates did not reach all sockets within ${DEADLINE_MS} ms.`)), DEADLINE_MS).unref();
  });
}

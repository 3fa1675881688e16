import { WORKER_PATH, WORKER_SUBPROTOCOL, WorkerServerFrame, type WorkerFrame } from '#contracts';
import type { Socket } from '../stream/socket.port.js';
import { refusalOf, type OpenWorkerLink, type WorkerSocketConstructor } from './worker-link.port.js';

/** Frames over one WebSocket. */
export function openSocketLink(baseUrl: string, apiKey: string, WebSocket: WorkerSocketConstructor): OpenWorkerLink {
  return (hello, events, signal) =>
    new Promise((resolve, reject) => {
      const url = `${baseUrl.replace(/^http/, 'ws')}${WORKER_PATH}`;
      const socket = new WebSocket(url, [WORKER_SUBPROTOCOL], { headers: { authorization: `Bearer ${apiKey}` } });
      const send = (frame: WorkerFrame) => trySend(socket, frame);
      const abort = () => socket.close();
      signal.addEventListener('abort', abort, { once: true });
      let isWelcome = false;
      let problem = 'the connection could not be opened';
      socket.addEventListener('open', () => send(hello));
      socket.addEventListener('message', ({ data }) => {
        const frame = readServerFrame(data);
        if (frame === undefined) return;
        if (isWelcome) return frame.op === 'ping' ? send({ op: 'pong' }) : events.frame(frame);
        if (frame.op === 'welcome') {
          isWelcome = true;
          signal.removeEventListener('abort', abort);
          resolve({ welcome: frame, send, flush: async () => {}, close: () => socket.close() });
        } else if (frame.op === 'refused') reject(refusalOf(frame.problem));
      });
      socket.addEventListener('error', (...event: unknown[]) => (problem = textOf(event[0]) ?? problem));
      socket.addEventListener('close', ({ code, reason }) => {
        signal.removeEventListener('abort', abort);
        const why = `${code} ${reason === '' ? problem : reason}`;
        if (isWelcome) events.closed(why);
        else reject(new Error(why));
      });
    });
}

/** Undefined for frames of a newer gateway. */
function readServerFrame(data: unknown): WorkerServerFrame | undefined {
  const text = typeof data === 'string' ? data : String(data);
  try {
    return WorkerServerFrame.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
}

/** Sends a frame. A closing socket drops it; it is repeated on the next one. */
function trySend(socket: Socket, frame: WorkerFrame): void {
  try {
    socket.send(JSON.stringify(frame));
  } catch {
    // Closing socket.
  }
}

function textOf(event: unknown): string | undefined {
  if (typeof event !== 'object' || event === null || !('message' in event)) return undefined;
  return typeof event.message === 'string' ? event.message : undefined;
}

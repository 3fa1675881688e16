import { ProblemError, WORKER_LIMITS, WorkerFrame } from '#contracts';
import { parse } from '../../platform/http/parse.js';
import { parseJsonBody } from '../../platform/http/json-body.js';

/** @throws ProblemError for anything but a frame of a worker */
export function readWorkerFrame(data: Buffer | ArrayBuffer | Buffer[], isBinary: boolean): WorkerFrame {
  if (isBinary) throw new ProblemError('invalid_request', 'Expected a text frame with JSON; got a binary one');
  const bytes = Array.isArray(data) ? Buffer.concat(data) : Buffer.from(data instanceof ArrayBuffer ? new Uint8Array(data) : data);
  if (bytes.length > WORKER_LIMITS.frameBytes)
    throw new ProblemError('payload_too_large', `Expected a frame of at most ${WORKER_LIMITS.frameBytes} bytes; got ${bytes.length}`);
  return parse(WorkerFrame, parseJsonBody(bytes.toString('utf8')), 'frame');
}

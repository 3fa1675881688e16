import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { ProblemError } from '#contracts';
import { closeLingering } from './lingering-close.js';

/** Answers input that is not valid HTTP, and so never becomes a request, with a problem. */
export function handleClientError(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const [line, detail] = answerTo(error.code);
  writeRawHttpError(socket, line, detail);
}

/** Writes a problem on a connection without a request, and closes it. Only the first problem of a connection is sent. */
export function writeRawHttpError(
  socket: Duplex,
  line: string,
  detail: string,
  code: 'invalid_request' | 'overloaded' = 'invalid_request',
): void {
  const body = JSON.stringify({ ...new ProblemError(code, detail).toProblem(), status: Number(line.slice(0, 3)) });
  closeLingering(
    socket,
    `HTTP/1.1 ${line}\r\nContent-Type: application/problem+json; charset=utf-8\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${body}`,
  );
}

function answerTo(code: string | undefined): [line: string, detail: string] {
  switch (code) {
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return ['408 Request Timeout', 'The request did not arrive within 60 s'];
    case 'HPE_HEADER_OVERFLOW':
      return ['431 Request Header Fields Too Large', 'The headers are too large: expected at most 16 KiB'];
    default:
      return ['400 Bad Request', 'The request cannot be read as HTTP/1.1'];
  }
}

import { isJSONRPCErrorResponse, isJSONRPCNotification, isJSONRPCResultResponse, type JSONRPCMessage } from '@modelcontextprotocol/client';

/** Long enough for a client to have read one message before the next one comes. */
const APART_MS = 20;

/**
 * Writes messages, an answer some time after the last progress: clients made with the SDK forget whose progress it is as
 * soon as they read the answer, and lose all progress that comes in one piece with it.
 */
export class SpacedAnswers {
  private progressAt = -Infinity;

  constructor(private readonly write: (message: JSONRPCMessage) => void) {}

  send(message: JSONRPCMessage): void {
    const now = performance.now();
    if (isJSONRPCNotification(message) && message.method === 'notifications/progress') this.progressAt = now;
    const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
    const waitMs = isAnswer ? this.progressAt + APART_MS - now : 0;
    if (waitMs <= 0) this.write(message);
    else setTimeout(() => this.write(message), waitMs);
  }
}

import { isJSONRPCErrorResponse, isJSONRPCNotification, isJSONRPCResultResponse, type JSONRPCMessage } from '@modelcontextprotocol/client';

/** Long enough for a client to have read one message before the next one comes. */
const APART_MS = 20;

/**
 * Writes messages, with a pause between progress and an answer: clients of the SDK drop the progress that arrives in one piece
 * with the answer.
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

import {
  isJSONRPCRequest,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type StreamableHTTPClientTransportOptions,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import type { AnswerReader } from './answers/answer-reader.js';
import { isSessionLost } from './lost-session.js';

/** Streamable HTTP, on which each request is answered: one whose stream ends, and cannot be resumed, by an error. */
export class HttpTransport extends StreamableHTTPClientTransport {
  /** Called for each request that a lost session refused. */
  onsessiongone: () => void = () => {};

  constructor(
    url: URL,
    options: StreamableHTTPClientTransportOptions,
    private readonly answers: AnswerReader,
  ) {
    super(url, options);
  }

  override async send(message: JSONRPCMessage, options?: TransportSendOptions): Promise<void> {
    try {
      const { onRequestStreamEnd = () => this.streamEnded(message), ...others } = options ?? {};
      await super.send(message, { ...others, onRequestStreamEnd });
    } catch (error) {
      if (isSessionLost(error)) this.onsessiongone();
      throw error;
    }
  }

  private streamEnded(message: JSONRPCMessage): void {
    if (!isJSONRPCRequest(message) || !this.answers.isWaiting(message.id)) return;
    this.onmessage?.(this.answers.unreadable(message.id, 'its event stream ended without it'));
  }
}

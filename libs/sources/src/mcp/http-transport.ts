import {
  isJSONRPCRequest,
  SdkHttpError,
  StreamableHTTPClientTransport,
  type JSONRPCMessage,
  type StreamableHTTPClientTransportOptions,
  type TransportSendOptions,
} from '@modelcontextprotocol/client';
import type { AnswerReader } from './answers/answer-reader.js';

const OF_SESSION = /session|not (?:been )?initiali[sz]ed/i;

/** The server does not know the session any more: it ended it, or was started again. Nothing was begun. */
export function isSessionGone(error: unknown): boolean {
  if (!(error instanceof SdkHttpError)) return false;
  return error.status === 404 || error.status === 410 || (error.status === 400 && OF_SESSION.test(error.message));
}

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
      if (isSessionGone(error)) this.onsessiongone();
      throw error;
    }
  }

  private streamEnded(message: JSONRPCMessage): void {
    if (!isJSONRPCRequest(message) || !this.answers.isWaiting(message.id)) return;
    this.onmessage?.(this.answers.unreadable(message.id, 'its event stream ended without it'));
  }
}

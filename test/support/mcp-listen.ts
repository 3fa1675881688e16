const REVISION = '2026-07-28';

export interface ListenOptions {
  readonly url: string;
  readonly key: string;
  readonly notifications: object;
  readonly capabilities: object;
}

/** A `subscriptions/listen` of the id `listening`, message by message. */
export async function mcpListen({ url, key, notifications, capabilities }: ListenOptions) {
  const _meta = { 'io.modelcontextprotocol/protocolVersion': REVISION, 'io.modelcontextprotocol/clientCapabilities': capabilities };
  const response = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${key}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': REVISION,
      'mcp-method': 'subscriptions/listen',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'listening', method: 'subscriptions/listen', params: { notifications, _meta } }),
  });
  const messages = response.body === null ? undefined : sseMessages(response.body);
  return {
    status: response.status,
    headers: response.headers,
    next: async () => (await messages?.next())?.value,
    close: async () => void (await messages?.return(undefined)),
  };
}

/** The data of each event of a stream, as JSON. */
async function* sseMessages(body: ReadableStream<Uint8Array>): AsyncGenerator<Record<string, unknown>> {
  let text = '';
  for await (const piece of body.pipeThrough(new TextDecoderStream())) {
    const frames = `${text}${piece}`.split('\n\n');
    text = frames.pop() ?? '';
    for (const frame of frames) {
      const data = /^data: (.*)$/m.exec(frame)?.[1];
      if (data !== undefined) yield JSON.parse(data) as Record<string, unknown>;
    }
  }
}

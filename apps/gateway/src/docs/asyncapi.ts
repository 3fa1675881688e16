import { z } from 'zod';
import { ClientFrame, CLOSE_CODES, LIMITS, ServerFrame } from '#contracts';

/** The AsyncAPI 3.0 document of `GET /v1/stream`; frames and events come from the zod schemas of the contracts. */
export function asyncApiDocument(version: string): Record<string, unknown> {
  const client = framesOf(ClientFrame, 'input');
  const server = framesOf(ServerFrame, 'output');
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Toolyard stream',
      version,
      description: `One WebSocket for submitting calls and watching events. A frame has at most ${LIMITS.frameBytes} bytes, one that submits a call ${LIMITS.submitFrameBytes}. Close codes: ${JSON.stringify(CLOSE_CODES)}.`,
      license: { name: 'Apache-2.0' },
    },
    defaultContentType: 'application/json',
    channels: {
      stream: {
        address: '/v1/stream',
        title: 'Calls and events',
        messages: { ...messageRefs(client), ...messageRefs(server) },
      },
    },
    operations: {
      receiveFrames: operation('receive', 'Frames a client sends', client),
      sendFrames: operation('send', 'Frames the server sends', server),
    },
    components: {
      messages: { ...messages(client), ...messages(server) },
      schemas: { ...client.definitions, ...server.definitions },
    },
  };
}

interface Frames {
  readonly byName: ReadonlyMap<string, unknown>;
  readonly definitions: Record<string, unknown>;
}

/** Takes the union apart: one message for each `op`, shared definitions once. */
function framesOf(union: typeof ClientFrame | typeof ServerFrame, io: 'input' | 'output'): Frames {
  const side = io === 'input' ? 'client' : 'server';
  const definitions: Record<string, unknown> = {};
  const byName = new Map<string, unknown>();
  for (const frame of union.options) {
    const schema = z.toJSONSchema(frame, { io, target: 'draft-7' });
    const { definitions: named = {}, $schema: _dialect, ...payload } = withRefsInto(`${side}.`, schema);
    byName.set(`${side}.${frame.shape.op.value}`, payload);
    for (const [name, definition] of Object.entries(named)) definitions[`${side}.${name}`] = definition;
  }
  return { byName, definitions };
}

/** The same schema with its references pointing at the components of the document. */
function withRefsInto(prefix: string, schema: object): { definitions?: Record<string, unknown>; $schema?: string } {
  const text = JSON.stringify(schema).replaceAll('"#/definitions/', `"#/components/schemas/${prefix}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a schema stays one
  return JSON.parse(text) as { definitions?: Record<string, unknown>; $schema?: string };
}

function messages(frames: Frames): Record<string, unknown> {
  return Object.fromEntries([...frames.byName].map(([name, payload]) => [name, { name, payload }]));
}

function messageRefs(frames: Frames): Record<string, unknown> {
  return Object.fromEntries([...frames.byName.keys()].map((name) => [name, { $ref: `#/components/messages/${name}` }]));
}

function operation(action: 'receive' | 'send', title: string, frames: Frames): Record<string, unknown> {
  return {
    action,
    title,
    channel: { $ref: '#/channels/stream' },
    messages: [...frames.byName.keys()].map((name) => ({ $ref: `#/channels/stream/messages/${name}` })),
  };
}

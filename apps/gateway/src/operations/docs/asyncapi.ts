import { z } from 'zod';
import {
  ClientFrame,
  CLOSE_CODES,
  LIMITS,
  ServerFrame,
  WORKER_LIMITS,
  WORKER_PATH,
  WORKER_SUBPROTOCOL,
  WorkerFrame,
  WorkerServerFrame,
} from '#contracts';
import { FRAME_EXAMPLES } from './examples/frames.js';

/** The AsyncAPI 3.0 document of `GET /v1/stream` and `GET /v1/worker`; frames and events come from the zod schemas of the contracts. */
export function asyncApiDocument(version: string): Record<string, unknown> {
  const client = framesOf(ClientFrame, 'input');
  const server = framesOf(ServerFrame, 'output');
  const worker = framesOf(WorkerFrame, 'input', 'worker');
  const toWorker = framesOf(WorkerServerFrame, 'output', 'toWorker');
  return {
    asyncapi: '3.0.0',
    info: {
      title: 'Toolyard stream',
      version,
      description: START_TEXT,
      license: { name: 'Apache-2.0', url: 'https://www.apache.org/licenses/LICENSE-2.0' },
      tags: [
        { name: 'calls', description: 'Submitting calls and watching events.' },
        { name: 'workers', description: 'Workers in any language, which run tools.' },
      ],
    },
    defaultContentType: 'application/json',
    servers: {
      local: { host: '127.0.0.1:7411', protocol: 'ws', description: 'What `npm start` starts.', security: SECURITY },
      gateway: {
        host: '{host}',
        protocol: 'wss',
        description: 'A gateway behind TLS.',
        variables: { host: { description: 'Its name, with the port when it is not 443.', default: 'toolyard.example.com' } },
        security: SECURITY,
      },
    },
    channels: {
      stream: {
        address: '/v1/stream',
        title: 'Calls and events',
        messages: { ...messageRefs(client), ...messageRefs(server) },
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
      },
      worker: {
        address: WORKER_PATH,
        title: 'Workers in any language',
        description: `Subprotocol \`${WORKER_SUBPROTOCOL}\`, scope \`work\`. A frame has at most ${WORKER_LIMITS.frameBytes} bytes.`,
        messages: { ...messageRefs(worker), ...messageRefs(toWorker) },
        bindings: { ws: { method: 'GET', bindingVersion: '0.1.0' } },
      },
    },
    operations: {
      receiveFrames: operation('receive', 'Frames a client sends', 'Requests: each is answered under its `id`.', client),
      sendFrames: operation('send', 'Frames the server sends', 'Answers, and the events of subscriptions as they happen.', server),
      receiveWorkerFrames: operation('receive', 'Frames a worker sends', 'Its tools, and what its calls do and return.', worker, 'worker'),
      sendWorkerFrames: operation('send', 'Frames a worker gets', 'Calls to run, and what becomes of them meanwhile.', toWorker, 'worker'),
    },
    components: {
      messages: { ...messages(client), ...messages(server), ...messages(worker), ...messages(toWorker) },
      schemas: { ...client.definitions, ...server.definitions, ...worker.definitions, ...toWorker.definitions },
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An API key, with the upgrade or in the frame `auth`. Each frame names the scope that it needs.',
        },
      },
    },
  };
}

const SECURITY = [{ $ref: '#/components/securitySchemes/apiKey' }];

const START_TEXT = `One WebSocket for submitting calls and watching events; the HTTP API is described by \`/openapi.json\`.

A client authenticates with the header \`Authorization: Bearer <key>\` of the upgrade, or with the frame \`auth\` within 10 seconds. It gives each frame an \`id\`, under which the answers come. A refused frame is answered with \`error\` and a problem (RFC 9457).

A frame is text with JSON, at most ${LIMITS.frameBytes} bytes, or ${LIMITS.submitFrameBytes} for one that submits a call. A socket has at most ${LIMITS.filtersPerSocket} subscriptions.

Close codes: ${Object.entries(CLOSE_CODES)
  .map(([why, code]) => `${code} ${words(why)}`)
  .join(', ')}.`;

/** Name in words: `slowConsumer` → `slow consumer`. */
function words(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
}

interface Frames {
  readonly byName: ReadonlyMap<string, { readonly description?: string }>;
  readonly summaries: ReadonlyMap<string, string | undefined>;
  readonly definitions: Record<string, unknown>;
}

/** Splits the union into one message for each `op`, with shared definitions once. */
function framesOf(
  union: typeof ClientFrame | typeof ServerFrame | typeof WorkerFrame | typeof WorkerServerFrame,
  io: 'input' | 'output',
  side = io === 'input' ? 'client' : 'server',
): Frames {
  const definitions: Record<string, unknown> = {};
  const byName = new Map<string, { description?: string }>();
  /** Descriptions of frames: a frame with an id of its own becomes a reference, which has no description beside it. */
  const summaries = new Map<string, string | undefined>();
  for (const frame of union.options) {
    const schema = z.toJSONSchema(frame, { io, target: 'draft-7' });
    const { definitions: named = {}, $schema: _dialect, ...payload } = withRefsInto(`${side}.`, schema);
    summaries.set(`${side}.${frame.shape.op.value}`, frame.description);
    byName.set(`${side}.${frame.shape.op.value}`, payload);
    for (const [name, definition] of Object.entries(named)) definitions[`${side}.${name}`] = definition;
  }
  return { byName, summaries, definitions };
}

interface ReferringSchema {
  definitions?: Record<string, unknown>;
  $schema?: string;
  description?: string;
}

/** Schema with references to the components of the document. */
function withRefsInto(prefix: string, schema: object): ReferringSchema {
  const text = JSON.stringify(schema).replaceAll('"#/definitions/', `"#/components/schemas/${prefix}`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a schema stays one
  return JSON.parse(text) as ReferringSchema;
}

function messages(frames: Frames): Record<string, unknown> {
  return Object.fromEntries(
    [...frames.byName].map(([name, payload]) => {
      const examples = FRAME_EXAMPLES.get(name)?.map((example) => ({ payload: example }));
      return [name, { name, summary: frames.summaries.get(name), payload, ...(examples && { examples }) }];
    }),
  );
}

function messageRefs(frames: Frames): Record<string, unknown> {
  return Object.fromEntries([...frames.byName.keys()].map((name) => [name, { $ref: `#/components/messages/${name}` }]));
}

function operation(
  action: 'receive' | 'send',
  title: string,
  description: string,
  frames: Frames,
  channel = 'stream',
): Record<string, unknown> {
  return {
    action,
    title,
    description,
    channel: { $ref: `#/channels/${channel}` },
    messages: [...frames.byName.keys()].map((name) => ({ $ref: `#/channels/${channel}/messages/${name}` })),
  };
}

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Call, Source } from '#contracts';
import { useTenant, type Tenant } from './installation/use-tenant.js';

export interface Seen {
  readonly method: string;
  readonly url: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
  /** Bytes, as Latin-1. */
  readonly body: unknown;
}

/** Operation at a path, which may have its method before it, arguments as JSON text, and what the API gets of them. */
export type RequestRow = readonly [what: string, path: string, operation: object, args: string, expected: Partial<Seen>];

export interface Reply {
  readonly status?: number;
  readonly type?: string;
  readonly body?: string | Buffer;
}

export const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
export const bodyOf = (schema: object, type = 'application/json', more: object = {}) => ({
  requestBody: { required: true, content: { [type]: { schema, ...more } } },
});
export const LIST = { type: 'array', items: { type: 'string' } };
export const OBJECT = { type: 'object', properties: { a: { type: 'string' }, b: { type: 'string' } } };

const PARAMETERS = [
  { name: 'id', in: 'path', required: true, schema: {} },
  { name: 'q', in: 'query', required: true, schema: { type: 'string' } },
];
const COMPONENTS = {
  parameters: { Page: { name: 'page', in: 'query', schema: { type: 'integer' } } },
  requestBodies: { Pet: bodyOf(ref('Cat')).requestBody },
  schemas: {
    Name: { type: 'string' },
    Cat: { type: 'object', required: ['petType'], properties: { petType: { type: 'string' }, name: { type: 'string' } } },
    Dog: { type: 'object', required: ['petType'], properties: { petType: { type: 'string' }, bark: { type: 'string' } } },
    Tree: { type: 'object', properties: { children: { type: 'array', items: ref('Tree') } } },
  },
};

/** An API with a document for each row, all offered to one tenant. */
export class OddApi {
  /** Requests since the last call. */
  readonly seen: Seen[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), 'toolyard-documents-'));
  private tenant: Tenant | undefined;
  private readonly server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', url = '', headers } = request;
      this.seen.push({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') });
      const reply = this.replies[Number(/^\/answer\/(\d+)$/.exec(url)?.[1])] ?? { type: 'application/json', body: '{}' };
      response.writeHead(reply.status ?? 200, reply.type === undefined ? {} : { 'content-type': reply.type }).end(reply.body);
    });
  });

  private constructor(private readonly replies: readonly Reply[]) {}

  static async start(name: string, rows: readonly RequestRow[], replies: readonly Reply[] = []): Promise<OddApi> {
    const api = new OddApi(replies);
    await new Promise<void>((done) => api.server.listen(0, '127.0.0.1', done));
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens at an address
    const url = `http://127.0.0.1:${(api.server.address() as AddressInfo).port}`;
    const sources = [...replies.map((_, index) => answerPath(index)), ...rows.map(([, path, operation]) => requestPath(path, operation))];
    const definitions = sources.map((paths, index) => {
      const path = join(api.folder, `${index}.json`);
      writeFileSync(path, JSON.stringify({ openapi: '3.2.0', info: { title: 'x', version: '1' }, paths, components: COMPONENTS }));
      const isAnswer = index < replies.length;
      const source = isAnswer ? `answer${index}` : `doc${index - replies.length}`;
      return { name: source, kind: 'openapi' as const, path, url, trust: true };
    });
    api.tenant = await useTenant(name, { sources: definitions });
    return api;
  }

  /** Calls the operation of a row. `args`: JSON text, or a JSON text of it. */
  async call(index: number, args: string): Promise<{ readonly call: Call; readonly source: Source }> {
    const { agent } = this.used;
    const { body: source } = await agent.get<Source>(`/v1/sources/doc${index}`);
    this.seen.length = 0;
    const text = `{"tool":"doc${index}__op","sessionId":"s","arguments":${args}}`;
    const { body: call } = await agent.request('POST', '/v1/calls', text, { prefer: 'wait=30' });
    return { call, source };
  }

  /** Calls the operation that is answered so. */
  answer(index: number): Promise<Call> {
    return this.used.agent.run(`answer${index}__op`, {}, { sessionId: 's' });
  }

  async close(): Promise<void> {
    await this.tenant?.close();
    this.server.closeAllConnections();
    this.server.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  private get used(): Tenant {
    if (this.tenant === undefined) throw new Error('expected a tenant');
    return this.tenant;
  }
}

function answerPath(index: number): object {
  const schema = { type: 'object', properties: { n: { type: 'integer' } } };
  const responses = { 200: { description: 'x', content: { 'application/json': { schema } } } };
  return { [`/answer/${index}`]: { get: { operationId: 'op', responses } } };
}

function requestPath(path: string, operation: object): object {
  const [, method = 'post', at = ''] = /^(?:([A-Z]+) )?(.*)$/.exec(path) ?? [];
  const own = at === '/o/{id}' ? { parameters: PARAMETERS } : {};
  return { [at]: { ...own, [method.toLowerCase()]: { operationId: 'op', responses: {}, ...operation } } };
}

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parseExactJson, type AnnouncedSource } from '#contracts';
import { EgressPolicy, egressFetch } from '#sandbox';
import { BuiltinSource, ToolRegistry, type ToolContext, type ToolOutput } from '#tool-sdk';
import { acceptOffer } from '../catalog/offered-tool.js';
import { TenantCatalog } from '../catalog/tenant-catalog.js';
import { OpenApiConnection } from '../openapi/openapi-connection.js';
import { readOperations } from '../openapi/read-operations.js';

export interface SeenRequest {
  readonly method: string;
  /** Address in the request, unchanged. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}
interface ApiAnswer {
  readonly status?: number;
  readonly headers?: Record<string, string>;
  readonly body?: string | Buffer;
}

/** An API with its document, offered and called as by a source, over HTTP; without gateway and worker between them. */
export async function openApi(document: object, answer: ApiAnswer = {}, location?: string) {
  const seen: SeenRequest[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- streams of Node have no types of their chunks
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { method = '', url = '', headers } = request;
    seen.push({ method, url, headers, body: Buffer.concat(chunks).toString('latin1') });
    response.writeHead(answer.status ?? 200, answer.headers).end(answer.body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens at an address
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const rules = {
    servers: { url: `http://${host}`, documentUrl: undefined, sameOrigin: false },
    reserved: { headers: new Set<string>(), query: new Set<string>(), cookies: new Set<string>() },
    wanted: () => true,
    maxTools: 100,
    location,
  };
  const credentials = { headers: {}, query: {}, cookies: {}, secrets: [] };
  const guarded = egressFetch(new EgressPolicy([host]));
  const connection = new OpenApiConnection({ read: () => readOperations(document, rules), guarded, credentials });
  const listing = await connection.list(AbortSignal.timeout(20_000));
  const settings = { name: 'x', kind: 'openapi', trust: true } as const;
  const offer = acceptOffer(listing.tools, settings, listing.problems);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what a catalog reads of it
  const entry = { ...offer, ...settings, tenantId: 't', pin: false, origin: 'config', status: 'ok' } as unknown as AnnouncedSource;
  const registry = new ToolRegistry(new BuiltinSource(() => []));
  registry.onModuleInit();
  const run = (_source: unknown, name: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext) =>
    connection.call(name, args, ctx);
  registry.attach(new TenantCatalog({ list: () => [{ entry, pins: {} }], refresh: () => Promise.resolve() }, { run }));
  const view = registry.for('t');
  const call = async (name: string, args: object | string): Promise<ToolOutput> => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- any JSON may come
    const given = parseExactJson(typeof args === 'string' ? args : JSON.stringify(args)) as Record<string, unknown> | string;
    const read = view.validateArguments(name, given);
    if (!read.ok) throw new Error(`refused: ${JSON.stringify(read)}`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a source reads no more of it
    const ctx = { signal: AbortSignal.timeout(20_000) } as ToolContext;
    return view.source(read.tool.name).call(read.tool.name, read.args, ctx);
  };
  return {
    tools: offer.tools.map(({ descriptor }) => descriptor),
    problems: offer.problems,
    seen,
    output: call,
    /** The request that the API sees. */
    sent: async (name: string, args: object | string): Promise<SeenRequest> => {
      await call(name, args);
      const request = seen.at(-1);
      if (request === undefined) throw new Error('expected a request');
      return request;
    },
    close: async () => {
      await connection.close();
      server.closeAllConnections();
      server.close();
    },
  };
}

import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import type { ClientHistory } from '../invariants/client-histories.js';
import type { ConfigFragment } from './installation-config.js';
import type { SharedInstallation, SharedPlaces } from './shared-installation.js';

/** Body of `POST /tenants/end`. */
export interface TenantEnd {
  readonly tenantId: string;
  /** Histories by address of a gateway. */
  readonly histories: Readonly<Record<string, ClientHistory>>;
}

export interface Offer {
  readonly url: string;
  /** Begins to start the installation; who asks for a tenant gets the error. */
  start(): void;
  /** @throws with what the log violates of the invariants */
  stop(): Promise<void>;
}

/**
 * Offers an installation for all files of `test/api`, started by `start` or by the first request: `POST /tenants` with a
 * ConfigFragment returns SharedPlaces, `POST /tenants/end` with a TenantEnd responds when the tenant has no open call left. Errors
 * are texts, with 500.
 */
export async function offerInstallation(): Promise<Offer> {
  let started: Promise<SharedInstallation> | undefined;
  const installation = () => (started ??= import('./shared-installation.js').then((module) => module.SharedInstallation.start()));
  const answer = async (request: IncomingMessage): Promise<SharedPlaces | object> => {
    const body = await json(request);
    if (request.url === '/tenants') return (await installation()).setTenant(body as ConfigFragment);
    const { tenantId, histories } = body as TenantEnd;
    await (await installation()).endTenant(tenantId, histories);
    return {};
  };
  const server = createServer((request, response) => {
    // A connection that is kept may be closed here at the moment of the next request.
    response.setHeader('connection', 'close');
    answer(request).then(
      (body) => response.end(JSON.stringify(body)),
      (error: unknown) => response.writeHead(500).end(error instanceof Error ? error.message : String(error)),
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  server.unref();
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    start: () => void installation().catch(() => {}),
    stop: async () => {
      server.close();
      await (await started?.catch(() => undefined))?.close();
    },
  };
}

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { PolicySettings, Posture } from '#contracts';
import type { TestCluster } from './test-cluster.js';

/** Agents of the config file, by names that no other suite uses. */
export type PolicyAgents = Readonly<Record<string, { readonly policy: PolicySettings; readonly posture?: Posture }>>;

export const SECRET = 'the secret beside the workspaces';
const PROXY_VARIABLES = ['HTTP_PROXY', 'http_proxy', 'HTTPS_PROXY', 'https_proxy', 'ALL_PROXY', 'all_proxy'];

/** The folders and the site that calls of the suites about policy name. */
export interface PolicyPlaces {
  /** Holds the others, a file `secret.txt`, and what a test writes. */
  readonly folder: string;
  readonly vault: string;
  readonly shared: string;
  /** Path in `shared`. */
  readonly internal: string;
  /** Port of a site on loopback. */
  readonly port: number;
  /** How many requests came to the proxy that the environment of all apps names. */
  readonly proxied: () => number;
}

/** An installation that all suites about policy share. */
export type PolicyInstallation = PolicyPlaces & { readonly toolyard: TestCluster };

/** `env`: of all apps of the installation whose calls name them. */
export async function makePolicyPlaces(): Promise<{
  readonly places: PolicyPlaces;
  readonly env: Record<string, string>;
  close(): void;
}> {
  const folders = makeFolders();
  const { site, port } = await startSite();
  const proxy = await startProxy();
  return {
    places: { ...folders, port, proxied: proxy.asked },
    env: {
      SHARED_ROOTS: `read=${folders.vault},write=${folders.shared}`,
      EGRESS_ALLOW_HOSTS: `127.0.0.1:${port}`,
      NODE_USE_ENV_PROXY: '1',
      ...Object.fromEntries(PROXY_VARIABLES.map((name) => [name, proxy.url])),
    },
    close: () => {
      for (const server of [site, proxy.server]) server.close();
      rmSync(folders.folder, { recursive: true });
    },
  };
}

/** The agents of all suites. @throws when two of them have one of the same name. */
export function allAgents(suites: readonly PolicyAgents[]): PolicyAgents {
  const agents: Record<string, PolicyAgents[string]> = {};
  for (const [name, agent] of suites.flatMap((suite) => Object.entries(suite))) {
    if (name in agents) throw new Error(`two suites have an agent of the name ${name}: expected a name of its own for each`);
    agents[name] = agent;
  }
  return agents;
}

function makeFolders() {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-policy-'));
  const [vault, shared] = [join(folder, 'vault'), join(folder, 'shared')];
  const internal = join(shared, 'internal');
  for (const path of [vault, internal]) mkdirSync(path, { recursive: true });
  writeFileSync(join(vault, 'note.txt'), 'in the vault');
  writeFileSync(join(internal, 'state.txt'), SECRET);
  writeFileSync(join(folder, 'secret.txt'), SECRET);
  symlinkSync(join(folder, 'secret.txt'), join(shared, 'way-out'));
  return { folder, vault, shared, internal };
}

/** A site whose page /away leads to another port of this machine, and /to?<URL> to that URL. */
async function startSite() {
  const site = createServer((request, response) => {
    if (request.url === '/away') response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    else if (request.url?.startsWith('/to?') === true) response.writeHead(302, { location: request.url.slice(4) }).end();
    else response.writeHead(200, { 'content-type': 'text/plain' }).end('fetched');
  });
  return { site, port: await listen(site) };
}

async function startProxy() {
  let asked = 0;
  const server = createServer((_request, response) => void response.end(`proxied ${(asked += 1)}`));
  server.on('connect', (_request, socket) => void socket.end(`HTTP/1.1 502 proxied ${(asked += 1)}\r\n\r\n`));
  return { server, url: `http://127.0.0.1:${await listen(server)}`, asked: () => asked };
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as AddressInfo).port;
}

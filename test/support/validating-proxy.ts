import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually.js';
import { freePort } from './redis-server.mjs';

export interface ValidatingProxy {
  readonly url: string;
  stop(): void;
}

/** Prism between client and gateway: it compares each answer with the document and says in `sl-violations` what differs. */
export async function startValidatingProxy(document: object, upstream: string): Promise<ValidatingProxy> {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-prism-'));
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const port = await freePort();
  const child = spawn('node_modules/.bin/prism', ['proxy', file, upstream, '--port', String(port), '--verboseLevel', 'warn'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (log = (log + String(chunk)).slice(-16_384)));
  const url = `http://127.0.0.1:${port}`;
  await eventually(
    async () => {
      if (child.exitCode !== null) throw new Error(`Prism ended with ${child.exitCode}:\n${log}`);
      return (await fetch(`${url}/livez`).catch(() => undefined))?.ok === true;
    },
    'Prism to answer',
    60_000,
  );
  return {
    url,
    stop: () => {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** What the header says of the answer; what it says of the request is about requests that are wrong on purpose. */
export function contractViolations(header: string | null): unknown[] {
  const violations = header === null ? [] : (JSON.parse(header) as { location: string[] }[]);
  return violations.filter(({ location }) => location[0] === 'response');
}

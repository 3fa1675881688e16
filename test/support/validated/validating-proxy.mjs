import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { freePort } from '../free-port.mjs';

const START_MS = 180_000;

/** Prism between client and gateway: it compares each answer with the document and says in `sl-violations` what differs. */
export async function startValidatingProxy(document, upstream) {
  const folder = mkdtempSync(join(tmpdir(), 'toolyard-prism-'));
  const file = join(folder, 'openapi.json');
  writeFileSync(file, JSON.stringify(document));
  const port = await freePort();
  const child = spawn('node_modules/.bin/prism', ['proxy', file, upstream, '--port', String(port), '--verboseLevel', 'warn'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let log = '';
  for (const output of [child.stdout, child.stderr]) output.on('data', (chunk) => (log = (log + String(chunk)).slice(-16_384)));
  const url = `http://127.0.0.1:${port}`;
  const deadline = performance.now() + START_MS;
  while ((await fetch(`${url}/livez`).catch(() => undefined))?.ok !== true) {
    if (child.exitCode !== null) throw new Error(`Prism ended with ${child.exitCode}:\n${log}`);
    if (performance.now() > deadline) throw new Error(`Prism did not answer within ${START_MS} ms:\n${log}`);
    await delay(50);
  }
  return {
    url,
    /** Error with its output, after it has ended by itself. */
    failure: () =>
      child.exitCode === null && child.signalCode === null ? undefined : `Prism ended with ${child.exitCode ?? child.signalCode}:\n${log}`,
    stop: () => {
      child.kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Violations in the header about the response; those about the request are ignored, since wrong requests are deliberate. */
export function contractViolations(header) {
  const violations = header === null ? [] : JSON.parse(header);
  return violations.filter(({ location }) => location[0] === 'response');
}

// An installation of its own with a browser before it, for pictures and the recording; `toolyard demo` fills it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stripVTControlCharacters } from 'node:util';
import { chromium } from 'playwright-core';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Address of the model of the demo's sub-agent. */
const MODEL = '127.0.0.1:7419';

export const pictures = join(root, 'apps/dashboard/pictures');

/**
 * Starts all, gives `{ browser, url, key, toolyard }` to `use`, and stops all. `toolyard(words, onText)` runs the command line tool
 * and resolves to its text; `onText` gets the text so far.
 */
export async function withDemoInstallation(use) {
  const data = mkdtempSync(join(tmpdir(), 'toolyard-pictures-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  const env = { ...process.env, TOOLYARD_DATA: data, TOOLYARD_SETUP: 'no', GATEWAY_PORT: new URL(url).port, EGRESS_ALLOW_HOSTS: MODEL };
  const program = join(root, 'dist/program/dist/apps/standalone/src/main.js');
  const standalone = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const browser = await chromium.launch({ executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium', args: ['--no-sandbox'] });
  const toolyard = async (words, onText = () => undefined) => {
    const command = spawn(process.execPath, [join(root, 'apps/cli/toolyard.mjs'), '--url', url, ...words], {
      env: { ...env, COLUMNS: '100' },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let text = '';
    for (const stream of [command.stdout, command.stderr])
      stream.on('data', (piece) => {
        text += stripVTControlCharacters(String(piece));
        onText(text);
      });
    const [code] = await once(command, 'close');
    if (code !== 0) throw new Error(`toolyard ${words.join(' ')} ended with ${code}: ${text}`);
    return text;
  };
  try {
    await started(standalone);
    await use({ browser, url, key: readFileSync(join(data, 'key'), 'utf8').trim(), toolyard });
  } finally {
    await browser.close();
    standalone.kill('SIGINT');
    if (standalone.exitCode === null) await once(standalone, 'exit');
    rmSync(data, { recursive: true, force: true });
  }
}

async function started(standalone) {
  const up = new Promise((resolve) => standalone.stdout.on('data', (piece) => String(piece).includes('Toolyard is up') && resolve()));
  const ended = once(standalone, 'exit').then(([code]) => Promise.reject(new Error(`The installation ended with ${code}`)));
  await Promise.race([up, ended]);
  ended.catch(() => undefined);
}

/** A port that nothing listens on now. */
async function freePort() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  await once(server, 'close');
  return port;
}

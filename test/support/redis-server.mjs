import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';

/**
 * A private redis-server on loopback. `settings` are further command line words, such as ['--appendonly', 'yes'].
 * Rejects with the install command when the binary is missing. `kill` is SIGKILL; `start` brings the same data back.
 */
export async function startRedisServer({ port, settings = ['--save', '', '--appendonly', 'no'], dir } = {}) {
  const listenPort = port ?? (await freePort());
  const dataDir = dir ?? mkdtempSync(join(tmpdir(), 'toolyard-redis-'));
  let child;

  const start = async () => {
    const words = ['--port', String(listenPort), '--bind', '127.0.0.1', '--dir', dataDir, '--maxmemory-policy', 'noeviction', ...settings];
    child = spawn('redis-server', words, { stdio: ['ignore', 'pipe', 'pipe'] });
    let log = '';
    child.stdout.on('data', (chunk) => (log = (log + chunk).slice(-4096)));
    child.stderr.on('data', (chunk) => (log = (log + chunk).slice(-4096)));
    const failed = new Promise((_resolve, reject) => {
      child.once('error', (error) =>
        reject(
          new Error(
            error.code === 'ENOENT'
              ? 'redis-server is missing. Install it: apt-get install redis-server (Debian) or brew install redis (macOS).'
              : error.message,
          ),
        ),
      );
      child.once('exit', (code, signal) => reject(new Error(`redis-server ended with ${code ?? signal} before it answered:\n${log}`)));
    });
    failed.catch(() => {});
    await Promise.race([failed, answersPong(listenPort)]);
  };
  const end = async (signal) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await ended;
  };

  await start();
  return {
    port: listenPort,
    url: `redis://127.0.0.1:${listenPort}`,
    get pid() {
      return child.pid;
    },
    start,
    kill: () => end('SIGKILL'),
    signal: (signal) => child.kill(signal),
    stop: async () => {
      await end('SIGTERM');
      if (!dir) rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function answersPong(port) {
  const deadline = Date.now() + 120_000;
  for (;;) {
    const answer = await ping(port);
    if (answer.startsWith('+PONG')) return;
    if (Date.now() > deadline) throw new Error(`redis-server on port ${port} did not answer PONG within 120 s; it said: ${answer}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

function ping(port) {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => socket.write('PING\r\n'));
    socket.setTimeout(1000, () => socket.destroy());
    socket.once('data', (data) => {
      resolve(String(data));
      socket.destroy();
    });
    socket.once('error', (error) => resolve(error.code));
    socket.once('close', () => resolve('closed'));
  });
}

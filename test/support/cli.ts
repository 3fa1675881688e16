import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programOf } from './app-program.js';
import { eventually } from './eventually.js';
import { TEST_KEY } from './test-cluster.js';

/** The command line tool as a process of its own. */
export interface CliProcess {
  readonly child: ChildProcess;
  /** Output on stdout so far; in a terminal that of both streams. */
  out(): string;
  err(): string;
  says(text: string): Promise<void>;
  ended(): Promise<{ code: number | null; out: string; err: string }>;
}

export interface CliOptions {
  readonly url: string;
  readonly env?: Record<string, string>;
  readonly input?: string;
  /** True if its input stays open. */
  readonly keepsInput?: boolean;
  /** True for a terminal of its own (made by `script` of util-linux), as a person has it. */
  readonly terminal?: boolean;
}

export function startCli(words: readonly string[], { url, env = {}, input, keepsInput = false, terminal = false }: CliOptions): CliProcess {
  const bin = programOf('cli');
  // `exec`: a shell in between would take the Ctrl-C for its own.
  const line = `exec ${[process.execPath, bin, ...words].map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ')}`;
  const [file, args] = terminal ? ['script', ['-qfec', line, '/dev/null']] : [process.execPath, [bin, ...words]];
  const cwd = mkdtempSync(join(tmpdir(), 'toolyard-cli-'));
  const child = spawn(file, args, {
    cwd,
    env: { PATH: process.env['PATH'] ?? '', TERM: 'xterm', TOOLYARD_URL: url, TOOLYARD_API_KEY: TEST_KEY, ...env },
    stdio: 'pipe',
  });
  let out = '';
  let err = '';
  child.stdout.on('data', (piece) => (out += String(piece)));
  child.stderr.on('data', (piece) => (err += String(piece)));
  child.stdin.on('error', () => {});
  if (input !== undefined || !(terminal || keepsInput)) child.stdin.end(input ?? '');
  const ended = new Promise<{ code: number | null; out: string; err: string }>((done) =>
    child.once('close', (code) => {
      rmSync(cwd, { recursive: true, force: true });
      done({ code, out, err });
    }),
  );
  return {
    child,
    out: () => out,
    err: () => err,
    says: async (text) => {
      await eventually(
        () => {
          if (child.exitCode !== null && !`${out}${err}`.includes(text)) throw new Error(`it ended with ${child.exitCode}: ${out}${err}`);
          return `${out}${err}`.includes(text);
        },
        `the command line tool to say ${JSON.stringify(text)}`,
      );
    },
    ended: () => ended,
  };
}

import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { installPackages } from './npm-packages.js';

const NODE = `node-${process.platform}-${process.arch}`;
/** The suite needs Node 22, which the registry has as a package. */
const PACKAGES = ['@modelcontextprotocol/conformance@0.2.0-alpha.12', `${NODE}@22`];

interface Check {
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export interface Scenario {
  readonly name: string;
  readonly checks: readonly Check[];
}

/** The official conformance suite (`@modelcontextprotocol/conformance`), as the program that it is. */
export class ConformanceSuite {
  private constructor(private readonly folder: string) {}

  static async install(folder: string): Promise<ConformanceSuite> {
    await installPackages(folder, PACKAGES);
    return new ConformanceSuite(folder);
  }

  /** Runs scenarios against a server. */
  async server(url: string, options: readonly string[]): Promise<Scenario[]> {
    return this.run(['server', '--url', url, ...options], /^server-(.*)-\d{4}-\d\d-\d\dT[\d-]*Z$/);
  }

  /** Runs one scenario against the client that is this command. */
  async client(command: string, options: readonly string[], env: Readonly<Record<string, string>>): Promise<Scenario[]> {
    return this.run(['client', '--command', command, ...options], /^(?!server-)(.*)-\d{4}-\d\d-\d\dT[\d-]*Z$/, env);
  }

  /** The names of all scenarios against clients. */
  async clientScenarios(): Promise<string[]> {
    const { said } = await this.spawned(['list', '--client'], {});
    return [...said.slice(said.indexOf('Client scenarios')).matchAll(/^ {2}- (\S+)/gm)].map(([, name = '']) => name);
  }

  private async run(args: readonly string[], named: RegExp, env: Readonly<Record<string, string>> = {}): Promise<Scenario[]> {
    const results = mkdtempSync(join(this.folder, 'results-'));
    const { said } = await this.spawned([...args, '--timeout', '120000', '-o', results], env);
    const scenarios = readdirSync(results, { recursive: true, encoding: 'utf8' }).flatMap((folder) => {
      const name = named.exec(folder)?.[1];
      return name === undefined ? [] : [{ name, checks: checksIn(join(results, folder, 'checks.json')) }];
    });
    if (scenarios.length === 0) throw new Error(`the conformance suite ran no scenario:\n${said.slice(-4_000)}`);
    return scenarios;
  }

  private async spawned(args: readonly string[], env: Readonly<Record<string, string>>): Promise<{ said: string }> {
    const modules = join(this.folder, 'node_modules');
    const program = join(modules, '@modelcontextprotocol/conformance/dist/index.js');
    const child = spawn(join(modules, NODE, 'bin/node'), [program, ...args], {
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...process.env, ...env },
    });
    let said = '';
    for (const output of [child.stdout, child.stderr]) output.on('data', (chunk: Buffer) => (said += String(chunk)));
    await new Promise((resolve) => child.once('close', resolve));
    return { said };
  }
}

function checksIn(path: string): Check[] {
  return JSON.parse(readFileSync(path, 'utf8')) as Check[];
}

/** Each failure, and the lack of any success. `except`: checks that do not apply, by id, or what one says when it saw nothing in its time. */
export function faultsOf({ name, checks }: Scenario, except: Readonly<Record<string, string | RegExp>> = {}): string[] {
  const counting = checks.filter(({ id, status, errorMessage = '' }) => {
    const reason = except[id];
    return reason === undefined || (reason instanceof RegExp && !(status === 'FAILURE' && reason.test(errorMessage)));
  });
  const failed = counting.filter(({ status }) => status === 'FAILURE');
  // The check of the messages' form is there also where a scenario did nothing.
  const succeeded = counting.some(({ id, status }) => status === 'SUCCESS' && id !== 'wire-schema-valid');
  return [...failed.map(({ id, errorMessage }) => `${name} ${id}: ${errorMessage}`), ...(succeeded ? [] : [`${name}: no success`])];
}

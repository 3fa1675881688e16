import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ShellTool } from '../shell/shell.tool.js';
import { giveFolder, type ResourceLimits, type Sandbox } from '#sandbox';
import { type ToolContext, ToolError, type ToolOutput, type ToolOutputObject } from '#tool-sdk';
import { fakeToolContext } from './tool-context.js';

/** Sandbox under test, with the facts that the suites need. */
export interface SandboxUnderTest {
  /** Creates a sandbox with these limits, defaults for the others. */
  make(limits?: Partial<ResourceLimits>): Sandbox;
  /** Commands see their own files, processes and network only. */
  readonly isolated: boolean;
}

/** The shell tool in a sandbox, on a workspace of its own with a folder `sub`, a file `file` and a link out. */
export class ShellRuns {
  private constructor(
    readonly root: string,
    private readonly home: string,
    private readonly under: SandboxUnderTest,
  ) {}

  static async open(under: SandboxUnderTest): Promise<ShellRuns> {
    const home = await realpath(await mkdtemp(join(tmpdir(), 'shell-runs-')));
    const runs = new ShellRuns(join(home, 'one'), home, under);
    await mkdir(join(runs.root, 'sub'), { recursive: true });
    await writeFile(join(runs.root, 'file'), '');
    await symlink('/etc', join(runs.root, 'way-out'));
    await runs.give(runs.root);
    return runs;
  }

  /** Gives the workspace to the user of commands, as a worker does if it runs as root. */
  private async give(root: string): Promise<void> {
    const sandbox = this.under.make();
    await sandbox.probe();
    await giveFolder(root, sandbox.userOf('default'));
  }

  close = () => rm(this.home, { recursive: true, force: true });

  context(overrides: Partial<ToolContext> = {}) {
    return fakeToolContext({ workspace: { root: this.root }, ...overrides });
  }

  /** The context of a session with a workspace of its own. */
  async session(sessionId: string, overrides: Partial<ToolContext> = {}) {
    const root = join(this.home, sessionId);
    await mkdir(root, { recursive: true });
    await this.give(root);
    return this.context({ sessionId, workspace: { root }, ...overrides });
  }

  async run(
    command: string,
    more: { working_dir?: string; timeout_ms?: number; persistent?: boolean } = {},
    ctx: ToolContext = this.context(),
    limits?: Partial<ResourceLimits>,
  ): Promise<ToolOutputObject> {
    const output = await new ShellTool(this.under.make(limits)).run({ command, persistent: false, background: false, ...more }, ctx);
    return outputOf(output);
  }

  text = async (...args: Parameters<ShellRuns['run']>) => textOf(await this.run(...args));
}

export function outputOf(output: ToolOutput): ToolOutputObject {
  if (typeof output === 'object' && 'content' in output) return output;
  throw new Error('expected an object with content');
}

/** Text for the model. */
export function textOf({ content }: ToolOutputObject): string {
  return content.map((item) => (item.type === 'text' ? item.text : `no text but ${item.type}`)).join('\n');
}

/** The failure of a run that must fail. */
export async function failureOf(running: Promise<unknown>): Promise<ToolError> {
  const failure = await running.then(
    (output) => output,
    (error: unknown) => error,
  );
  if (failure instanceof ToolError) return failure;
  throw new Error(`expected a ToolError, got ${JSON.stringify(failure) ?? String(failure)}`);
}

let markers = 0;
/** A word that occurs only in the command lines of one run. */
export function newMarker(): string {
  markers += 1;
  return `mark-${process.pid}-${markers}-${Date.now()}`;
}

/** Processes of this machine, in whatever sandbox, with the word in their command line; ended ones do not count. */
export function processesWith(marker: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const ended = /^\d+ \(.*\) [ZX]/s.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      return !ended && readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(marker);
    } catch {
      return false;
    }
  });
}

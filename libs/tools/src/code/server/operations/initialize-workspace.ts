import { ToolError, type ToolOutputObject } from '#tool-sdk';
import { globFiles } from '../../../search/glob-files.js';
import { searchTarget } from '../../../search/search-target.js';
import { textOutput } from '../../text-output.js';
import type { ServerSettings } from '../language-servers.config.js';
import type { ServerRun } from './place-request.js';

interface ServerState {
  readonly name: string;
  readonly files: number;
  readonly ok: boolean;
  readonly reason?: string;
}

/** Starts the servers of all languages with files in the workspace. */
export async function initializeWorkspace(run: ServerRun): Promise<ToolOutputObject> {
  if (run.servers.configured.length === 0) run.servers.required('the workspace');
  const states = await Promise.all(run.servers.configured.map((settings) => stateOf(settings, run)));
  const lines = states.map(({ name, files, ok, reason }) => {
    if (files === 0) return `${name}: no files`;
    return `${name}: ${ok ? 'running' : reason}, ${files} ${files === 1 ? 'file' : 'files'}`;
  });
  return textOutput(lines.join('\n'), { servers: states });
}

async function stateOf(settings: ServerSettings, run: ServerRun): Promise<ServerState> {
  const { name } = settings;
  const files = await countOf(settings, run);
  if (files === 0) return { name, files, ok: false, reason: 'no files' };
  try {
    await run.servers.use(settings, run.ctx, async () => undefined);
    return { name, files, ok: true };
  } catch (error) {
    run.ctx.signal.throwIfAborted();
    if (!(error instanceof ToolError)) throw error;
    return { name, files, ok: false, reason: error.message };
  }
}

async function countOf({ extensions }: ServerSettings, { ctx }: ServerRun): Promise<number> {
  const target = await searchTarget(ctx.workspace, '.');
  const pattern = extensions.length === 1 ? `*.${extensions[0]}` : `*.{${extensions.join(',')}}`;
  const { total } = await globFiles({ pattern, target, maxDepth: 50, most: 1, ignored: false, sort: 'path' }, ctx);
  return total;
}

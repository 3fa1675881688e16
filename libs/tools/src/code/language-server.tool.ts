import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { EXAMPLE_SETUP } from './example-code.js';
import { LanguageServers } from './server/language-servers.js';
import { completionsAt } from './server/operations/completions.js';
import { diagnosticsOf } from './server/operations/diagnostics.js';
import { hoverAt } from './server/operations/hover.js';
import { initializeWorkspace } from './server/operations/initialize-workspace.js';
import { type PlaceRequest, type ServerRun, checkPlace } from './server/operations/place-request.js';

const input = z.strictObject({
  operation: z
    .enum(['get_hover', 'get_completions', 'get_diagnostics', 'initialize_workspace'])
    .describe(
      'get_hover: type and documentation of what stands at a place. get_completions: names that may stand at a place. get_diagnostics: errors and warnings of a file. ' +
        'initialize_workspace: starts the language servers of the workspace and says which there are.',
    ),
  path: z.string().min(1).default('.').describe('File, relative to the workspace root. Not for initialize_workspace.'),
  row: z.number().int().optional().describe('get_hover, get_completions: row of the place, counted from 1.'),
  column: z.number().int().optional().describe('get_hover, get_completions: column of the place, counted from 1.'),
  limit: z.number().int().min(1).max(50).default(50).describe('How many completions or diagnostics to show at most.'),
});
type Input = z.output<typeof input>;

const AT_PLACE: ReadonlySet<Input['operation']> = new Set(['get_hover', 'get_completions']);

/** Operations that require a language server. */
@Tool({
  name: 'language_server',
  label: 'Language server',
  description:
    'Asks the language server of a file for types, documentation, completions, errors and warnings. Rows and columns count from 1. Files larger than 1 MiB are refused. ' +
    'A server starts with the first question, which may take some seconds; in a large workspace it may have to be asked again. For definitions and references use code, for renaming and formatting code_edit.',
  input,
  tier: 'read_only',
  subjects: [{ kind: 'path', argument: 'path', access: 'read' }],
  requires: ['language_servers'],
  timeoutMs: 60_000,
  argumentAliases: { path: ['file_path', 'filePath', 'file'], row: ['line'], column: ['character'] },
  examples: [
    {
      title: 'Type of what stands at a place',
      arguments: { operation: 'get_hover', path: 'example/app.ts', row: 1, column: 14 },
      setup: EXAMPLE_SETUP,
    },
    { title: 'Errors of a file', arguments: { operation: 'get_diagnostics', path: 'example/app.ts' }, setup: EXAMPLE_SETUP },
  ],
})
export class LanguageServerTool {
  constructor(@Optional() private readonly servers: LanguageServers = new LanguageServers()) {}

  check({ operation, path, row, column }: Input): void {
    if (operation === 'initialize_workspace') return;
    if (path === '.') throw new ToolError('invalid_arguments', `Missing 'path' for ${operation}`);
    checkPlace({ row, column }, AT_PLACE.has(operation));
  }

  async run(args: Input, ctx: ToolContext): Promise<ToolOutputObject> {
    this.check(args);
    const { operation, path, limit, row = 1, column = 1 } = args;
    const run: ServerRun = { servers: this.servers, ctx };
    const place: PlaceRequest = { path, row, column };
    switch (operation) {
      case 'get_hover':
        return hoverAt(place, run);
      case 'get_completions':
        return completionsAt({ ...place, limit }, run);
      case 'get_diagnostics':
        return diagnosticsOf(path, limit, run);
      case 'initialize_workspace':
        return initializeWorkspace(run);
    }
  }

  /** Called by Nest when the process ends. */
  async onApplicationShutdown(): Promise<void> {
    await this.servers.close();
  }
}

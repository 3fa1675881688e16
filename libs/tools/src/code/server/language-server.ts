import { pathToFileURL } from 'node:url';
import { type ProcessCommand, type RunningProcess, startProcess } from '#sandbox';
import type { ToolContext } from '#tool-sdk';
import type { LanguageServerSettings, ServerSettings } from './language-servers.config.js';
import { type OpenDocument, OpenDocuments } from './open-documents.js';
import { PublishedDiagnostics } from './published-diagnostics.js';
import { type RequestOptions, LateAnswer, ServerConnection } from './server-connection.js';
import { changesBetween, snapshotOf, type WorkspaceSnapshot } from './workspace-snapshot.js';
import type { ClientCapabilities } from 'vscode-languageserver-protocol/node';

/** Client capabilities for responses. No snippets, no creation or renaming of files, no commands. */
const CAPABILITIES: ClientCapabilities = {
  general: { positionEncodings: ['utf-16'] },
  workspace: {
    workspaceFolders: true,
    configuration: true,
    applyEdit: false,
    workspaceEdit: { documentChanges: true },
    didChangeWatchedFiles: { dynamicRegistration: true },
  },
  textDocument: {
    synchronization: {},
    definition: { linkSupport: true },
    references: {},
    hover: { contentFormat: ['markdown', 'plaintext'] },
    completion: { completionItem: { snippetSupport: false } },
    formatting: {},
    rename: {},
    publishDiagnostics: { versionSupport: true },
    diagnostic: {},
  },
  window: { workDoneProgress: true },
};

const STOP_GRACE_MS = 500;
/** A server that leaves so many requests in a row without an answer is ended. */
const MOST_LATE = 3;

export type ServerTimes = Pick<LanguageServerSettings, 'startMs' | 'requestMs' | 'quietMs'>;

/** Open document with the files as last reported to the server. */
export interface ShownDocument extends OpenDocument {
  readonly files: WorkspaceSnapshot;
}

export interface ServerStart {
  readonly settings: ServerSettings;
  /** Root of the workspace, without links. */
  readonly root: string;
  readonly command: ProcessCommand;
  readonly times: ServerTimes;
}

/** Server process for one workspace. Requests are concurrent; updates of its files run one at a time. */
export class LanguageServer {
  readonly diagnostics: PublishedDiagnostics;
  private readonly documents: OpenDocuments;
  private before: Promise<unknown> = Promise.resolve();
  private snapshot: WorkspaceSnapshot | undefined;
  private late = 0;
  private capabilities: Readonly<Record<string, unknown>> = {};
  /** A request was answered. */
  hasWorked = false;

  private constructor(
    readonly settings: ServerSettings,
    private readonly root: string,
    private readonly running: RunningProcess,
    private readonly connection: ServerConnection,
    readonly times: ServerTimes,
  ) {
    this.diagnostics = new PublishedDiagnostics(times.quietMs);
    this.documents = new OpenDocuments(connection, (uri) => this.diagnostics.forget(uri));
    connection.onNotification('textDocument/publishDiagnostics', (params) => {
      const { uri, version } = recordOf(params);
      if (typeof uri === 'string' && !this.documents.isOutdated(uri, version)) this.diagnostics.accept(params);
    });
    connection.onRequest('workspace/configuration', (params) => configurationFor(params));
    for (const method of ['client/registerCapability', 'client/unregisterCapability', 'window/workDoneProgress/create'])
      connection.onRequest(method, () => null);
  }

  /**
   * Rejects with a ProcessStartError when the program cannot start, and as `request`. `onEnd` gets the reason, once, and
   * whether the server sent too much.
   */
  static async start(
    { settings, root, command, times }: ServerStart,
    ctx: Pick<ToolContext, 'signal'>,
    onEnd: (why: string, isFlood: boolean) => void,
  ): Promise<LanguageServer> {
    const running = await startProcess(command, STOP_GRACE_MS);
    running.stderr.resume();
    const connection = new ServerConnection(settings.name, running, (why, isFlood) => {
      void running.stop();
      onEnd(why, isFlood);
    });
    void running.ended.then((how) => connection.fail(how));
    const server = new LanguageServer(settings, root, running, connection, times);
    try {
      await server.initialize({ signal: ctx.signal, timeoutMs: times.startMs });
      return server;
    } catch (error) {
      connection.fail('it did not start');
      await running.stop();
      throw error;
    }
  }

  /** Same as `RunningProcess.takeCpuMs`. */
  takeCpuMs(): number | undefined {
    return this.running.takeCpuMs();
  }

  /** Aborted with a ToolError when the server ends. */
  get ended(): AbortSignal {
    return this.connection.ended;
  }

  /** True if the server declares a capability, such as `hoverProvider`. */
  can(capability: string): boolean {
    const value = this.capabilities[capability];
    return value !== undefined && value !== null && value !== false;
  }

  /** Notifies the server of changes in the workspace, and opens the file. `again` forces a new analysis. */
  async show(path: string, ctx: ToolContext, again = false): Promise<ShownDocument> {
    const options = { signal: ctx.signal, timeoutMs: this.times.requestMs };
    const turn = this.before.then(async () => {
      ctx.signal.throwIfAborted();
      const files = await this.renew(ctx, options);
      return { ...(await this.documents.show(path, again, ctx, options)), files };
    });
    this.before = turn.catch(() => undefined);
    return this.countingLate(turn);
  }

  /** The answer as it came. @throws ToolError, or the reason of the signal */
  async request(method: string, params: object, { signal }: Pick<ToolContext, 'signal'>): Promise<unknown> {
    const answer = await this.countingLate(this.connection.request(method, params, { signal, timeoutMs: this.times.requestMs }));
    this.late = 0;
    this.hasWorked = true;
    return answer;
  }

  /** Ends the process and all it started. Idempotent. */
  async stop(why: string): Promise<void> {
    this.connection.fail(why);
    await this.running.stop();
  }

  /** Counts late requests, including those to a server that does not read its input. */
  private async countingLate<T>(work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      if (error instanceof LateAnswer && (this.late += 1) >= MOST_LATE)
        this.connection.fail(`it left ${MOST_LATE} requests without an answer`);
      throw error;
    }
  }

  private async initialize(options: RequestOptions): Promise<void> {
    this.connection.listen();
    const uri = pathToFileURL(this.root).href;
    const answer = await this.connection.request(
      'initialize',
      {
        processId: null,
        clientInfo: { name: 'toolyard' },
        rootUri: uri,
        workspaceFolders: [{ uri, name: 'workspace' }],
        capabilities: CAPABILITIES,
        ...(this.settings.options === undefined ? {} : { initializationOptions: this.settings.options }),
      },
      options,
    );
    this.capabilities = recordOf(recordOf(answer)['capabilities']);
    await this.connection.notify('initialized', {}, options);
  }

  private async renew(ctx: ToolContext, options: RequestOptions): Promise<WorkspaceSnapshot> {
    const now = await snapshotOf(this.settings.extensions, ctx);
    const changes = this.snapshot === undefined ? [] : changesBetween(this.snapshot, now, this.root);
    this.snapshot = now;
    // Reports about open documents are checked against their text instead.
    for (const { uri } of changes) if (!this.documents.has(uri)) this.diagnostics.forget(uri);
    if (changes.length > 0) await this.connection.notify('workspace/didChangeWatchedFiles', { changes }, options);
    await this.documents.refresh(ctx, options);
    return now;
  }
}

/** No settings: a server takes its own. */
function configurationFor(params: unknown): null[] {
  const items = recordOf(params)['items'];
  return Array.isArray(items) ? items.slice(0, 100).map(() => null) : [];
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value)) : {};
}

import type { CallErrorCode, Content, PolicyProfile, ProgressData, ToolDescriptor, Violation } from '#contracts';

/** Where the files of the call's session live. `root` is absolute, exists, and is with `roots` and `opened` all that tools may touch. */
export interface Workspace {
  readonly root: string;
  /** Other folders of this machine that the call may reach by absolute paths: those that the decision about it names. */
  readonly roots?: readonly SharedRoot[];
  /** Paths outside of all folders that a person or the policy opened for this call: these very paths, never through a link. */
  readonly opened?: readonly SharedRoot[];
  /** Paths that the decision opens and this worker's operator does not. */
  readonly unavailable?: readonly string[];
  /** There when something is denied to the call. */
  readonly denied?: DeniedPaths;
  /** There when what the workspace may take is limited; it says nothing about roots and opened paths. */
  readonly quota?: WorkspaceQuota;
}

/** What the files of a workspace may still take. */
export interface WorkspaceQuota {
  /**
   * Counts what is about to be written; what becomes smaller is always taken.
   * @throws ToolError `quota_exceeded` when it does not fit.
   */
  reserve(growth: { readonly bytes: number; readonly files: number }): Promise<void>;
  /**
   * What is left for a command, 0 and less when nothing is.
   * @throws ToolError `quota_exceeded` when there are so many files that no command may run.
   */
  remaining(): Promise<{ readonly bytes: number; readonly files: number }>;
  /** Something was written that nobody counted: what is there is measured before the next question is answered. */
  invalidate(): void;
  /** Measures now, and says how the quota is exceeded, in files by more than `overdrawn`. `tookMs`: how long that took. */
  measure(overdrawn: number): Promise<{ readonly failure: ToolError | undefined; readonly tookMs: number }>;
}

/** What a call may not touch wherever it lies, also in its own workspace. */
export interface DeniedPaths {
  /** Why an absolute path is denied, `..` and links resolved; undefined when it is not. Linear in the length of the path. */
  denialReason(path: string, access: 'read' | 'write'): string | undefined;
  /** False when surely nothing below the folder is denied, so that nobody looks through it. */
  mayDenyBelow(folder: string): boolean;
}

/** A folder, or a file, outside of the workspaces. `locks` is where writers keep each other out, never inside. */
export interface SharedRoot {
  readonly path: string;
  readonly access: 'read' | 'write';
  readonly locks: string;
}

/** `stream`: its name. `cut`: more came of it, which nobody gets. */
export interface UpdateStreamInfo {
  readonly stream: string;
  readonly truncated?: boolean;
}

/** What a running tool knows and may do besides its arguments; never mixed with them. New fields may be added at any time. */
export interface ToolContext {
  readonly callId: string;
  /** The name by which the call was made: the tool's own, or one of its other names. */
  readonly toolName: string;
  readonly attempt: number;
  readonly fence: number;
  readonly tenantId: string;
  readonly agentId?: string;
  readonly sessionId?: string;
  /** The known agent whose texts and sizes the call is answered in; absent for our own. */
  readonly profile?: PolicyProfile;
  /** W3C; what the tool asks others for is a child of it. Absent when neither the agent nor this worker traces. */
  readonly traceparent?: string;
  /** Aborted by cancel, time-out, lost lease or shutdown; `signal.reason` is a ToolError that says which. */
  readonly signal: AbortSignal;
  /** When the attempt must be over, ms since the epoch on this machine's clock. */
  readonly deadline: number;
  /** Milliseconds between the abort and the kill. */
  readonly graceMs: number;
  /** Milliseconds since the first attempt of the call started; what a suspended call counts from. */
  readonly sinceFirstStartMs: number;
  readonly workspace: Workspace;
  /** Environment variables a child process may see, from the worker's allowlist. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: { debug(message: string, facts?: object): void; warn(message: string, facts?: object): void };
  /** Partial content for watchers; coalesced on its way, never part of the result. A tool with several texts at once says which one goes on. */
  onUpdate(content: readonly Content[], of?: UpdateStreamInfo): void;
  /**
   * The text as everybody may see it, secrets taken out. Whatever leaves a part of a text out asks first: in half of a
   * secret nobody sees one. `cut`: the text is the beginning of one that was cut already.
   */
  redact(text: string, cut?: boolean): string;
  onProgress(progress: ProgressData): void;
}

/** What a handler returns. A string is one text item. `isError` marks an outcome the model should see as an error (a non-zero exit). */
export type ToolOutput = string | readonly Content[] | ToolOutputObject | Suspension;

export interface ToolOutputObject {
  readonly content: readonly Content[];
  readonly isError?: boolean;
  readonly structuredContent?: unknown;
  readonly details?: Readonly<Record<string, unknown>>;
  /** All bytes of text that came, where the tool kept fewer of them: what the model reads as the original size. */
  readonly seenBytes?: number;
}

/** The tool waits without holding a slot: the same call runs again after `resumeInMs`, with the same arguments. */
export class Suspension {
  constructor(readonly resumeInMs: number) {}
}

/** The one error a tool throws on purpose. `message` is for the model: actionable, without secrets, stacks or host paths. */
export class ToolError extends Error {
  override readonly name = 'ToolError';
  constructor(
    readonly code: CallErrorCode,
    message: string,
    readonly options: {
      readonly retryable?: boolean;
      readonly errors?: readonly Violation[];
      readonly killed?: boolean;
      /** It ended with success after it was asked to stop: nobody knows whether it had done all it should. */
      readonly mayHaveFinished?: boolean;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: options.cause });
  }
}

/** Spellings of arguments that a source takes beside its schema. */
export interface ArgumentHints {
  /** Argument → its other names. The argument itself wins, then the first of them that is not empty. */
  readonly aliases?: Readonly<Record<string, readonly string[] | undefined>>;
  /** The argument that is meant when the arguments are a bare text. */
  readonly rawArgument?: string;
}

/** Built-in tools, MCP servers, OpenAPI documents and sub-agents all look like this to the rest. */
export interface ToolSource {
  readonly name: string;
  list(): readonly ToolDescriptor[];
  argumentHints?(tool: string): ArgumentHints | undefined;
  /** What is wrong with arguments that fit the schema, as far as anybody can tell without running the tool. Never throws. */
  check?(tool: string, args: Readonly<Record<string, unknown>>): ToolError | undefined;
  /** Rejects with a ToolError or any error; never throws in another turn of the event loop. */
  call(tool: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput>;
  /** Calls back when `list()` changed; returns how to stop listening. */
  onChange(listener: () => void): () => void;
  close(): Promise<void>;
}

import type { StoredSource } from '#contracts';
import { ToolError, type ToolContext, type ToolOutput } from '#tool-sdk';
import type { OfferedTool } from './catalog/offered-tool.js';

/** Tools of a source. */
export interface Listing {
  readonly tools: readonly OfferedTool[];
  /** Parts that were left out, with the reason. */
  readonly problems?: readonly string[];
  /** Reason for which the source gave only the beginning of its list this time. */
  readonly broken?: string | undefined;
}

/** The call did not begin, and another connection may take it: this one is of no more use. */
export class NotBegun extends ToolError {}

/** An open source in one worker. All calls of the worker share it. */
export interface SourceConnection {
  /** All tools, complete. Rejects when the source cannot be asked. */
  list(signal: AbortSignal): Promise<Listing>;
  /** Rejects with a ToolError; any other error counts as `unavailable`. Follows `ctx.signal`. */
  call(rawName: string, args: Readonly<Record<string, unknown>>, ctx: ToolContext): Promise<ToolOutput>;
  /** Called when `list` may answer differently from now on. */
  onChange(listener: () => void): void;
  /** Called once when the connection is of no more use, other than by `close`. */
  onClosed(listener: (reason: string) => void): void;
  /** Called when new calls need another connection, which the source opens at once. Calls in progress may end on this one. */
  onExpired?(listener: () => void): void;
  /** Ends everything that belongs to it. Idempotent; never rejects. */
  close(): Promise<void>;
}

/** How sources of one kind are opened. A new kind is a new connector. */
export interface SourceConnector {
  /** Rejects with an error whose message has no secret and may be shown to administrators of the tenant. */
  open(source: StoredSource, signal: AbortSignal): Promise<SourceConnection>;
  /** Deletes the files of a source that was removed. Called after its connections were closed. */
  removed?(source: StoredSource): Promise<void>;
}

import type { PolicyConfig, Posture, SessionGrants, ToolDescriptor } from '#contracts';
import type { PatternAuthor } from './patterns/command-patterns.js';

/** Facts about a tool that policy reads; a ToolDescriptor fits. */
export type ToolFacts = Pick<ToolDescriptor, 'name' | 'aliases' | 'source' | 'pool' | 'tier' | 'effect' | 'subjects' | 'feature'>;

/** Everything a decision may look at; all of it values, so the same facts give the same answer anywhere. */
export interface CallFacts {
  readonly tool: ToolFacts;
  /** Validated arguments. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly posture: Posture;
  readonly policy: PolicyConfig;
  /** Author of the expressions of `policy`; default: the operator. */
  readonly patternsBy?: PatternAuthor;
  readonly grants: SessionGrants;
  /** Folder of the session's files; absolute. Base of relative paths in arguments. */
  readonly workspaceRoot: string;
}

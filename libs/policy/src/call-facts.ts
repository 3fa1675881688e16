import type { PolicyConfig, Posture, SessionGrants, ToolDescriptor } from '#contracts';
import type { PatternAuthor } from './patterns/command-patterns.js';

/** What policy looks at in a tool; a ToolDescriptor fits. */
export type ToolFacts = Pick<ToolDescriptor, 'name' | 'aliases' | 'source' | 'pool' | 'tier' | 'effect' | 'subjects' | 'feature'>;

/** Everything a decision may look at; all of it values, so the same facts give the same answer anywhere. */
export interface CallFacts {
  readonly tool: ToolFacts;
  /** Validated arguments. */
  readonly args: Readonly<Record<string, unknown>>;
  readonly posture: Posture;
  readonly policy: PolicyConfig;
  /** Who wrote the expressions of `policy`; the operator by default. */
  readonly patternsBy?: PatternAuthor;
  readonly grants: SessionGrants;
  /** Where the files of the call's session live; absolute. Relative paths of arguments begin here. */
  readonly workspaceRoot: string;
}

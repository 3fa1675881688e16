import type { ProcessCommand } from '#sandbox';
import type { EndedSession } from '../../session-ends.js';
import type { SessionOwner } from '../../session-owner.js';
import type { InterpreterLanguage } from './drivers.js';
import type { CodeReport, CodeRun } from './interpreter.js';

/** Whose interpreter it is: each user of a session has one of each language. */
export interface InterpreterKey extends SessionOwner {
  readonly language: InterpreterLanguage;
}

export interface InterpreterPlace {
  readonly key: InterpreterKey;
  /** What the call may see of the files, as a text: an interpreter that was started with another one is not used. */
  readonly view: string;
  /** Starts an interpreter for the call. */
  readonly command: ProcessCommand;
}

export interface InterpreterAnswer extends CodeReport {
  /** Why the code did not find the state of earlier code; absent when it did, or when there was none. */
  readonly lostBecause?: string;
}

/** Interpreters that keep their state from one call of a session to the next. The class is the injection token. */
export abstract class Interpreters {
  /**
   * Runs code in the interpreter of the key, which is started where there is none.
   * @throws ProcessStartError when it cannot start, ToolError `unavailable` when the worker has no room for another one
   */
  abstract run(place: InterpreterPlace, run: CodeRun): Promise<InterpreterAnswer>;

  /** The session was deleted: ends its interpreters, also in the middle of code. */
  abstract endOf(session: EndedSession): Promise<void>;

  /** Ends all interpreters of this process. Idempotent. */
  abstract close(): Promise<void>;
}

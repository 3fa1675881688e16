import type { ProcessCommand } from '#sandbox';
import type { EndedSession } from '../../session-ends.js';
import type { SessionOwner } from '../../session-owner.js';
import type { InterpreterLanguage } from './drivers.js';
import type { CodeReport, CodeRun } from './interpreter.js';

/** Owner and language: each user of a session has one interpreter of each language. */
export interface InterpreterKey extends SessionOwner {
  readonly language: InterpreterLanguage;
}

export interface InterpreterPlace {
  readonly key: InterpreterKey;
  /** Visible files of the call, as a text: an interpreter started with another one is not reused. */
  readonly view: string;
  /** Starts an interpreter for the call. */
  readonly command: ProcessCommand;
}

export interface InterpreterAnswer extends CodeReport {
  /** Reason why the state of earlier code was lost; absent if it was kept, or if there was none. */
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

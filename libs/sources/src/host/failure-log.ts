import { sourceKey, type SourceId } from '../source-id.js';

/** Failures before the second line of one reason. */
const QUIET = 12;
const SECONDS_LEFT = /\d+ s\b/g;

/** Logs the failures of one source: the first, one for another reason, and then twice as rarely each time. */
export class FailureLog {
  private failures = 0;
  private reason = '';
  private next = QUIET;

  constructor(
    private readonly source: SourceId,
    private readonly log: (message: string, facts: object) => void,
  ) {}

  failed(reason: string): void {
    this.failures += 1;
    const known = reason.replaceAll(SECONDS_LEFT, '') === this.reason;
    if (known && this.failures < this.next) return;
    this.reason = reason.replaceAll(SECONDS_LEFT, '');
    while (this.next <= this.failures) this.next *= 2;
    this.say(`${this.failures === 1 ? 'fails' : `is still failing (${this.failures}×)`}: ${reason}`);
  }

  works(): void {
    if (this.failures > 0) this.say(`works again after ${this.failures === 1 ? '1 failure' : `${this.failures} failures`}`);
    this.failures = 0;
    this.reason = '';
    this.next = QUIET;
  }

  private say(what: string): void {
    this.log(`source ${this.source.name} ${what}`, { source: sourceKey(this.source) });
  }
}

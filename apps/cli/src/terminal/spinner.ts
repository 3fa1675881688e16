import { duration } from './time-text.js';
import type { Terminal } from './terminal.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
/** What is over sooner needs no spinner. */
const QUIET_MS = 300;

/** Shows on stderr that something goes on, and for how long; nothing where nobody watches. */
export class Spinner {
  private readonly startedAt = performance.now();
  private frame = 0;
  private readonly timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly terminal: Terminal,
    private readonly text: () => string,
  ) {
    if (terminal.live) this.timer = setInterval(() => this.turn(), FRAME_MS);
  }

  /** Idempotent. */
  stop(): void {
    clearInterval(this.timer);
    this.terminal.clearStatus();
  }

  private turn(): void {
    const tookMs = performance.now() - this.startedAt;
    if (tookMs < QUIET_MS) return;
    this.frame = (this.frame + 1) % FRAMES.length;
    this.terminal.showStatus(`${FRAMES[this.frame] ?? ''} ${this.text()} · ${duration(tookMs)}`);
  }
}

import { duration } from './time-text.js';
import type { Terminal } from './terminal.js';

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'];
const FRAME_MS = 100;
/** Shorter waits show no spinner. */
const QUIET_MS = 300;

/**
 * Shows progress and elapsed time on stderr, if that is a terminal.
 *
 * No `yocto-spinner`: output may arrive at any time, and Terminal clears the status line before it writes data.
 */
export class Spinner {
  private readonly startedAt = performance.now();
  private frame = 0;
  private paused = false;
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

  /** Shows nothing during a question to a person. */
  pause(paused: boolean): void {
    this.paused = paused;
    this.terminal.clearStatus();
  }

  private turn(): void {
    if (this.paused) return;
    const tookMs = performance.now() - this.startedAt;
    if (tookMs < QUIET_MS) return;
    this.frame = (this.frame + 1) % FRAMES.length;
    this.terminal.showStatus(`${FRAMES[this.frame] ?? ''} ${this.text()} · ${duration(tookMs)}`);
  }
}

import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import type { Browser } from 'playwright-core';
import { findExecutable } from '#sandbox';
import { ToolError } from '#tool-sdk';
import type { BrowserSettings } from './browser.config.js';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome-stable', 'google-chrome'];
const LAUNCH_TIMEOUT_MS = 30_000;
/** Switches against traffic that bypasses the proxy, and against unbounded memory. */
const ARGUMENTS = [
  '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--webrtc-ip-handling-policy=disable_non_proxied_udp',
  '--disable-quic',
  // The proxy looks names up; a hint of a page to look one up early would carry data in it.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1',
  '--disable-dev-shm-usage',
  '--js-flags=--max-old-space-size=512',
];
/** Contexts have a proxy of their own; anything without one has no network. */
const NO_WAY_OUT = { server: 'http://127.0.0.1:1', bypass: '<-loopback>' };

export interface BrowserStatus {
  readonly ok: boolean;
  readonly detail: string;
}

/** Availability of pages in a process with these settings, determined without opening one. */
export function browserStatus(settings: BrowserSettings): BrowserStatus {
  return new BrowserEngine(settings).status();
}

/** The Chromium of this process, which is started for the first page and lives until `close`. */
export class BrowserEngine {
  private readonly executable: string | undefined;
  private running: Promise<Browser> | undefined;

  constructor(private readonly settings: BrowserSettings) {
    this.executable = settings.executable ?? findExecutable(NAMES);
  }

  /** Availability of pages, determined without opening one. */
  status(): BrowserStatus {
    const { mode } = this.settings;
    const failed = (detail: string): BrowserStatus => ({ ok: false, detail });
    if (mode === 'off') return failed('BROWSER switches it off on this worker');
    if (this.executable === undefined || !existsSync(this.executable))
      return failed(`there is no Chromium${this.executable === undefined ? '' : ` at ${this.executable}`}: install the package chromium`);
    if (!isInstalled())
      return failed('the npm package playwright-core is not installed: install it beside Toolyard, npm install playwright-core');
    if (mode === 'sandboxed' && process.getuid?.() === 0)
      return failed("Chromium's own sandbox does not work for root: run the worker as another user, or set BROWSER=unsandboxed");
    return { ok: true, detail: mode === 'sandboxed' ? "pages run in Chromium's own sandbox" : "pages run without Chromium's own sandbox" };
  }

  /** @throws ToolError `unavailable` with the reason */
  async browser(): Promise<Browser> {
    const { ok, detail } = this.status();
    if (!ok) throw new ToolError('unavailable', `browser is not available: ${detail}`, { retryable: false });
    if (this.running !== undefined) return this.running;
    const launched = this.launch();
    this.running = launched;
    const forget = (): void => {
      if (this.running === launched) this.running = undefined;
    };
    launched.then((browser) => browser.on('disconnected', forget), forget);
    return launched;
  }

  /** Idempotent. */
  async close(): Promise<void> {
    const running = this.running;
    this.running = undefined;
    await (await running?.catch(() => undefined))?.close().catch(() => undefined);
  }

  private async launch(): Promise<Browser> {
    try {
      return await library().chromium.launch({
        executablePath: this.executable,
        chromiumSandbox: this.settings.mode === 'sandboxed',
        args: ARGUMENTS,
        // Excludes the worker's environment, since it has secrets.
        env: { PATH: process.env['PATH'] ?? '', HOME: tmpdir(), LANG: 'C.UTF-8' },
        proxy: NO_WAY_OUT,
        timeout: LAUNCH_TIMEOUT_MS,
        handleSIGHUP: false,
        handleSIGINT: false,
        handleSIGTERM: false,
      });
    } catch (error) {
      const why = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
      throw new ToolError('unavailable', `browser is not available: Chromium could not be started: ${why.slice(0, 300)}`, {
        retryable: false,
        cause: error,
      });
    }
  }
}

const load = createRequire(import.meta.url);

function isInstalled(): boolean {
  try {
    return load.resolve('playwright-core') !== '';
  } catch {
    return false;
  }
}

/** An optional dependency, which is loaded for the first page only. */
function library(): typeof import('playwright-core') {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what the package exports
  return load('playwright-core') as typeof import('playwright-core');
}

import { Inject, Optional } from '@nestjs/common';
import { EgressPolicy, egressPolicyFrom } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutputObject } from '#tool-sdk';
import { egressFailure } from '../web/egress-failure.js';
import { ACTIONS, isTimeout, type PageAction } from './browser-actions.js';
import { type BrowserArguments, input, NEEDED } from './browser-arguments.js';
import { BrowserEngine } from './browser-engine.js';
import type { BrowserSession } from './browser-session.js';
import { SessionEnds } from '../session-ends.js';
import { type SessionOwner, sessionOwnerOf } from '../session-owner.js';
import { BrowserSessions } from './browser-sessions.js';
import { BROWSER_SETTINGS, type BrowserSettings, browserSettingsFrom } from './browser.config.js';

const SHOWN_CHARACTERS = 50_000;

/** A page that a session keeps open from call to call. */
@Tool({
  name: 'browser',
  label: 'Browser',
  description:
    'Opens web pages in a real browser (Chromium) and acts on them. The page stays open for the session until close, until it is unused for some minutes, or until its worker ends; ' +
    'it is on one worker: where another worker gets the call, it says that no page is open. Private, loopback and metadata addresses are blocked for everything that a page loads. ' +
    'Dialogs are dismissed, popups closed and downloads refused. An action may take 20 seconds. Text is cut at 50,000 characters. To read a page, web_fetch is faster.',
  input,
  tier: 'privileged',
  effect: 'once',
  pool: 'net',
  requires: ['browser'],
  subjects: [{ kind: 'url', argument: 'url' }],
  timeoutMs: 60_000,
  argumentAliases: { selector: ['ref', 'element'], url: ['uri', 'link'], ms: ['timeout_ms'] },
  examples: [
    { title: 'Open a page', arguments: { action: 'open', url: 'https://example.com/' } },
    { title: 'See what can be clicked', arguments: { action: 'snapshot', interactive_only: true } },
    { title: 'Click what the snapshot shows as @e3', arguments: { action: 'click', selector: '@e3' } },
  ],
})
export class BrowserTool {
  private readonly sessions: BrowserSessions;
  private readonly engine: BrowserEngine;

  constructor(
    @Optional() private readonly policy: EgressPolicy = egressPolicyFrom(process.env),
    @Optional() @Inject(BROWSER_SETTINGS) settings: BrowserSettings = browserSettingsFrom(process.env),
    @Optional() ends: SessionEnds = new SessionEnds(),
  ) {
    this.engine = new BrowserEngine(settings);
    this.sessions = new BrowserSessions(this.engine, policy, settings);
    ends.subscribe((session) => void this.sessions.endOf(session).catch(() => undefined));
  }

  check(args: BrowserArguments): void {
    const missing = (NEEDED[args.action] ?? []).find((name) => args[name] === undefined);
    if (missing !== undefined) throw new ToolError('invalid_arguments', `Missing '${missing}' for ${args.action}`);
    if (args.action === 'open' && args.url?.trim().toLowerCase().startsWith('file:') === true)
      throw new ToolError('policy_denied', 'file:// URLs are not allowed in browser automation');
  }

  async run(args: BrowserArguments, ctx: ToolContext): Promise<ToolOutputObject> {
    this.check(args);
    const owner = sessionOwnerOf(ctx);
    if (owner === undefined) throw new ToolError('invalid_arguments', 'browser needs a session: submit the call with a sessionId');
    if (args.action === 'close') {
      const text = (await this.sessions.closeOf(owner)) ? 'Closed the page' : 'No page is open';
      return { content: [{ type: 'text', text }] };
    }
    const policy = this.policy.limitedTo(ctx.egress);
    const session = await this.sessionFor(args, owner, policy);
    return this.act(args.action, args, { session, policy }, ctx);
  }

  /** Called by Nest when the process ends. */
  async onApplicationShutdown(): Promise<void> {
    await this.sessions.close();
  }

  private async sessionFor({ action, url }: BrowserArguments, owner: SessionOwner, policy: EgressPolicy): Promise<BrowserSession> {
    if (action === 'open') {
      try {
        policy.check(url ?? '');
      } catch (error) {
        throw egressFailure(error);
      }
      return this.sessions.open(owner);
    }
    const found = await this.sessions.find(owner);
    if (found !== undefined) return found;
    // Says so where there can be none.
    const { ok, detail } = this.engine.status();
    if (!ok) throw new ToolError('unavailable', `browser is not available: ${detail}`, { retryable: false });
    throw new ToolError('tool_failed', 'No page is open in this session on this worker. Use the action open first.', { retryable: false });
  }

  private async act(action: PageAction, args: BrowserArguments, { session, policy }: Visit, ctx: ToolContext): Promise<ToolOutputObject> {
    const { page } = session;
    const answer = await session
      .run(() => ACTIONS[action](page, args, session), policy, ctx.signal)
      .catch((error: unknown) => {
        ctx.signal.throwIfAborted();
        throw failure(error, args, session);
      });
    const notes = session.takeNotes().map((note) => `\n[${note}]`);
    const details = { action, url: page.url() };
    if (typeof answer !== 'string')
      return { content: [answer, ...(notes.length > 0 ? [{ type: 'text' as const, text: notes.join('').trim() }] : [])], details };
    const cut = answer.length > SHOWN_CHARACTERS;
    const shown = cut
      ? `${ctx.redact(answer.slice(0, SHOWN_CHARACTERS), true)}\n[${answer.length - SHOWN_CHARACTERS} more characters]`
      : answer;
    return { content: [{ type: 'text', text: shown + notes.join('') }], details };
  }
}

interface Visit {
  readonly session: BrowserSession;
  /** Policy of this call. */
  readonly policy: EgressPolicy;
}

/** Playwright's messages have a log below their first line. */
function failure(error: unknown, { action, selector, url }: BrowserArguments, session: BrowserSession): unknown {
  if (error instanceof ToolError || !(error instanceof Error)) return error;
  const fault = action === 'open' ? session.navigationFault() : undefined;
  if (fault !== undefined)
    return new ToolError(fault.blocked ? 'policy_denied' : 'tool_failed', fault.message, { retryable: false, cause: error });
  if (isTimeout(error)) {
    const seconds = `${session.actionMs / 1_000} s`;
    const what =
      selector === undefined
        ? `${action} took longer than ${seconds}`
        : `${selector} did not appear, or could not be used within ${seconds}`;
    return new ToolError('tool_failed', `Timed out: ${what}. Use the action snapshot to see the page.`, {
      retryable: false,
      cause: error,
    });
  }
  if (action === 'open' && error.message.includes('Download is starting'))
    return new ToolError('tool_failed', 'The address is a download, which is refused. Use web_fetch or http_request to read it.', {
      retryable: false,
      cause: error,
    });
  const [line = ''] = error.message.replace(/^(?:Error: )?\w+\.\w+: /, '').split('\n');
  return new ToolError('tool_failed', `${action}${url === undefined ? '' : ` ${url.slice(0, 200)}`} failed: ${line.slice(0, 300)}`, {
    retryable: false,
    cause: error,
  });
}

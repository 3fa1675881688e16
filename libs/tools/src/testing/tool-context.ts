import type { Content, ProgressData } from '#contracts';
import type { ToolContext } from '#tool-sdk';

/** A ToolContext for tests that records updates and progress. */
export interface FakeToolContext extends ToolContext {
  readonly updates: (readonly Content[])[];
  readonly progress: ProgressData[];
  readonly logged: { readonly level: 'debug' | 'warn'; readonly message: string; readonly facts?: object }[];
  /** The text of all updates in the order they came. */
  updatedText(): string;
}

/**
 * A context as a worker would make it, with only what the test cares about replaced. The workspace is a path that does
 * not exist: a test of a tool that touches files gives its own. The signal never aborts by itself.
 */
export function fakeToolContext(overrides: Partial<ToolContext> = {}): FakeToolContext {
  const updates: (readonly Content[])[] = [];
  const progress: ProgressData[] = [];
  const logged: FakeToolContext['logged'] = [];
  return {
    callId: '07-01JZ8C5W3Q4X9R7T2M6K8N0P1V',
    toolName: 'tool_under_test',
    attempt: 1,
    fence: 1,
    tenantId: 'default',
    signal: new AbortController().signal,
    deadline: Date.now() + 60_000,
    graceMs: 1_000,
    sinceFirstStartMs: 0,
    workspace: { root: '/nonexistent/toolyard-workspace' },
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin' },
    log: {
      debug: (message, facts) => void logged.push({ level: 'debug', message, ...(facts && { facts }) }),
      warn: (message, facts) => void logged.push({ level: 'warn', message, ...(facts && { facts }) }),
    },
    onUpdate: (content) => void updates.push(content),
    redact: (text) => text,
    conceal: () => {},
    onProgress: (step) => void progress.push(step),
    ...overrides,
    updates,
    progress,
    logged,
    updatedText: () =>
      updates
        .flat()
        .flatMap((item) => (item.type === 'text' ? [item.text] : []))
        .join(''),
  };
}

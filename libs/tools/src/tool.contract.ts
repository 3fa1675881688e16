import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Content, ToolDescriptor } from '#contracts';
import { randomArguments } from './testing/random-arguments.js';
import { fakeToolContext } from './testing/tool-context.js';
import { Suspension, type ToolContext, ToolError, type ToolOutput, type ToolRegistry, type ToolSource } from '#tool-sdk';

/** Less than the minute after which a command is ended in any case. */
const SETTLES_MS = 50_000;

export interface ToolContractSubject {
  readonly registry: ToolRegistry;
  /** New workspace with content for the examples. */
  workspace(): Promise<{ root: string; snapshot(): Promise<string>; remove(): Promise<void> }>;
  /** Tools whose examples act outside the workspace, and are not run to their end. */
  readonly notRun?: readonly string[];
  /** Arguments with which a tool would run for minutes. `begun` is called when it runs; the first update of its output does so too. */
  readonly slow?: (begun: () => void) => Readonly<Record<string, Record<string, unknown>>>;
  /** Further fields of a tool's context. */
  readonly contexts?: Readonly<Record<string, Partial<ToolContext>>>;
  /** More texts that are awkward for one tool. */
  readonly texts?: Readonly<Record<string, readonly string[]>>;
}

/** Contract of every tool of every source. `names` are known before the subject is created, so that each tool has tests of its own. */
export function toolContract(names: readonly string[], subject: () => ToolContractSubject): void {
  describe.each(names)('the tool %s', (name) => {
    let workspace: Awaited<ReturnType<ToolContractSubject['workspace']>>;
    beforeEach(async () => void (workspace = await subject().workspace()));
    afterEach(() => workspace.remove());

    const tool = (): ToolDescriptor => resolved(subject().registry, name);
    const run = (raw: Record<string, unknown> | string, overrides: Partial<ToolContext> = {}): Promise<ToolOutput> =>
      call(subject().registry, name, raw, fakeToolContext({ toolName: name, workspace, ...subject().contexts?.[name], ...overrides }));
    const runs = (): boolean => !(subject().notRun ?? []).includes(name);

    it('describes the tool itself [RP-12, RP-13]', () => {
      expect(ToolDescriptor.parse(tool())).toEqual(tool());
      expect(tool().description.length).toBeGreaterThan(20);
      expect(tool().examples.length).toBeGreaterThan(0);
      for (const alias of tool().aliases) expect(subject().registry.resolve(alias)).toBe(tool());
    });

    it('shows examples of the tool that are valid and run [RP-01, RP-13]', async () => {
      for (const example of tool().examples) {
        const raw = JSON.stringify(example.arguments);
        expect(subject().registry.validateArguments(name, raw)).toMatchObject({ ok: true });
        if (runs()) expectOutput(await settled(run(raw)));
      }
    });

    it('answers 500 random inputs of the tool with content or a coded failure only [CC-49, RP-13]', async () => {
      await fc.assert(
        fc.asyncProperty(randomArguments(tool(), subject().texts?.[name] ?? []), async (raw) => {
          expectOutput(await settled(run(raw)));
        }),
        { numRuns: 500 },
      );
    }, 180_000);

    it('touches nothing if a call of the tool is cancelled before it starts [EX-26, RP-13]', async () => {
      const before = await workspace.snapshot();
      const reason = new ToolError('cancelled', 'Cancelled');
      expect(await settled(run(firstExample(tool()), { signal: AbortSignal.abort(reason) }))).toBe(reason);
      expect(await workspace.snapshot()).toBe(before);
    });

    it('touches nothing if the time of a call of the tool is over before it starts [RP-13]', async () => {
      const before = await workspace.snapshot();
      expect(await settled(run(firstExample(tool()), { deadline: Date.now() - 1 }))).toMatchObject({ code: 'run_timeout' });
      expect(await workspace.snapshot()).toBe(before);
    });

    it('ends a call of the tool soon when it is cancelled while it runs', async () => {
      const controller = new AbortController();
      const cancel = () => controller.abort(new ToolError('cancelled', 'Cancelled'));
      const slow = subject().slow?.(cancel)[name];
      const running = run(slow ?? firstExample(tool()), { signal: controller.signal, onUpdate: cancel });
      if (slow === undefined) setImmediate(cancel);
      const outcome = await settled(running);
      expectOutput(outcome);
      if (slow !== undefined) expect(outcome).toMatchObject({ code: 'cancelled' });
    });
  });
}

function resolved(registry: ToolRegistry, name: string): ToolDescriptor {
  const tool = registry.resolve(name);
  if (!tool) throw new Error(`${name} is not registered`);
  return tool;
}

async function call(registry: ToolRegistry, name: string, raw: Record<string, unknown> | string, ctx: ToolContext): Promise<ToolOutput> {
  const prepared = registry.validateArguments(name, raw);
  if (!prepared.ok) throw new ToolError(prepared.failure.code, prepared.failure.message, { errors: prepared.failure.errors });
  const source: ToolSource = registry.source(name);
  return source.call(prepared.tool.name, prepared.args, ctx);
}

/** Result or error of a run within the time. */
async function settled(running: Promise<ToolOutput>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise(
    (_resolve, reject) => (timer = setTimeout(() => reject(new Error(`not settled after ${SETTLES_MS} ms`)), SETTLES_MS)),
  );
  const outcome = running.catch((error: unknown) => error);
  return Promise.race([outcome, late]).finally(() => clearTimeout(timer));
}

function expectOutput(outcome: unknown): void {
  if (typeof outcome === 'string' || outcome instanceof Suspension) return;
  if (outcome instanceof ToolError) return expectFailure(outcome);
  const content: unknown = Array.isArray(outcome) ? outcome : contentOf(outcome);
  expect(Content.array().min(1).safeParse(content).error).toBeUndefined();
}

function expectFailure(failure: ToolError): void {
  expect(failure.message).not.toBe('');
  // Neither a stack nor a path of this machine is for the model. Output of a command is quoted unchanged.
  const [own = ''] = failure.message.split('\n\nLast output:');
  expect(own).not.toMatch(/\n\s+at |\/proc\/self|toolyard-ws-/);
}

function contentOf(outcome: unknown): unknown {
  if (outcome instanceof Error) throw outcome;
  return typeof outcome === 'object' && outcome !== null && 'content' in outcome ? outcome.content : outcome;
}

function firstExample(tool: ToolDescriptor): string {
  return JSON.stringify(tool.examples[0]?.arguments ?? {});
}

import { ToolyardError } from '#client';
import type { Call } from '#contracts';
import type { CommandContext } from '../command-context.js';
import { ask, forgetTypedAhead } from '../terminal/ask.js';
import { argumentLines } from '../terminal/argument-lines.js';
import type { CallSubjects } from '../terminal/call-subjects.js';
import { oneLine } from '../terminal/safe-text.js';
import { visible } from '../terminal/visible-text.js';
import { wrapLine } from '../terminal/wrap-line.js';
import { UsageError } from '../usage-error.js';
import { alwaysChoices, answerOf, mayNever, type AlwaysChoice, type Answer } from './answer.js';
import { editArguments } from './edit-arguments.js';

type Body = Parameters<CommandContext['client']['calls']['decide']>[1];

export interface AskOptions {
  /** `call` asks about the one call, `approvals` goes through a list that the person may leave. */
  readonly style: 'call' | 'list';
  /** Withdraws the question after another person has answered. */
  readonly signal?: AbortSignal;
}

/**
 * Asks the person at this terminal until the call is decided or left for later. A refusal of the gateway is shown, and asked again
 * if another answer may help.
 */
export async function decideAtTerminal(
  context: CommandContext,
  call: Call,
  subjects: CallSubjects,
  options: AskOptions,
): Promise<'decided' | 'skipped' | 'quit'> {
  const { terminal, interrupts, client } = context;
  for (;;) {
    forgetTypedAhead();
    const text = await ask(terminal.stderrColour('cyan', `${hint(call, options.style)} `), interrupts, options.signal);
    const answer = text === undefined ? 'quit' : answerOf(text);
    if (answer === undefined || !isOffered(call, answer)) {
      for (const line of meanings(call, options.style, terminal.errorWidth)) terminal.note(line);
      continue;
    }
    if (answer === 'skip') return 'skipped';
    if (answer === 'quit') return 'quit';
    try {
      const body = await bodyOf(context, call, subjects, answer, options);
      if (body === undefined) continue;
      const { outcome, status } = await client.calls.decide(call.id, body);
      terminal.note(body.decision === 'deny' ? 'Denied.' : `Allowed; the call is ${outcome ?? status}.`);
      return 'decided';
    } catch (error) {
      if (!(error instanceof ToolyardError || error instanceof UsageError)) throw error;
      terminal.note(error.message, 'red');
      if (error instanceof ToolyardError && error.code !== 'invalid_arguments' && error.code !== 'invalid_request') return 'skipped';
    }
  }
}

/** Rules for later calls are offered only if the gateway accepts them. */
function isOffered({ tool, approval }: Call, answer: Answer): boolean {
  if (answer === 'always') return approval !== undefined && alwaysChoices(tool, approval).length > 0;
  return answer !== 'never' || (approval !== undefined && mayNever(approval));
}

/** Possible answers to this call, each with its effect. */
function choicesOf(call: Call, style: AskOptions['style']): (readonly [word: string, meaning: string])[] {
  const [always, never] = [isOffered(call, 'always'), isOffered(call, 'never')];
  return [
    ['[y]es', 'this call runs'],
    ...(always ? [['[a]lways', 'it runs; you choose what runs without asking in this session from now on'] as const] : []),
    ['[n]o', 'it does not run; you can say why'],
    ...(never ? [['ne[v]er', `it does not run, and no call of ${call.tool} in this session`] as const] : []),
    ['[e]dit', 'change its arguments, then allow it'],
    ['[l]ater', 'it goes on waiting'],
    ...(style === 'call' ? [] : [['[q]uit', 'this one and the rest go on waiting'] as const]),
  ];
}

function hint(call: Call, style: AskOptions['style']): string {
  const words = choicesOf(call, style).map(([word]) => word);
  return `${style === 'call' ? 'May it run? ' : ''}${words.join(' ')}?`;
}

/** Explanation after an unknown answer. */
function meanings(call: Call, style: AskOptions['style'], width: number): string[] {
  const lines = choicesOf(call, style).flatMap(([word, meaning]) => wrapLine(`  ${word.padEnd(9)} ${meaning}`, width, 12));
  return ['Type a letter, then Enter:', ...lines];
}

/** Undefined to ask again. */
async function bodyOf(
  context: CommandContext,
  call: Call,
  subjects: CallSubjects,
  answer: 'allow' | 'always' | 'deny' | 'never' | 'edit',
  { signal }: AskOptions,
): Promise<Body | undefined> {
  const { terminal, interrupts } = context;
  const { approval, tool } = call;
  switch (answer) {
    case 'allow':
      return { decision: 'allow' };
    case 'deny': {
      const reason = await ask('Reason for the agent (Enter for none): ', interrupts, signal);
      return reason === undefined ? undefined : { decision: 'deny', ...(reason === '' ? {} : { reason }) };
    }
    case 'never':
      return { decision: 'deny', scope: 'session-tool' };
    case 'always': {
      const choice = await chooseAlways(context, approval === undefined ? [] : alwaysChoices(tool, approval), signal);
      return choice && { decision: 'allow', ...choice.body };
    }
    case 'edit': {
      if (call.argumentsRedacted === true)
        terminal.note('These arguments hold secrets, which are not shown: write them in again, or allow the call without an edit.');
      const edited = editArguments(call, subjects.of(tool), process.env);
      if (edited === undefined) {
        terminal.note('Nothing was changed.');
        return undefined;
      }
      for (const line of argumentLines(edited, subjects.of(tool), terminal, false)) terminal.line(`    ${line}`);
      forgetTypedAhead();
      const sure = await ask('Allow it with these arguments? [y/N] ', interrupts, signal);
      return /^y(es)?$/i.test(sure ?? '') ? { decision: 'allow', arguments: edited } : undefined;
    }
    default:
      return answer satisfies never;
  }
}

async function chooseAlways(
  { terminal, interrupts }: CommandContext,
  choices: readonly AlwaysChoice[],
  signal: AbortSignal | undefined,
): Promise<AlwaysChoice | undefined> {
  // Never cut: a person must see all that would be trusted.
  terminal.note('From now on in this session, without asking:');
  for (const [index, { label }] of choices.entries())
    terminal.note(`  ${index + 1}  ${oneLine(visible(label, true), Number.POSITIVE_INFINITY)}`);
  const text = await ask(`Which? 1 to ${choices.length}, or Enter to go back: `, interrupts, signal);
  return choices[Number(text) - 1];
}

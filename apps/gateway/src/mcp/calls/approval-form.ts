import { z } from 'zod';
import type { Call, ToolDescriptor } from '#contracts';
import type { ElicitationForm } from './tool-call.js';

/** Name of the approval among the input requests of a call. A call requests approval at most once. */
export const APPROVAL = 'approval';

const MESSAGE_CHARS = 4_000;
/** Most characters of arguments that can be edited in a client's form. */
const EDITABLE_CHARS = 2_000;

/** Text of the form besides the call. */
export interface FormFacts {
  readonly descriptor: ToolDescriptor | undefined;
  /** Place where people can read the whole call. */
  readonly whereToRead: string;
}

/**
 * Approval form for the client's user: the tool, its effect, the reasons, and the arguments as the log shows them. Short
 * arguments without secrets can be edited.
 */
export function approvalForm(call: Call, { descriptor, whereToRead }: FormFacts): ElicitationForm {
  const { tool, arguments: args, approval } = call;
  const effect = descriptor === undefined ? [] : [`Effect: ${descriptor.tier}, ${effectOf(descriptor)}`];
  const reasons = (approval?.reasons ?? []).map((reason) => `Why you are asked: ${reason}`);
  const lines = [`May the tool ${tool} run?`, ...effect, ...reasons, 'Arguments:'].join('\n');
  const shown = JSON.stringify(args, null, 2);
  const left = Math.max(0, MESSAGE_CHARS - lines.length);
  const rest = `[${shown.length - left} more characters are not shown. Read all ${whereToRead} before you approve]`;
  const message = `${lines}\n${shown.length <= left ? shown : `${shown.slice(0, left).toWellFormed()}\n${rest}`}`;
  const text = JSON.stringify(args);
  const isEditable = call.argumentsRedacted !== true && text.length <= EDITABLE_CHARS && shown.length <= left;
  return {
    mode: 'form',
    message,
    requestedSchema: {
      type: 'object',
      properties: {
        approve: { type: 'boolean', title: 'Run it', description: 'Let this call run once.' },
        ...(isEditable ? { arguments: { ...EDIT, default: text } } : {}),
      },
      required: ['approve'],
    },
  };
}

const EDIT = {
  type: 'string',
  title: 'Arguments',
  description: 'Change them here, as one JSON object. Without a change the call runs with those above.',
} as const;

/** `dismissed`: the user has not decided, and another person may. */
export interface FormAnswer {
  readonly decision: 'allow' | 'deny' | 'dismissed';
  /** Content of the arguments field; only with `allow`. */
  readonly arguments?: string | undefined;
}

const Answer = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.looseObject({ approve: z.boolean().optional(), arguments: z.string().optional() }).nullish(),
});

/** Undefined without an answer to the form. An accepted form without approval is a denial. */
export function formAnswer(response: unknown): FormAnswer | undefined {
  const answer = Answer.safeParse(response).data;
  if (answer === undefined) return undefined;
  if (answer.action === 'cancel') return { decision: 'dismissed' };
  if (answer.action !== 'accept' || answer.content?.approve !== true) return { decision: 'deny' };
  return { decision: 'allow', arguments: answer.content.arguments };
}

export function answerIn(responses: Readonly<Record<string, unknown>> | undefined): FormAnswer | undefined {
  return formAnswer(responses?.[APPROVAL]);
}

function effectOf({ effect }: ToolDescriptor): string {
  switch (effect) {
    case 'pure':
      return 'changes nothing';
    case 'idempotent':
    case 'keyed':
      return 'a second run changes nothing more';
    case 'once':
      return 'cannot be taken back by running it again';
    default:
      return effect satisfies never;
  }
}

import { z } from 'zod';
import type { Call, ToolDescriptor } from '#contracts';
import type { ElicitationForm } from './tool-call.js';

/** The name of the question among the input requests of a call. A call asks it once. */
export const APPROVAL = 'approval';

const MESSAGE_CHARS = 4_000;

/** The question for the client's user: the tool, what it does, why a person is asked, and the arguments as the log shows them. */
export function approvalForm({ tool, arguments: args, approval }: Call, descriptor: ToolDescriptor | undefined): ElicitationForm {
  const effect = descriptor === undefined ? [] : [`Effect: ${descriptor.tier}, ${effectOf(descriptor)}`];
  const reasons = (approval?.reasons ?? []).map((reason) => `Why you are asked: ${reason}`);
  const lines = [`May the tool ${tool} run?`, ...effect, ...reasons, 'Arguments:'].join('\n');
  const shown = JSON.stringify(args, null, 2);
  const left = Math.max(0, MESSAGE_CHARS - lines.length);
  const message = `${lines}\n${shown.length <= left ? shown : `${shown.slice(0, left).toWellFormed()}\n[the rest is not shown]`}`;
  return {
    mode: 'form',
    message,
    requestedSchema: {
      type: 'object',
      properties: { approve: { type: 'boolean', title: 'Run it', description: 'Let this call run once.' } },
      required: ['approve'],
    },
  };
}

/** `dismissed`: the user has not decided, so that anybody else still may. */
export type FormAnswer = 'allow' | 'deny' | 'dismissed';

const Answer = z.looseObject({
  action: z.enum(['accept', 'decline', 'cancel']),
  content: z.looseObject({ approve: z.boolean().optional() }).nullish(),
});

/** Undefined without an answer to the question. An acceptance of the form without a yes in it is a no. */
export function formAnswer(response: unknown): FormAnswer | undefined {
  const answer = Answer.safeParse(response).data;
  if (answer === undefined) return undefined;
  if (answer.action === 'cancel') return 'dismissed';
  return answer.action === 'accept' && answer.content?.approve === true ? 'allow' : 'deny';
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

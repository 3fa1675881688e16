import { Optional } from '@nestjs/common';
import { z } from 'zod';
import { SESSION_MESSAGE } from '#contracts';
import { imageType, readWorkspaceFile, resolveFile } from '#sandbox';
import { Tool, type ToolContext, ToolError, type ToolOutput } from '#tool-sdk';
import { NoToolGateway, ToolGateway } from '../gateway/tool-gateway.port.js';

const LIMIT = { bytes: 20 * 1_048_576, hint: 'Send a smaller file, or its path in the text.' };

const status = SESSION_MESSAGE.status.describe('"normal" answers the user; "proactive" is something that the user did not ask for.');
const message = z.string().max(4_000).describe('What to say, at most 4,000 characters.');

const input = z.strictObject({
  message,
  status,
  attachments: z
    .array(z.string().min(1).max(1_024))
    .max(10)
    .optional()
    .describe('Paths of files in the workspace, at most 10 of at most 20 MiB.'),
});

/** Arguments for the gateway, with the resolved attachments. */
export const UserMessageArguments = z.object({ message, status, attachments: SESSION_MESSAGE.attachments });

/**
 * Sends a message to the people who watch the session, without waiting for an answer, unlike `ask_user`. Handled by
 * apps/gateway/src/gateway-tools/session-tools.service.ts.
 */
@Tool({
  name: 'send_user_message',
  label: 'Tell the user',
  description:
    'Shows a message to the people who watch the session, with files of the workspace by their paths, and answers {message, attachments, sentAt}. It waits for no answer; ask_user asks a question. Needs a session.',
  input,
  tier: 'read_only',
  effect: 'keyed',
  subjects: [{ kind: 'path', argument: 'attachments', access: 'read' }],
  timeoutMs: 30_000,
  examples: [{ title: 'Half done', arguments: { message: 'The tests are green; I begin the release.', status: 'proactive' } }],
})
export class SendUserMessageTool {
  constructor(@Optional() private readonly gateway: ToolGateway = new NoToolGateway()) {}

  check(args: z.output<typeof input>): void {
    if (args.message.trim() === '') throw new ToolError('invalid_arguments', 'message must not be empty');
  }

  async run(args: z.output<typeof input>, ctx: ToolContext): Promise<ToolOutput> {
    const attachments: z.output<typeof SESSION_MESSAGE.attachments> = [];
    for (const path of args.attachments ?? []) attachments.push(await attachment(path, ctx));
    return this.gateway.run(ctx, { message: args.message, status: args.status, attachments });
  }
}

async function attachment(path: string, ctx: ToolContext): Promise<{ path: string; size: number; isImage: boolean }> {
  const place = resolveFile(ctx.workspace, path, 'read');
  const { bytes } = await readWorkspaceFile(place, LIMIT, ctx.signal);
  return { path: place.path.displayPath, size: bytes.length, isImage: imageType(bytes) !== undefined };
}

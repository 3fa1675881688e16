import { Injectable } from '@nestjs/common';
import type { JsonSchema, JsonValue, PermissionMode, ToolAnswer } from '#contracts';
import { compileForeignSchema } from '#tool-sdk';
import { ConfigArguments, parseSetting, PERMISSION_SETTING, SESSION_SETTINGS, UserMessageArguments } from '#tools';
import { EffectivePolicyService } from '../calls/admission/effective-policy.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { SessionDataStore } from '../sessions/session-data-store.service.js';
import { SessionEventPublisher } from '../sessions/session-event-publisher.service.js';
import { SessionStore } from '../sessions/session-store.service.js';
import { jsonOutput, sessionOf, type ToolCall, type ToolHandler } from './tool-call.js';

/** Permission modes for the names that other agents use. */
const MODES: Readonly<Record<string, PermissionMode>> = {
  plan: 'read-only',
  default: 'prompt',
  acceptEdits: 'workspace-write',
  dontAsk: 'allow',
  auto: 'allow',
};

/** Settings and answers of a session, and messages to the people who watch it. */
@Injectable()
export class SessionTools {
  readonly handlers: Readonly<Record<string, ToolHandler>> = {
    config: (call) => this.config(call),
    structured_output: (call) => this.structuredOutput(call),
    send_user_message: (call) => this.sendUserMessage(call),
  };

  constructor(
    private readonly data: SessionDataStore,
    private readonly sessions: SessionStore,
    private readonly policies: EffectivePolicyService,
    private readonly events: SessionEventPublisher,
    private readonly redaction: RedactionConfigService,
  ) {}

  private async config(call: ToolCall): Promise<ToolAnswer> {
    const { setting, value } = ConfigArguments.parse(this.withoutSecrets(call));
    const session = sessionOf(call);
    const { settings = {} } = await this.data.read(call.principal.tenantId, session.sessionId);
    const previousValue = settings[setting] ?? null;
    const parsed = parseSetting(setting, value ?? '');
    const operation = value === undefined ? 'get' : 'set';
    const isKnown = Object.hasOwn(SESSION_SETTINGS, setting);
    if ('error' in parsed && (value !== undefined || !isKnown))
      return {
        kind: 'output',
        isError: true,
        content: [
          {
            type: 'json',
            json: {
              success: false,
              operation,
              setting,
              error: parsed.error,
              ...(isKnown ? {} : { settings: Object.keys(SESSION_SETTINGS) }),
            },
          },
        ],
      };
    if (value === undefined || 'error' in parsed) return jsonOutput({ success: true, operation, setting, value: previousValue });
    if (setting === PERMISSION_SETTING) await this.tighten(call, session.sessionId, MODES[String(parsed.value)] ?? 'allow');
    await this.data.change(session, (before) => ({ settings: { ...before.settings, [setting]: parsed.value } }));
    return jsonOutput({ success: true, operation, setting, value: parsed.value, previousValue, newValue: parsed.value });
  }

  /** @throws ProblemError `forbidden` for a looser mode than the session's */
  private async tighten({ principal, agentId }: ToolCall, sessionId: string, mode: PermissionMode): Promise<void> {
    const { posture } = await this.policies.of(principal, { sessionId, agentId });
    await this.sessions.tighten(principal, sessionId, mode, posture);
  }

  private async structuredOutput({ args, principal, sessionId }: ToolCall): Promise<ToolAnswer> {
    const { outputSchema } = await this.sessions.state(principal.tenantId, sessionId);
    const errors = outputSchema === undefined ? [] : violations(outputSchema, args);
    if (errors.length === 0) return jsonOutput({ data: 'Structured output provided successfully', structured_output: { ...args } });
    const message = `The object does not fit the schema of the session: ${errors.map((it) => `${it.pointer || '/'}: ${it.message}`).join('; ')}`;
    return { kind: 'failed', code: 'invalid_arguments', message, errors };
  }

  private async sendUserMessage(call: ToolCall): Promise<ToolAnswer> {
    const { message, status, attachments } = UserMessageArguments.parse(this.withoutSecrets(call));
    const { sessionId } = sessionOf(call);
    const data = { callId: call.callId, message: this.redaction.of(call.principal.tenantId).text(message), status, attachments };
    await this.events.send(call.principal, sessionId, 'session.message', data);
    return jsonOutput({ message: data.message, attachments, sentAt: new Date().toISOString() });
  }

  private withoutSecrets({ args, principal }: ToolCall): unknown {
    return this.redaction.of(principal.tenantId).redactor.json(args).value;
  }
}

function violations(schema: JsonSchema, value: JsonValue) {
  return compileForeignSchema(schema)(structuredClone(value));
}

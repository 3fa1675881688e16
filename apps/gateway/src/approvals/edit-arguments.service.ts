import { isDeepStrictEqual } from 'node:util';
import { Injectable } from '@nestjs/common';
import {
  ProblemError,
  type Call,
  type CallError,
  type EditedArguments,
  type HookRunData,
  type JsonValue,
  type Principal,
  type SubmitCallBody,
} from '#contracts';
import { argumentRefs, BlobStore, CallStore } from '#event-log';
import { argumentBytesResult } from '#limits';
import { approvalDigest } from '#policy';
import { REDACTED } from '#redaction';
import { sha256Hex } from '#redis';
import { BeforeHooks, hooksApply } from '../calls/admission/before-hooks.service.js';
import { CallEvaluator } from '../calls/admission/call-evaluator.service.js';
import type { EvaluatedCall } from '../calls/admission/evaluated-call.js';
import { cutPreview, INLINE_BYTES, SECRET_SLACK_MS } from '../calls/admission/new-call.js';
import { redactSubmission } from '../calls/admission/redact-call.js';
import { StoredRules } from '../governance/stored-rules.service.js';
import { LimitConfigService } from '../governance/limit-config.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { inBody } from '../platform/http/rejection.js';
import { argumentChanges } from './argument-changes.js';
import { numberAfterEvents } from './hook-run-numbers.js';

/** Validated arguments of an approver, not yet stored. */
export interface PreparedEdit {
  readonly edited: EditedArguments;
  readonly hookRuns: readonly HookRunData[];
  /** Bytes that `store` stores. */
  readonly keptBytes: number;
  /** Stores values that are too large for the event. Called before the decision is written, and after it: an equal edit may discard them. */
  readonly store: () => Promise<void>;
  /** Deletes the values after the decision has failed, unless the call has an equal edit, as decided or as deferred. */
  readonly discard: (deferredDigest: string | undefined) => Promise<void>;
}

interface EditRequest {
  readonly call: Call;
  /** Submitting key: the edit has its rights, not the approver's. */
  readonly submitter: Principal;
  readonly given: Record<string, JsonValue>;
}

/** Bytes reserved for the changes in the same event. */
const CHANGES_BYTES = 1_500;

const PLACEHOLDER = `The arguments have a placeholder (${REDACTED}) for a secret: give the value itself, or allow the call without an edit`;

/**
 * Validates the arguments that an approver gives in place of the submitted ones, as if the submitter had sent them now. Steps:
 * no placeholders → size → tool, schema, posture and policy → all hooks before the call → redaction. A denial rejects the edit
 * and not the call, which continues to wait. The decision itself satisfies a policy that requires approval.
 */
@Injectable()
export class ArgumentEditor {
  constructor(
    private readonly evaluator: CallEvaluator,
    private readonly hooks: BeforeHooks,
    private readonly limits: LimitConfigService,
    private readonly rules: StoredRules,
    private readonly redaction: RedactionConfigService,
    private readonly calls: CallStore,
    private readonly blobs: BlobStore,
  ) {}

  /** @throws ProblemError with the reason why these arguments may not run */
  async prepare(request: EditRequest): Promise<PreparedEdit> {
    const { call, given } = request;
    const text = JSON.stringify(given);
    if (text.includes(REDACTED)) throw invalid(call, PLACEHOLDER);
    this.assertSize(call, Buffer.byteLength(text));
    const body = bodyOf(call, given);
    const evaluated = this.accepted(request, await this.evaluator.evaluate(request.submitter, body));
    const hooked = await this.runHooks(request, body, evaluated);
    return this.redacted(call, body, evaluated, await numberAfterEvents(this.calls, call.id, hooked.hookRuns ?? []));
  }

  private assertSize({ id, tenantId, agentId }: Call, bytes: number): void {
    const { argumentBytes } = this.limits.of(tenantId, agentId);
    const { rejection } = argumentBytes === undefined ? {} : argumentBytesResult(bytes, argumentBytes);
    if (rejection !== undefined) throw new ProblemError(rejection.code, rejection.message, { callId: id });
  }

  /** Runs all hooks on the edited arguments, also those that ran before the approval request. None may rewrite them. */
  private async runHooks({ call, submitter }: EditRequest, body: SubmitCallBody, evaluated: EvaluatedCall): Promise<EvaluatedCall> {
    const { hooks } = evaluated;
    if (hooks === undefined || !hooksApply(evaluated, hooks)) return evaluated;
    const signal = new AbortController().signal;
    const now = { ...hooks, order: 'permission_hooks_approval' } as const;
    const result = await this.hooks.run({ principal: submitter, body, callId: call.id, evaluated, signal }, now);
    this.accepted({ call, submitter, given: {} }, result.evaluated);
    if (isDeepStrictEqual(result.evaluated.args, evaluated.args)) return result.evaluated;
    const why = 'A hook rewrote the arguments after they were edited; nothing else than the edited arguments may run';
    throw new ProblemError('hook_rejected', why, { callId: call.id });
  }

  /** Returns the call unless it has a rejection. */
  private accepted({ call }: EditRequest, evaluated: EvaluatedCall): EvaluatedCall {
    const { rejection } = evaluated;
    if (rejection === undefined) return evaluated;
    const shown = this.redaction.of(call.tenantId).redactorFor(evaluated.args);
    const { code, message, errors }: CallError = rejection.error;
    const detail = `The edited arguments are refused, and the call goes on waiting. ${shown(message)}`;
    const violations = errors?.map(({ pointer, message: text }) => ({ pointer: shown(pointer), message: shown(text) }));
    throw new ProblemError(code, detail, { callId: call.id, ...(violations && { errors: inBody(violations) }) });
  }

  private async redacted(
    call: Call,
    body: SubmitCallBody,
    evaluated: EvaluatedCall,
    hookRuns: readonly HookRunData[],
  ): Promise<PreparedEdit> {
    const asked = { ...evaluated, decision: { ...evaluated.decision, effect: 'ask' } } as const;
    const { secret, ...shown } = redactSubmission(this.redaction.of(call.tenantId), body, asked);
    const { args, tool } = shown.evaluated;
    const argumentsDigest = approvalDigest(call.tool, tool?.version ?? 'none', secret ?? args);
    const text = JSON.stringify(args);
    const bytes = Buffer.byteLength(text);
    const isInline = bytes <= INLINE_BYTES - CHANGES_BYTES;
    const files = shown.evaluated.files && (await this.rules.keep(shown.evaluated.files));
    const egress = shown.evaluated.egress && (await this.rules.keepEgress(shown.evaluated.egress));
    const edited: EditedArguments = {
      ...(isInline
        ? { arguments: args }
        : { argumentsRef: { ref: 'edited-arguments', sha256: sha256Hex(text), bytes, preview: cutPreview(text) } }),
      argumentsDigest,
      ...(secret && { argumentsRedacted: true }),
      ...(files && { files }),
      ...(egress !== undefined && { egress }),
      ...argumentChanges(call.arguments, args),
    };
    const refs = argumentRefs({ argumentsEdited: true, argumentsDigest });
    const secretBytes = secret && Buffer.from(JSON.stringify(secret));
    const store = async () => {
      if (!isInline) await this.blobs.put(call.id, refs.shown, Buffer.from(text));
      const seconds = Math.ceil((call.timeouts.totalMs + SECRET_SLACK_MS) / 1000);
      if (secretBytes) await this.blobs.put(call.id, refs.secret, secretBytes, seconds);
    };
    const discard = async (deferredDigest: string | undefined) => {
      const options = (await this.calls.snapshot(call.id))?.options;
      if (deferredDigest === argumentsDigest || (options?.edited === true && options.digest === argumentsDigest)) return;
      for (const ref of [refs.shown, refs.secret]) await this.blobs.delete(call.id, ref);
    };
    return { edited, hookRuns, keptBytes: (isInline ? 0 : bytes) + (secretBytes?.byteLength ?? 0), store, discard };
  }
}

function bodyOf({ tool, sessionId, priority }: Call, given: EditRequest['given']): SubmitCallBody {
  return { tool, dialect: 'core', arguments: given, priority, timeouts: {}, labels: {}, ...(sessionId === undefined ? {} : { sessionId }) };
}

function invalid({ id }: Call, message: string): ProblemError {
  return new ProblemError('invalid_request', message, { callId: id, errors: [{ pointer: '/arguments', message }] });
}

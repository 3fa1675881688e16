import { Injectable } from '@nestjs/common';
import { z } from 'zod';
import { Json, type Call, type EditedArguments, type JsonValue, type Principal } from '#contracts';
import { argumentRefs, BlobStore } from '#event-log';
import { agentRejection } from '../auth/agent-of.js';
import { userRejection } from '../auth/user-of.js';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import type { HookDenial } from './approval-hooks.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import type { SubmissionInfo } from '../calls/read/call-reader.service.js';
import { CallEvaluator } from '../calls/admission/call-evaluator.service.js';

const SaltedArguments = z.object({ arguments: Json });

/** Evaluates an approved call again before it runs, as a call of its submitting key, by the active configuration. */
@Injectable()
export class ApprovalEvaluator {
  constructor(
    private readonly evaluator: CallEvaluator,
    private readonly apiKeys: ApiKeyStore,
    private readonly blobs: BlobStore,
    private readonly redaction: RedactionConfigService,
  ) {}

  /**
   * Undefined if nothing denies the call. Secrets of the arguments are redacted from the texts. `edited`: stored arguments of
   * the approver that replace the submitted ones.
   */
  async denialNow(
    call: Call,
    { requester, submitter: rights, files }: Pick<SubmissionInfo, 'requester' | 'submitter' | 'files'>,
    edited?: EditedArguments,
  ): Promise<HookDenial | undefined> {
    const { submitter, denial: lost } = this.submitterOf(call, requester, rights);
    if (submitter === undefined) return lost;
    const args = await (edited === undefined ? this.argumentsOf(call) : this.editedArguments(call, edited));
    const openable = edited === undefined ? files : (edited.files ?? {});
    const denial = await this.evaluator.denialNow(submitter, call, isObject(args) ? args : {}, openable);
    if (denial === undefined) return undefined;
    const shown = this.redaction.of(call.tenantId).redactorFor(args);
    const { error, text } = denial;
    return { error: { ...error, message: shown(error.message) }, ...(text === undefined ? {} : { text: shown(text) }) };
  }

  /**
   * Submitting key with its current rights, or the reason why it has none. A token has the rights that it granted at
   * submission, as far as its issuer may still grant them.
   */
  submitterOf(
    call: Call,
    requester: string,
    rights: SubmissionInfo['submitter'],
  ): { readonly submitter: Principal; readonly denial?: undefined } | { readonly submitter?: undefined; readonly denial: HookDenial } {
    const named = { keyId: requester.replace(/^apikey:/, ''), tenantId: call.tenantId, scopes: [], ...rights };
    const current = this.apiKeys.current(named);
    const lost =
      this.apiKeys.rejection(named, 'submit') ??
      (current && (agentRejection(current, call.agentId) ?? userRejection(current, call.userId)));
    if (current === undefined || lost !== undefined)
      return { denial: keyRemovedDenial(named.keyId, lost?.detail ?? 'The API key was removed') };
    const { agentId: _, userId: __, ...key } = current;
    return {
      submitter: {
        ...key,
        ...(call.agentId === undefined ? {} : { agentId: call.agentId }),
        ...(call.userId === undefined ? {} : { userId: call.userId }),
      },
    };
  }

  /** Arguments for the run, with secrets. */
  async argumentsOf(call: Call): Promise<JsonValue> {
    const salted = call.argumentsRedacted ? SaltedArguments.safeParse(await this.submittedOf(call)).data : undefined;
    return salted?.arguments ?? call.arguments;
  }

  private async editedArguments({ id }: Call, { argumentsDigest, ...edited }: EditedArguments): Promise<JsonValue> {
    const refs = argumentRefs({ argumentsEdited: true, argumentsDigest });
    const stored = async (ref: typeof refs.shown) => JSON.parse((await this.blobs.get(id, ref))?.toString('utf8') ?? 'null') as unknown;
    if (edited.argumentsRedacted) return SaltedArguments.parse(await stored(refs.secret)).arguments;
    return edited.argumentsRef === undefined ? (edited.arguments ?? {}) : Json.parse(await stored(refs.shown));
  }

  /** Content that the approval is bound to: the submitted arguments, with a salt if they contain secrets. */
  async submittedOf({ id, arguments: args, argumentsRedacted }: Call): Promise<unknown> {
    const secret = argumentsRedacted ? await this.blobs.get(id, 'secret-arguments') : undefined;
    return secret === undefined ? args : JSON.parse(secret.toString('utf8'));
  }
}

function keyRemovedDenial(keyId: string, why: string): HookDenial {
  const message = `Denied by policy: the key ${keyId}, which submitted this call, may not run it any more: ${why}`;
  return { error: { code: 'policy_denied', message, retryable: false } };
}

function isObject(value: JsonValue): value is Record<string, JsonValue> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

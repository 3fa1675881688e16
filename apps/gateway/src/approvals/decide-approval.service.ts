import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import {
  ProblemError,
  type Call,
  type DecisionBody,
  type EditedArguments,
  type EndData,
  type GrantChange,
  type HookRunData,
  type Principal,
} from '#contracts';
import { BlobStore, EventLog, EventLogTenantFull, isApplied, type CallSnapshot } from '#event-log';
import { approvalDigest } from '#policy';
import { BullCallQueue } from '#queue';
import { ToolRegistry } from '#tool-sdk';
import { resolveGrantChange } from './resolve-grant-change.js';
import { ApprovalDeferrals } from './approval-deferrals.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { ApprovalHooks } from './approval-hooks.service.js';
import { changedConcurrently } from './changed-concurrently.js';
import { assertQuestionSeen, editOf } from './decision-body.js';
import { AdminActs, type AdmittedAct } from '../auth/admin-acts.service.js';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { PolicyConfigService } from '../governance/policy-config.service.js';
import { assertSameEpoch, SessionStore } from '../sessions/session-store.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { ApprovalEvaluator } from './approval-evaluator.service.js';
import { ArgumentEditor, type PreparedEdit } from './edit-arguments.service.js';
import { CallReader, type SubmissionInfo } from '../calls/read/call-reader.service.js';
import { CallTracer } from '../calls/call-tracer.service.js';
import { dispatchCall } from '../calls/admission/dispatch-call.js';
import { eventOrigin } from '../platform/event-origin.js';
import { endBeforeStart } from '../calls/admission/new-call.js';

/** Shorter than the epoch of a deleted session is stored. */
const REPEATABLE_MS = 86_400_000;

/**
 * Applies a person's decision about a pending call. Steps:
 *
 * 1. the call waits, for the approval that the person saw
 * 2. the key may decide
 * 3. grants of the decision; the session has not been deleted since
 * 4. edited arguments are evaluated as a new submission of the submitter; else an allowed call is evaluated again
 * 5. hooks that run after approval
 * 6. tool, version and arguments are still those of the approval
 * 7. write the decision on the version that was read
 * 8. dispatch an allowed call
 * 9. write the grant to the session
 * 10. read the call
 *
 * The approval is bound to the digest of tool, version and canonical arguments, and is used once. Of two concurrent deciders
 * one gets `conflict`. A lost grant is written when the same key repeats the same decision within a day, unless the session was
 * deleted meanwhile.
 */
@Injectable()
export class DecideApprovalService {
  constructor(
    private readonly reader: CallReader,
    private readonly log: EventLog,
    private readonly queue: BullCallQueue,
    private readonly tools: ToolRegistry,
    private readonly sessions: SessionStore,
    private readonly policyConfig: PolicyConfigService,
    private readonly deferrals: ApprovalDeferrals,
    private readonly blobs: BlobStore,
    private readonly redaction: RedactionConfigService,
    private readonly hooks: ApprovalHooks,
    private readonly evaluator: ApprovalEvaluator,
    private readonly editor: ArgumentEditor,
    private readonly tracer: CallTracer,
    private readonly apiKeys: ApiKeyStore,
    private readonly acts: AdminActs,
    @Inject(GATEWAY_CONFIG) private readonly config: GatewayConfig,
  ) {}

  async decide(principal: Principal, callId: string, body: DecisionBody): Promise<Call> {
    const head = await this.reader.head(principal, callId);
    const decided = await this.apply(principal, head, body);
    if (head.status === 'waiting_approval') this.tracer.approvalDecided(head, body.decision);
    return decided;
  }

  private async apply(principal: Principal, head: CallSnapshot, body: DecisionBody): Promise<Call> {
    const { callId } = head;
    const call = await this.reader.read(principal, callId);
    assertQuestionSeen(call, body);
    const grant = resolveGrantChange(call, body);
    const accepted = await this.reader.submissionInfo(principal, callId);
    const revokes = body.decision === 'deny' && head.status === 'waiting_approval';
    const act = grant && this.acts.admit(principal, { revokes });
    if (head.status === 'waiting_approval') {
      this.assertSecondApprover(principal, accepted.requesters, callId, body);
      if (grant !== undefined) assertSameEpoch(await this.sessions.state(principal.tenantId, call.sessionId), accepted.sessionEpoch);
      const isHeld = body.decision === 'allow' && (await this.deferrals.mustDefer(call));
      const edit = await this.prepareEdit(call, body, accepted);
      const isReevaluated = edit === undefined && body.decision === 'allow';
      const { ended, version } = isReevaluated
        ? await this.reevaluate(principal, head, call, accepted)
        : { ended: false, version: head.version };
      if (ended) return this.reader.read(principal, callId);
      const reason = body.reason === undefined ? {} : { reason: this.redaction.of(call.tenantId).text(body.reason) };
      const decision = { ...body, ...reason, edited: edit?.edited };
      const hookRuns = edit?.hookRuns ?? [];
      const current = { ...head, version };
      try {
        if (edit !== undefined) await this.keep(principal, current, call, edit);
        if (isHeld) await this.hold(principal, current, call, decision, hookRuns);
        else await this.settle(principal, current, call, decision, hookRuns);
      } catch (error) {
        // After any other error the decision may have been written.
        const isRefused = error instanceof ProblemError || error instanceof EventLogTenantFull;
        if (edit !== undefined && isRefused) await this.discard(call, edit).catch(() => {});
        throw error;
      }
      // An equal edit that was refused may have discarded the values.
      if (edit !== undefined && edit.keptBytes > 0) await edit.store().catch(() => {});
    } else if (grant === undefined || act === undefined || !this.isSameDecision(principal, call, body)) {
      throw new ProblemError('conflict', `The call is ${head.status}: it does not wait for a decision`, { callId });
    }
    if (grant !== undefined && act !== undefined) await this.grant(principal, call, grant, accepted.sessionEpoch, act);
    return this.reader.read(principal, callId);
  }

  /**
   * Undefined without edited arguments.
   * @throws ProblemError if the arguments may not run, while the call continues to wait
   */
  private async prepareEdit(
    call: Call,
    body: DecisionBody,
    { requester, submitter: rights }: SubmissionInfo,
  ): Promise<PreparedEdit | undefined> {
    const given = editOf(call, body);
    if (given === undefined || isDeepStrictEqual(given, await this.evaluator.argumentsOf(call))) return undefined;
    if (this.policyConfig.requiresFourEyes(call.tenantId))
      throw new ProblemError(
        'forbidden',
        'Four eyes: only their author would have seen edited arguments. Replay the call with them, which another key allows, and deny this one',
        { callId: call.id },
      );
    const { submitter, denial: lost } = this.evaluator.submitterOf(call, requester, rights);
    if (submitter === undefined) throw new ProblemError(lost.error.code, lost.error.message, { callId: call.id });
    return this.editor.prepare({ call, submitter, given });
  }

  /**
   * Stores edited arguments that are too large for the event, if the tenant has room for them. An equal edit counts once.
   * @throws ProblemError `conflict` if the call changed meanwhile
   */
  private async keep(principal: Principal, { version, callId }: CallSnapshot, call: Call, edit: PreparedEdit): Promise<void> {
    const { keptBytes } = edit;
    if (keptBytes === 0) return;
    if ((await this.digestNow(call)) !== call.approval?.digest) throw changedConcurrently(callId);
    const guard = { by: 'command', version, commandId: `keep:${edit.edited.argumentsDigest}` } as const;
    const author = eventOrigin(this.config.name, principal);
    if (!isApplied(await this.log.holdApproval({ callId, guard, hookRuns: [], keptBytes, author }))) throw changedConcurrently(callId);
    await edit.store();
  }

  private async discard(call: Call, edit: PreparedEdit): Promise<void> {
    await edit.discard(await this.deferrals.deferredEdit(call));
  }

  /** Four eyes: the key that submitted the call, or one that it replays, may deny it, but not allow it. */
  private assertSecondApprover(principal: Principal, requesters: readonly string[], callId: string, { decision }: DecisionBody): void {
    if (!this.policyConfig.requiresFourEyes(principal.tenantId) || decision === 'deny') return;
    if (requesters.some((actor) => this.apiKeys.isSamePerson(actor.replace(/^apikey:/, ''), principal.keyId)))
      throw new ProblemError(
        'forbidden',
        'Four eyes: a call must be allowed with another key than those that submitted it or a call that it replays',
        { callId },
      );
  }

  /**
   * `ended`: the active configuration or a hook after approval denied the call, which has ended. `version`: version of the call
   * after the events of these hooks.
   */
  private async reevaluate(
    principal: Principal,
    head: CallSnapshot,
    call: Call,
    accepted: SubmissionInfo,
  ): Promise<{ ended: boolean; version: number }> {
    const args = () => this.evaluator.argumentsOf(call);
    const { hookSet, sessionEpoch } = accepted;
    const author = eventOrigin(this.config.name, principal);
    const denialNow = await this.evaluator.denialNow(call, accepted);
    const { version, denial: deniedByHook } =
      denialNow !== undefined || hookSet === undefined
        ? { version: head.version, denial: undefined }
        : { denial: undefined, ...(await this.hooks.run({ call, hookSet, sessionEpoch, args, version: head.version, author })) };
    const refusal = denialNow ?? deniedByHook;
    if (refusal === undefined) return { ended: false, version };
    const guard = { by: 'command', version, commandId: randomUUID() } as const;
    const data = { ...endBeforeStart('denied', refusal.error, refusal.text), stopped: { how: 'not_started', tookMs: 0 } } as const;
    const answer = await this.log.end({ callId: call.id, guard, data, author });
    if (!isApplied(answer)) throw changedConcurrently(call.id);
    if (call.argumentsRedacted) await this.blobs.delete(call.id, 'secret-arguments').catch(() => {});
    return { ended: true, version };
  }

  /**
   * Stores an approval until the other calls of the batch are decided. Writes the events of its hooks at once, whatever ends
   * the call later.
   */
  private async hold(
    principal: Principal,
    { version }: CallSnapshot,
    call: Call,
    { scope, trustOption, reason, edited }: RedactedDecision,
    hookRuns: readonly HookRunData[],
  ): Promise<void> {
    const author = eventOrigin(this.config.name, principal);
    if (hookRuns.length > 0) {
      const guard = { by: 'command', version, commandId: randomUUID() } as const;
      if (!isApplied(await this.log.holdApproval({ callId: call.id, guard, hookRuns, author }))) throw changedConcurrently(call.id);
    }
    const more = {
      ...(author.actorname === undefined ? {} : { actorname: author.actorname }),
      ...(trustOption === undefined ? {} : { trustOption }),
      ...(reason === undefined ? {} : { reason }),
      ...(edited && { edited }),
    };
    return this.deferrals.defer(call, { actor: author.actor, scope, digest: await this.digestNow(call), ...more });
  }

  private async settle(
    principal: Principal,
    head: CallSnapshot,
    call: Call,
    body: RedactedDecision,
    hookRuns: readonly HookRunData[],
  ): Promise<void> {
    await this.write(principal, head, call, body, hookRuns);
    if (body.decision === 'allow') dispatchCall(this.queue, { callId: call.id, attempt: head.attempt + 1 }, head, head.meta.tenantId);
  }

  private async write(
    principal: Principal,
    head: CallSnapshot,
    call: Call,
    { decision, scope, trustOption, reason, edited }: RedactedDecision,
    hookRuns: readonly HookRunData[],
  ): Promise<void> {
    const digest = await this.digestNow(call);
    const decide = (version: number) =>
      this.log.decideApproval({
        callId: call.id,
        guard: { by: 'command', version, commandId: randomUUID() },
        data: {
          decision,
          scope,
          ...(trustOption === undefined ? {} : { trustOption }),
          digest,
          ...(reason === undefined ? {} : { reason }),
          ...(edited && { edited }),
        },
        hookRuns,
        author: eventOrigin(this.config.name, principal),
        ...(decision === 'deny' ? { end: denial(reason) } : {}),
      });
    let { version } = head;
    let answer = await decide(version);
    // Retries a denial on newer versions: hooks of a concurrent approval may write meanwhile.
    while (decision === 'deny' && answer.code === 'CONFLICT' && answer.version > version) answer = await decide((version = answer.version));
    if (answer.code === 'OK' || answer.code === 'REPLAY') {
      // Deletes the submitted arguments, which no attempt of an edited call reads.
      if ((decision === 'deny' || edited !== undefined) && call.argumentsRedacted)
        await this.blobs.delete(call.id, 'secret-arguments').catch(() => {});
      return;
    }
    throw changedConcurrently(call.id);
  }

  /** Digest of the call as it would run now. Differs if the tool has changed since the approval request; the log then rejects the write. */
  private async digestNow(call: Call): Promise<string> {
    const version = this.tools.for(call.tenantId).resolve(call.tool)?.version ?? 'none';
    return approvalDigest(call.tool, version, await this.evaluator.submittedOf(call));
  }

  private isSameDecision(principal: Principal, { approval }: Call, { decision, scope, trustOption }: DecisionBody): boolean {
    const { decided } = approval ?? {};
    if (decided === undefined || decided.by !== eventOrigin(this.config.name, principal).actor) return false;
    if (Date.now() - Date.parse(decided.at) > REPEATABLE_MS) return false;
    return decided.decision === decision && decided.scope === scope && decided.trustOption === trustOption;
  }

  private async grant(principal: Principal, { id, sessionId }: Call, grant: GrantChange, epoch: number, act: AdmittedAct): Promise<void> {
    try {
      if (sessionId !== undefined) await this.sessions.grant(principal, sessionId, grant, epoch, act);
    } catch (error) {
      if (error instanceof ProblemError) throw error;
      const why = 'The call is decided, but what was granted to its session could not be stored: send the same decision again';
      throw new ProblemError('overloaded', why, { callId: id, retryAfterMs: 1000 });
    }
  }
}

/** Decision in its stored form. */
type RedactedDecision = Omit<DecisionBody, 'arguments' | 'digest'> & { readonly edited: EditedArguments | undefined };

function denial(reason: string | undefined): EndData {
  const because = reason === undefined ? '' : `: ${reason}`;
  return endBeforeStart(
    'denied',
    { code: 'approval_denied', message: `A person denied this call${because}`, retryable: false },
    `Tool use was denied by the user.${reason === undefined ? '' : ` Reason: ${reason}`}`,
  );
}

import { randomBytes, randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import {
  LIMITS,
  ProblemError,
  type Call,
  type InputBody,
  type InputGivenData,
  type InputRequest,
  type JsonValue,
  type Principal,
} from '#contracts';
import {
  BlobStore,
  CallStore,
  EventLog,
  EventLogTenantFull,
  isApplied,
  suspensionBlob,
  upcastEvent,
  type CallSnapshot,
  type SuspensionRef,
} from '#event-log';
import { sha256Hex } from '#redis';
import { compileForeignSchema } from '#tool-sdk';
import { ApiKeyStore } from '../auth/api-key-store.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { eventOrigin } from '../platform/event-origin.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { SECRET_SLACK_MS } from './admission/new-call.js';
import { CallReader } from './read/call-reader.service.js';

/** Most bytes of a value in the event; a larger one is stored beside the log. */
const INLINE_BYTES = 4_096;

/**
 * Gives a call the value that its tool requested, or the information that it was declined. Steps: the body has one of both, and
 * this key may answer → the call waits for this request → the value matches schema and limits → secrets are redacted → write on
 * the version that was read. The log dispatches the call. The first value counts; the same key may repeat it.
 */
@Injectable()
export class GiveInputService {
  constructor(
    private readonly reader: CallReader,
    private readonly store: CallStore,
    private readonly log: EventLog,
    private readonly blobs: BlobStore,
    private readonly redaction: RedactionConfigService,
    private readonly apiKeys: ApiKeyStore,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'name'>,
  ) {}

  /**
   * @throws ProblemError `forbidden`, `conflict` if the call does not wait for this value, `invalid_request` if the value does
   * not match the schema, `payload_too_large`
   */
  async give(principal: Principal, callId: string, body: InputBody): Promise<Call> {
    const answer = answerIn(body);
    const head = await this.reader.head(principal, callId);
    await this.assertMayAnswer(principal, callId);
    const call = await this.reader.read(principal, callId);
    const question = call.waiting?.input;
    if (question === undefined) return this.repeated(principal, call, answer, body.attempt);
    if (body.attempt !== undefined && body.attempt !== question.attempt)
      throw conflict(call, `it waits for the answer to the question of attempt ${question.attempt}, not ${body.attempt}`);
    const data = await this.dataOf(call, question, answer);
    await this.write(principal, head, call, data);
    return this.reader.read(principal, callId);
  }

  private async dataOf(call: Call, { attempt, declinable }: InputRequest, answer: Answer): Promise<InputGivenData> {
    if (answer.kind === 'value') {
      this.assertFits(call, answer.value);
      return this.prepare(call, attempt, answer.value);
    }
    if (declinable === true) return { request: attempt, declined: true };
    const message = 'The question cannot be declined, since its tool needs a value: give one, or cancel the call';
    throw new ProblemError('invalid_request', message, { callId: call.id, errors: [{ pointer: '/decline', message }] });
  }

  /** True if the key may answer requests of this call's tool. */
  async mayAnswer(principal: Principal, callId: string): Promise<boolean> {
    if (this.apiKeys.rejection(principal, 'approve') === undefined) return true;
    if (this.apiKeys.rejection(principal, 'submit') !== undefined) return false;
    const { requester } = await this.reader.submissionInfo(principal, callId);
    return requester === eventOrigin(this.config.name, principal).actor;
  }

  private async assertMayAnswer(principal: Principal, callId: string): Promise<void> {
    if (await this.mayAnswer(principal, callId)) return;
    const needed = 'This needs the scope approve, or the scope submit and that this key made the call';
    throw new ProblemError('forbidden', `${needed}; the key has ${principal.scopes.join(', ')}`, { callId });
  }

  private assertFits(call: Call, value: JsonValue): void {
    const bytes = Buffer.byteLength(JSON.stringify(value));
    if (bytes > LIMITS.inputBytes)
      throw new ProblemError('payload_too_large', `The value has ${bytes} bytes as JSON; expected at most ${LIMITS.inputBytes}`, {
        callId: call.id,
      });
    const schema = call.waiting?.input?.inputSchema;
    const violations = schema === undefined ? [] : compileForeignSchema(schema)(structuredClone(value));
    if (violations.length === 0) return;
    const shown = this.redaction.of(call.tenantId).redactorFor(value);
    const errors = violations.map(({ pointer, message }) => ({ pointer: `/value${shown(pointer)}`, message: shown(message) }));
    const detail = 'The value does not fit the schema of the question, and the call goes on waiting';
    throw new ProblemError('invalid_request', detail, { callId: call.id, errors });
  }

  /** Stores the value before the event, which never refers to a missing value. If the outcome of the write is unknown, the value expires. */
  private async prepare({ id, tenantId, timeouts }: Call, request: number, given: JsonValue): Promise<InputGivenData> {
    const { value, secrets } = this.redaction.of(tenantId).redactor.json(given);
    const isSmall = Buffer.byteLength(JSON.stringify(value)) <= INLINE_BYTES;
    const shown = isSmall ? { value } : {};
    if (secrets.length === 0 && isSmall) return { request, ...shown };
    const ref: SuspensionRef = `input.${request}.${randomUUID().replaceAll('-', '')}`;
    const ttlSeconds = Math.ceil((timeouts.totalMs + SECRET_SLACK_MS) / 1000);
    const salt = secrets.length === 0 ? '' : newSalt();
    const bytes = Buffer.from(JSON.stringify(given) + salt);
    await this.blobs.put(id, ref, bytes, ttlSeconds);
    if (salt !== '') await this.blobs.put(id, saltOf(ref), Buffer.from(salt), ttlSeconds);
    return { request, ...shown, stored: { ref, sha256: sha256Hex(bytes), bytes: bytes.byteLength } };
  }

  private async write(principal: Principal, { version, callId }: CallSnapshot, call: Call, data: InputGivenData): Promise<void> {
    const guard = { by: 'command', version, commandId: randomUUID() } as const;
    const author = eventOrigin(this.config.name, principal);
    const answer = await this.log.giveInput({ callId, guard, data, author }).catch(async (error: unknown) => {
      if (error instanceof EventLogTenantFull) await this.discard(callId, data);
      throw error;
    });
    if (isApplied(answer)) return;
    await this.discard(callId, data);
    throw conflict(call, 'it got another value, was cancelled or expired meanwhile');
  }

  private async discard(callId: string, { stored }: InputGivenData): Promise<void> {
    if (stored === undefined) return;
    const ref = suspensionBlob(stored);
    await Promise.allSettled([this.blobs.delete(callId, ref), this.blobs.delete(callId, saltOf(ref))]);
  }

  /** Accepts a repeated value of the same key, whose first response may have been lost. */
  private async repeated(principal: Principal, call: Call, given: Answer, attempt: number | undefined): Promise<Call> {
    const { actor } = eventOrigin(this.config.name, principal);
    const last = await this.lastGiven(call.id);
    const isOwn = last !== undefined && last.actor === actor && (attempt === undefined || attempt === last.data.request);
    const isSame = isOwn && (given.kind === 'declined' ? last.data.declined === true : await this.isValue(call.id, last.data, given.value));
    if (isSame) return call;
    throw conflict(call, last === undefined ? `it is ${call.status}` : `it is ${call.status} and has got a value`);
  }

  private async isValue(callId: string, { value, stored, declined }: InputGivenData, given: JsonValue): Promise<boolean> {
    if (declined === true) return false;
    if (stored === undefined) return isDeepStrictEqual(value, given);
    const salt = (await this.blobs.get(callId, saltOf(suspensionBlob(stored))))?.toString() ?? '';
    return stored.sha256 === sha256Hex(Buffer.from(JSON.stringify(given) + salt));
  }

  private async lastGiven(callId: string): Promise<{ readonly actor: string; readonly data: InputGivenData } | undefined> {
    const events = await this.store.events(callId);
    const last = events.findLast(({ type }) => type === 'call.input_given');
    const event = last && upcastEvent(last.json);
    return event?.type === 'call.input_given' ? event : undefined;
  }
}

type Answer = { readonly kind: 'declined' } | { readonly kind: 'value'; readonly value: JsonValue };

function answerIn({ value, decline }: InputBody): Answer {
  if (decline === true && value === undefined) return { kind: 'declined' };
  if (decline === undefined && value !== undefined) return { kind: 'value', value };
  const message = 'expected exactly one of `value` and `decline`';
  throw new ProblemError('invalid_request', `The answer is not valid: ${message}`, { errors: [{ pointer: '/value', message }] });
}

/** Salt of blanks, which JSON parsers skip. Keeps a secret from being guessed by the digest in the event. */
function newSalt(): string {
  return Array.from(randomBytes(16), (byte) => byte.toString(2).padStart(8, '0').replaceAll('0', ' ').replaceAll('1', '\t')).join('');
}

/** Name of the salt for comparing a repeated value. Outlives the value, which ends with the call. */
function saltOf(ref: SuspensionRef): SuspensionRef {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a longer name of the same form
  return `${ref}salt` as SuspensionRef;
}

function conflict({ id }: Call, why: string): ProblemError {
  return new ProblemError('conflict', `The call does not wait for this input: ${why}`, { callId: id });
}

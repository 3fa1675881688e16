import { Inject, Injectable } from '@nestjs/common';
import {
  ProblemError,
  SessionGrants,
  SessionPart,
  type AdminType,
  type GrantChange,
  type PermissionMode,
  type Posture,
  type Principal,
  type PutSessionBody,
  type Session,
} from '#contracts';
import { sessionPatternFaults } from '#policy';
import { keys, LuaScript, type RedisConnection } from '#redis';
import { ToolRegistry } from '#tool-sdk';
import { AdminActs, type AdmittedAct } from '../auth/admin-acts.service.js';
import { type DurableScript, DurableWrites } from '../platform/durable-writes.service.js';
import { GATEWAY_CONFIG, type GatewayConfig } from '../platform/gateway.config.js';
import { HookConfigService } from '../governance/hook-config.service.js';
import { assertHooksAllowed } from './session-hooks.js';
import { PolicyConfigService } from '../governance/policy-config.service.js';
import { RedactionConfigService } from '../governance/redaction-config.service.js';
import { FAIL_FAST_REDIS } from '../platform/tokens.js';
import { withKnownTools } from './granted-tools.js';
import { DAY_MS, replaceScript, SESSION_LIFE_MS } from './replace-script.js';
import { withParentRules } from './parent-rules.js';
import { SessionDataStore } from './session-data-store.service.js';
import { SessionRoom } from './session-room.service.js';
import { SessionEventPublisher } from './session-event-publisher.service.js';
import {
  grantedBy,
  hasSettings,
  liftedParts,
  NEW_SESSION,
  onlyTightens,
  parseSession,
  postureIn,
  applyPut,
  type SessionState,
  tightenedTo,
} from './session-state.js';

const TRIES = 50;

type StartedBy = NonNullable<SessionState['startedBy']>;

/**
 * Ends a session, also above maxmemory: only its number of deletions and its parent session remain. Each run counts. KEYS[1]
 * the session; ARGV[1] now and ARGV[2] life in ms.
 */
const END: DurableScript = {
  repeatable: false,
  script: new LuaScript(`#!lua flags=allow-oom
local before = redis.call('GET', KEYS[1])
local state = before and cjson.decode(before) or {}
local after = { epoch = (state.epoch or 0) + 1, touchedAt = tonumber(ARGV[1]), startedBy = state.startedBy }
redis.call('SET', KEYS[1], cjson.encode(after), 'PX', ARGV[2])`),
};

/**
 * Settings and grants of sessions. Read for each call of a session and never cached, so that a stricter posture or a lasting
 * denial applies on every gateway from the response on.
 */
@Injectable()
export class SessionStore {
  /** Called after the end of a session, before the response. */
  readonly onEnd = new Set<(principal: Principal, sessionId: string) => Promise<void>>();

  constructor(
    @Inject(FAIL_FAST_REDIS) private readonly redis: RedisConnection,
    private readonly policyConfig: PolicyConfigService,
    private readonly hookConfig: HookConfigService,
    private readonly tools: ToolRegistry,
    private readonly events: SessionEventPublisher,
    private readonly durable: DurableWrites,
    private readonly data: SessionDataStore,
    private readonly room: SessionRoom,
    private readonly acts: AdminActs,
    private readonly redaction: RedactionConfigService,
    @Inject(GATEWAY_CONFIG) private readonly config: Pick<GatewayConfig, 'egress'>,
  ) {}

  /** State of the session. One GET, two if another session began it; none for a call without a session. */
  state(tenantId: string, sessionId: string | undefined): Promise<SessionState> | SessionState {
    return sessionId === undefined ? NEW_SESSION : this.ruled(tenantId, sessionId);
  }

  private async ruled(tenantId: string, sessionId: string): Promise<SessionState> {
    const own = await this.stored(tenantId, sessionId);
    return own.startedBy === undefined ? own : withParentRules(await this.stored(tenantId, own.startedBy.sessionId), own);
  }

  private async stored(tenantId: string, sessionId: string): Promise<SessionState> {
    const stored = await this.redis.get(keys.session(tenantId, sessionId));
    if (stored === null) return NEW_SESSION;
    const state = parseSession(stored);
    // Ignores the tenant's limit: no read fails for lack of room.
    if (Date.now() - state.touchedAt > DAY_MS) await this.put(tenantId, sessionId, stored, state, true);
    return state;
  }

  async read(tenantId: string, sessionId: string): Promise<Session> {
    return this.toSession(tenantId, sessionId, await this.state(tenantId, sessionId));
  }

  async write(principal: Principal, sessionId: string, change: PutSessionBody): Promise<Session> {
    const { tenantId } = principal;
    assertValidPatterns(change);
    assertHooksAllowed(change.hooks ?? [], this.hookConfig.allowsCommands(tenantId), this.config.egress);
    const { grants, ...others } = change;
    let before = NEW_SESSION;
    let act: AdmittedAct | undefined;
    const next = (state: SessionState) => {
      before = state;
      const changed = applyPut(principal.keyId, state, {
        ...others,
        ...(grants === undefined ? {} : { grants: withKnownTools(grants, state.grants, this.tools.for(tenantId)) }),
      });
      this.assertNothingLifted(principal, state, changed);
      act ??= this.acts.admit(principal, { revokes: onlyTightens(change, state, changed) });
      return changed;
    };
    const state = await this.change(tenantId, sessionId, next);
    const changed = SessionPart.options.filter((part) => change[part] !== undefined);
    await this.record(act, 'admin.session_changed', sessionId, pick(before, changed), pick(state, changed));
    await this.events.publish(principal, sessionId, 'session.put', { changed });
    return this.toSession(tenantId, sessionId, state.startedBy === undefined ? state : await this.ruled(tenantId, sessionId));
  }

  /**
   * Adds grants to the session. Idempotent; concurrent grants are all stored. Throws `conflict` if the session was deleted
   * since the epoch of the granting call.
   */
  async grant(principal: Principal, sessionId: string, grants: GrantChange, epoch: number, act: AdmittedAct): Promise<void> {
    let before = NEW_SESSION;
    const after = await this.change(principal.tenantId, sessionId, (state) => {
      before = state;
      assertSameEpoch(state, epoch);
      const grown = grantedBy(principal.keyId, state, grants);
      this.assertNothingLifted(principal, state, grown);
      assertValidGrants(grown.grants);
      return grown;
    });
    await this.record(act, 'admin.grant_made', sessionId, { grants: before.grants }, { grants: after.grants });
    await this.events.publish(principal, sessionId, 'session.put', { changed: ['grants'] });
  }

  /** Sets a stricter mode. `ofAgent`: posture of the agent that chooses it. @throws ProblemError `forbidden` for a looser one */
  async tighten(principal: Principal, sessionId: string, mode: PermissionMode, ofAgent: Posture): Promise<void> {
    await this.change(principal.tenantId, sessionId, (state) => {
      const tightened = tightenedTo(mode, state, ofAgent);
      if (tightened !== undefined) return tightened;
      const now = postureIn(state, ofAgent).permissionMode;
      throw new ProblemError('forbidden', `The session has the mode ${now}, and an agent cannot loosen it to ${mode}: ask a person`);
    });
    await this.events.publish(principal, sessionId, 'session.put', { changed: ['posture'] });
  }

  /** Begins a session under the rules of another one, until that one is deleted. Does not change an existing session. */
  async beginBelow(tenantId: string, startedBy: StartedBy, sessionId: string): Promise<void> {
    await this.put(tenantId, sessionId, '', { ...NEW_SESSION, startedBy });
  }

  /** @throws ProblemError for a session that was deleted since, or that another one began */
  async assertMayBegin(tenantId: string, { sessionId, epoch }: StartedBy): Promise<void> {
    const state = await this.stored(tenantId, sessionId);
    if (state.startedBy !== undefined) throw new ProblemError('invalid_request', 'A session that another one began begins none');
    if (state.epoch !== epoch) throw new ProblemError('conflict', 'The session was deleted after the call was submitted: it begins none');
  }

  async end(principal: Principal, sessionId: string): Promise<void> {
    const { tenantId } = principal;
    const before = await this.state(tenantId, sessionId);
    this.assertNothingLifted(principal, before, NEW_SESSION);
    const act = this.acts.admit(principal, { revokes: hasSettings(before) });
    // Deletes a session with stored data in any case; an unknown one is a new entry and needs room.
    const always = hasSettings(before) || (await this.room.has(tenantId, sessionId));
    await this.data.remove(tenantId, sessionId);
    await this.room.count(tenantId, sessionId, 'settings', { bytes: 1, lifeMs: SESSION_LIFE_MS, always });
    await this.durable.run(END, [keys.session(tenantId, sessionId)], [Date.now(), SESSION_LIFE_MS]);
    await this.record(act, 'admin.session_deleted', sessionId, pick(before, SessionPart.options));
    await this.events.publish(principal, sessionId, 'session.deleted', {});
    // Workers also drop its data without this message, after some time without use.
    await this.redis.publish(keys.sessionEndChannel(), JSON.stringify({ tenantId, sessionId })).catch(() => undefined);
    await Promise.all([...this.onEnd].map((listener) => listener(principal, sessionId)));
  }

  private async record(act: AdmittedAct | undefined, type: AdminType, target: string, before: object, after?: object): Promise<void> {
    if (act === undefined) return;
    const shown = (settings: object) => this.redaction.of(act.tenantId).withoutSecrets(settings);
    await act.record(type, { target, before: shown(before), ...(after && { after: shown(after) }) });
  }

  /** Four eyes: a key that submits calls may add restrictions, but not lift any. */
  private assertNothingLifted({ tenantId, scopes }: Principal, before: SessionState, after: SessionState): void {
    if (!this.policyConfig.requiresFourEyes(tenantId) || !scopes.includes('submit')) return;
    const lifted = liftedParts(before, after);
    if (lifted.length === 0) return;
    const why = `Four eyes: this takes away what restricts the session (${lifted.join(', ')}); another key must do it, one without the scope submit`;
    throw new ProblemError('forbidden', why);
  }

  private async change(tenantId: string, sessionId: string, next: (state: SessionState) => SessionState): Promise<SessionState> {
    for (let tries = 0; tries < TRIES; tries++) {
      const stored = await this.redis.get(keys.session(tenantId, sessionId));
      const state = next(stored === null ? NEW_SESSION : parseSession(stored));
      if (await this.put(tenantId, sessionId, stored ?? '', state)) return state;
    }
    throw new ProblemError('conflict', 'The session changed faster than it could be written; the same request may be repeated');
  }

  private async put(tenantId: string, sessionId: string, before: string, state: SessionState, always = false): Promise<boolean> {
    const text = JSON.stringify({ ...state, touchedAt: Date.now() });
    // Renewals without growth need no room.
    await this.room.count(tenantId, sessionId, 'settings', {
      bytes: Buffer.byteLength(text),
      lifeMs: SESSION_LIFE_MS,
      always: always || Buffer.byteLength(text) <= Buffer.byteLength(before),
    });
    return (await this.durable.run(replaceScript, [keys.session(tenantId, sessionId)], [before, text, SESSION_LIFE_MS])) === 1;
  }

  private async toSession(tenantId: string, id: string, state: SessionState): Promise<Session> {
    const { tools, allowedTools, grants, strategy, dialect, hooks, outputSchema, userId } = state;
    return {
      id,
      tenantId,
      posture: postureIn(state, this.policyConfig.of(tenantId, undefined).posture),
      ...(tools === undefined ? {} : { tools }),
      ...(allowedTools === undefined ? {} : { allowedTools }),
      grants,
      ...(strategy === undefined ? {} : { strategy }),
      ...(dialect === undefined ? {} : { dialect }),
      ...(hooks === undefined ? {} : { hooks }),
      ...(outputSchema === undefined ? {} : { outputSchema }),
      ...(userId === undefined ? {} : { userId }),
      ...(await this.data.read(tenantId, id)),
    };
  }
}

function pick(state: SessionState, parts: readonly SessionPart[]): object {
  return Object.fromEntries(parts.map((part) => [part, state[part]]));
}

/** @throws ProblemError that names each invalid pattern */
function assertValidPatterns(change: PutSessionBody): void {
  const errors = sessionPatternFaults(change).map(({ path, message }) => ({ pointer: `/${path.join('/')}`, message }));
  if (errors.length === 0) return;
  throw new ProblemError('invalid_request', errors.map(({ pointer, message }) => `${pointer}: ${message}`).join('; '), { errors });
}

/** @throws ProblemError if the session has no room for another lasting decision */
function assertValidGrants(grants: SessionGrants): void {
  if (SessionGrants.safeParse(grants).success && sessionPatternFaults({ grants }).length === 0) return;
  throw new ProblemError(
    'invalid_request',
    'The session has too many lasting decisions for another one: decide once, or take some of its grants away',
  );
}

/** Throws `conflict` if the session was deleted after the epoch of the grant. */
export function assertSameEpoch(state: SessionState, epoch: number): void {
  if (state.epoch === epoch) return;
  throw new ProblemError('conflict', 'The session was deleted after the call was submitted, and its grants ended with it: decide once');
}

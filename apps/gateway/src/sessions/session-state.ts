import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import {
  BatchStrategy,
  Dialect,
  JsonSchema,
  NO_GRANTS,
  PermissionMode,
  Posture,
  SessionGrants,
  SessionHooks,
  SessionPart,
  ToolPattern,
  type Autonomy,
  type GrantChange,
  type PutSessionBody,
} from '#contracts';
import { addGrant } from '#policy';

/** Stored session: only values that were set. */
export const SessionState = z.object({
  posture: Posture.partial().default({}),
  /**
   * Mode that an agent chose for the session. Only makes the mode of the agent or of the posture stricter; a posture with a
   * mode replaces it.
   */
  chosenMode: PermissionMode.optional(),
  tools: z.array(ToolPattern).optional(),
  allowedTools: z.array(ToolPattern).optional(),
  grants: SessionGrants.default(NO_GRANTS),
  strategy: BatchStrategy.optional(),
  dialect: Dialect.optional(),
  hooks: SessionHooks.optional(),
  outputSchema: JsonSchema.optional(),
  userId: z.string().optional(),
  /** Session that began this one, and the number of its deletions at that time: see `ruledBy`. */
  startedBy: z.object({ sessionId: z.string(), epoch: z.number().int() }).optional(),
  /** Number of deletions. Grants from calls of an earlier epoch are rejected. */
  epoch: z.number().int().default(0),
  /** Keys that changed the rules of the session since its begin: under four eyes their changes do not loosen their own calls. */
  changedBy: z.array(z.string()).default([]),
  /** Last renewal of its TTL, ms since the epoch. */
  touchedAt: z.number().default(0),
});
export type SessionState = z.output<typeof SessionState>;

export const NEW_SESSION: SessionState = SessionState.parse({});

export function parseSession(text: string): SessionState {
  return SessionState.parse(JSON.parse(text));
}

/** Parts of a PUT that may loosen the evaluation of calls. */
const EVALUATED_BY = ['posture', 'tools', 'allowedTools', 'grants'] as const;

/** State after a PUT by this key. Pure. */
export function applyPut(keyId: string, state: SessionState, change: PutSessionBody): SessionState {
  const changed = withPut(state, change);
  const isEvaluatedOtherwise = EVALUATED_BY.some((part) => change[part] !== undefined) || isUserLifted(state, changed);
  return isEvaluatedOtherwise ? withChangedBy(keyId, changed) : changed;
}

/** State after a person's grant or denial. Pure. */
export function grantedBy(keyId: string, state: SessionState, grants: GrantChange): SessionState {
  const granted = { ...state, grants: addGrant(state.grants, { grants }) };
  const { trustedTools, allowedPaths, allowedCommands } = grants;
  return (trustedTools ?? allowedPaths ?? allowedCommands) === undefined ? granted : withChangedBy(keyId, granted);
}

const AUTONOMY: readonly Autonomy[] = ['read_only', 'supervised', 'full'];
const MODES: readonly PermissionMode[] = ['read-only', 'prompt', 'workspace-write', 'danger-full-access', 'allow'];

/** Posture in the session for an agent with this posture. Pure. */
export function postureIn({ posture, chosenMode }: Pick<SessionState, 'posture' | 'chosenMode'>, ofAgent: Posture): Posture {
  const { autonomy, permissionMode } = { ...ofAgent, ...posture };
  return { autonomy, permissionMode: stricterMode(permissionMode, chosenMode) };
}

/** The stricter posture of two sessions. Pure. */
export function stricterPosture(one: SessionState, other: SessionState): SessionState['posture'] {
  const [first, second] = [one.posture.autonomy, other.posture.autonomy];
  const autonomy = isLooser(AUTONOMY, first, second) ? first : second;
  const [mode, otherMode] = [sessionMode(one), sessionMode(other)];
  const permissionMode = mode === undefined ? otherMode : stricterMode(mode, otherMode);
  return { ...(autonomy === undefined ? {} : { autonomy }), ...(permissionMode === undefined ? {} : { permissionMode }) };
}

/** State with a stricter mode, or the same; undefined for a looser one. `ofAgent`: posture of the agent that chooses it. Pure. */
export function tightenedTo(mode: PermissionMode, state: SessionState, ofAgent: Posture): SessionState | undefined {
  return isLooser(MODES, postureIn(state, ofAgent).permissionMode, mode) ? undefined : { ...state, chosenMode: mode };
}

/**
 * Parts whose restrictions in `before` are lifted or reduced in `after`. A removed posture counts as lifted, since agents have
 * postures of their own. Pure.
 */
export function liftedParts(before: SessionState, after: SessionState): SessionPart[] {
  const lifted: Partial<Record<SessionPart, boolean>> = {
    posture:
      isLooser(AUTONOMY, before.posture.autonomy, after.posture.autonomy) || isLooser(MODES, sessionMode(before), sessionMode(after)),
    tools: before.tools !== undefined && (after.tools === undefined || lacks(before.tools, after.tools)),
    grants: lacks(denialsOf(after.grants), denialsOf(before.grants)),
    hooks: lacks(after.hooks ?? [], before.hooks ?? []),
    userId: isUserLifted(before, after),
  };
  return SessionPart.options.filter((part) => lifted[part]);
}

/** True for a PUT that only makes the posture of a stored session stricter. Pure. */
export function onlyTightens(change: PutSessionBody, before: SessionState, after: SessionState): boolean {
  const isPostureAlone = SessionPart.options.every((part) => part === 'posture' || change[part] === undefined);
  return isPostureAlone && before.touchedAt > 0 && liftedParts(before, after).length === 0 && liftedParts(after, before).length > 0;
}

/** True if the session has settings that its end would remove. Pure. */
export function hasSettings({ epoch: _epoch, touchedAt: _touchedAt, ...settings }: SessionState): boolean {
  return !isDeepStrictEqual({ ...settings, epoch: 0, touchedAt: 0 }, NEW_SESSION);
}

/** True if the session's user was removed or changed, which admits other keys. */
function isUserLifted(before: SessionState, after: SessionState): boolean {
  return before.userId !== undefined && before.userId !== after.userId;
}

function isLooser<T>(fromStrictest: readonly T[], before: T | undefined, after: T | undefined): boolean {
  if (before === undefined) return false;
  return (after === undefined ? fromStrictest.length - 1 : fromStrictest.indexOf(after)) > fromStrictest.indexOf(before);
}

/** Mode that the session sets for every agent; undefined for none. */
function sessionMode({ posture: { permissionMode }, chosenMode }: SessionState): PermissionMode | undefined {
  return permissionMode === undefined ? chosenMode : stricterMode(permissionMode, chosenMode);
}

function stricterMode(mode: PermissionMode, other: PermissionMode = mode): PermissionMode {
  return isLooser(MODES, other, mode) ? other : mode;
}

/** True if `list` lacks an item of `wanted`. */
function lacks(list: readonly unknown[], wanted: readonly unknown[]): boolean {
  return wanted.some((item) => !list.some((other) => isDeepStrictEqual(item, other)));
}

function denialsOf({ deniedTools, deniedPaths, literalPaths }: SessionGrants): (readonly [string, string])[] {
  const of = (kind: string, names: readonly string[] = []) => names.map((name) => [kind, name] as const);
  const literal = literalPaths?.denied;
  return [
    ...of('tool', deniedTools),
    ...of('read', deniedPaths.read),
    ...of('write', deniedPaths.write),
    ...of('literal read', literal?.read),
    ...of('literal write', literal?.write),
  ];
}

function withChangedBy(keyId: string, state: SessionState): SessionState {
  return state.changedBy.includes(keyId) ? state : { ...state, changedBy: [...state.changedBy, keyId] };
}

function withPut(state: SessionState, change: PutSessionBody): SessionState {
  const { posture, tools, allowedTools, grants, strategy, dialect, hooks, outputSchema, userId } = change;
  const {
    tools: oldTools,
    allowedTools: oldAllowed,
    strategy: oldStrategy,
    dialect: oldDialect,
    hooks: oldHooks,
    outputSchema: oldSchema,
    userId: oldUser,
    chosenMode,
    ...rest
  } = state;
  const newSchema = outputSchema === undefined ? oldSchema : outputSchema;
  const newTools = tools === undefined ? oldTools : tools;
  const newAllowed = allowedTools === undefined ? oldAllowed : allowedTools;
  const newStrategy = strategy === undefined ? oldStrategy : strategy;
  const newDialect = dialect === undefined ? oldDialect : dialect;
  const newHooks = hooks === undefined ? oldHooks : hooks;
  const newUser = userId === undefined ? oldUser : userId;
  return {
    ...rest,
    posture: { ...state.posture, ...posture },
    ...(chosenMode === undefined || posture?.permissionMode !== undefined ? {} : { chosenMode }),
    grants: grants ?? state.grants,
    ...(newTools ? { tools: newTools } : {}),
    ...(newAllowed ? { allowedTools: newAllowed } : {}),
    ...(newStrategy ? { strategy: newStrategy } : {}),
    ...(newDialect ? { dialect: newDialect } : {}),
    ...(newHooks ? { hooks: newHooks } : {}),
    ...(newSchema ? { outputSchema: newSchema } : {}),
    ...(newUser ? { userId: newUser } : {}),
  };
}

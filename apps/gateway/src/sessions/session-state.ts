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

/** A session as it is stored: only what was set. */
export const SessionState = z.object({
  posture: Posture.partial().default({}),
  /** A mode that an agent chose for the session. It only makes that of an agent or of the posture stricter; a posture with a mode ends it. */
  chosenMode: PermissionMode.optional(),
  tools: z.array(ToolPattern).optional(),
  allowedTools: z.array(ToolPattern).optional(),
  grants: SessionGrants.default(NO_GRANTS),
  strategy: BatchStrategy.optional(),
  dialect: Dialect.optional(),
  hooks: SessionHooks.optional(),
  outputSchema: JsonSchema.optional(),
  userId: z.string().optional(),
  /** The session that began this one, and how often that was deleted by then: see `ruledBy`. */
  startedBy: z.object({ sessionId: z.string(), epoch: z.number().int() }).optional(),
  /** How often the session was deleted. What is granted by a call of an earlier epoch is not granted any more. */
  epoch: z.number().int().default(0),
  /** Keys that changed what calls are judged by, since the session began: with four eyes that does not loosen their own calls. */
  changedBy: z.array(z.string()).default([]),
  /** When its time to live was last renewed, ms since the epoch. */
  touchedAt: z.number().default(0),
});
export type SessionState = z.output<typeof SessionState>;

export const NEW_SESSION: SessionState = SessionState.parse({});

export function parseSession(text: string): SessionState {
  return SessionState.parse(JSON.parse(text));
}

/** Parts of a PUT that may loosen what calls are judged by. */
const JUDGED_BY = ['posture', 'tools', 'allowedTools', 'grants'] as const;

/** The state with what a PUT by this key gives. Pure. */
export function putBy(keyId: string, state: SessionState, change: PutSessionBody): SessionState {
  const changed = withPut(state, change);
  const judgedOtherwise = JUDGED_BY.some((part) => change[part] !== undefined) || isUserLifted(state, changed);
  return judgedOtherwise ? withChangedBy(keyId, changed) : changed;
}

/** The state with what a person trusts or denies from now on. Pure. */
export function grantedBy(keyId: string, state: SessionState, grants: GrantChange): SessionState {
  const granted = { ...state, grants: addGrant(state.grants, { grants }) };
  const { trustedTools, allowedPaths, allowedCommands } = grants;
  return (trustedTools ?? allowedPaths ?? allowedCommands) === undefined ? granted : withChangedBy(keyId, granted);
}

const AUTONOMY: readonly Autonomy[] = ['read_only', 'supervised', 'full'];
const MODES: readonly PermissionMode[] = ['read-only', 'prompt', 'workspace-write', 'danger-full-access', 'allow'];

/** What holds in the session for an agent with this posture. Pure. */
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

/** The state with a stricter mode, or the same; undefined when the mode is looser. `ofAgent`: the posture of the agent that chooses it. Pure. */
export function tightenedTo(mode: PermissionMode, state: SessionState, ofAgent: Posture): SessionState | undefined {
  return isLooser(MODES, postureIn(state, ofAgent).permissionMode, mode) ? undefined : { ...state, chosenMode: mode };
}

/** What restricts calls by `before` and does so no more, or less, by `after`. A posture that is taken away counts as lifted, as agents have others. Pure. */
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

/** Whether a PUT only makes the posture of a stored session stricter. Pure. */
export function onlyTightens(change: PutSessionBody, before: SessionState, after: SessionState): boolean {
  const isPostureAlone = SessionPart.options.every((part) => part === 'posture' || change[part] === undefined);
  return isPostureAlone && before.touchedAt > 0 && liftedParts(before, after).length === 0 && liftedParts(after, before).length > 0;
}

/** Whether ending the session takes something away. Pure. */
export function hasSettings({ epoch: _epoch, touchedAt: _touchedAt, ...settings }: SessionState): boolean {
  return !isDeepStrictEqual({ ...settings, epoch: 0, touchedAt: 0 }, NEW_SESSION);
}

/** Whether keys that act for other users are no longer kept out, or others are. */
function isUserLifted(before: SessionState, after: SessionState): boolean {
  return before.userId !== undefined && before.userId !== after.userId;
}

function isLooser<T>(fromStrictest: readonly T[], before: T | undefined, after: T | undefined): boolean {
  if (before === undefined) return false;
  return (after === undefined ? fromStrictest.length - 1 : fromStrictest.indexOf(after)) > fromStrictest.indexOf(before);
}

/** The mode that the session sets for every agent; undefined for none. */
function sessionMode({ posture: { permissionMode }, chosenMode }: SessionState): PermissionMode | undefined {
  return permissionMode === undefined ? chosenMode : stricterMode(permissionMode, chosenMode);
}

function stricterMode(mode: PermissionMode, other: PermissionMode = mode): PermissionMode {
  return isLooser(MODES, other, mode) ? other : mode;
}

/** Whether something of `wanted` is not among `list`. */
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

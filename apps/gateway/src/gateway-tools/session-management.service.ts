import { Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import { CancelBody, ProblemError, type JsonValue, type ToolAnswer } from '#contracts';
import { SessionManagementArguments } from '#tools';
import { CancelSessionService } from '../batches/cancel-session.service.js';
import { SteerSessionService } from '../batches/steer-session.service.js';
import { CallReader } from '../calls/read/call-reader.service.js';
import { SessionStore } from '../sessions/session-store.service.js';
import { AgentTools } from './agent-tools.service.js';
import { type BegunSession, spawnedSessionId, SpawnedSessions } from './spawned-sessions.service.js';
import { jsonOutput, sessionOf, type ToolCall, type ToolHandler } from './tool-call.js';

const SESSION_ENDED = CancelBody.parse({ reason: 'The session that began it has ended' });

type Arguments = ReturnType<typeof SessionManagementArguments.parse>;

/**
 * Sessions that agents begin for sub-agents. An agent reaches only those that its session began for its user. The rules of the
 * parent session also apply in them, and they end and are cancelled with it.
 */
@Injectable()
export class SessionManagement implements OnApplicationBootstrap {
  readonly handlers: Readonly<Record<string, ToolHandler>> = { session_management: (call) => this.run(call) };

  constructor(
    private readonly spawned: SpawnedSessions,
    private readonly agents: AgentTools,
    private readonly sessions: SessionStore,
    private readonly steering: SteerSessionService,
    private readonly cancels: CancelSessionService,
    private readonly reader: CallReader,
  ) {}

  onApplicationBootstrap(): void {
    this.cancels.onCancel.add(async (principal, sessionId, request) => {
      const all = await this.spawned.ids(principal.tenantId, sessionId);
      await Promise.all(all.map((id) => this.cancels.cancel(principal, id, request)));
    });
    this.sessions.onEnd.add(async (principal, sessionId) => {
      const all = await this.spawned.ids(principal.tenantId, sessionId);
      await Promise.all(all.map((id) => this.cancels.cancel(principal, id, SESSION_ENDED)));
      await this.spawned.forget(principal.tenantId, sessionId);
    });
  }

  private async run(call: ToolCall): Promise<ToolAnswer> {
    const args = SessionManagementArguments.parse(call.args);
    switch (args.command) {
      case 'spawn_session':
        return this.spawn(call, args);
      case 'send_message':
        return this.send(call, args);
      case 'read_messages':
        return this.read(call, args);
      case 'list_sessions':
        return jsonOutput((await this.own(call)).map(shown).filter(({ state }) => args.filter === undefined || state === args.filter));
      case 'get_session_status':
        return this.status(call, args);
      case 'interrupt':
        return this.interrupt(call, args);
      default:
        return args.command satisfies never;
    }
  }

  /** Begins a session and its call. A repetition finds both. Reserves its place first. */
  private async spawn(call: ToolCall, { agent_name: agent = '', task = '', name }: Arguments): Promise<ToolAnswer> {
    const { principal, sessionId: owner, callId } = sessionOf(call);
    const { tenantId } = principal;
    const sessionId = spawnedSessionId(callId);
    const session = { sessionId, name: name ?? sessionId, agent, ...(call.userId === undefined ? {} : { userId: call.userId }) };
    const { sessionEpoch: epoch = 0 } = (await this.reader.submission(callId)).data;
    const from = { sessionId: owner, epoch };
    await this.sessions.assertMayBegin(tenantId, from);
    await this.spawned.reserve(tenantId, owner, session);
    try {
      await this.sessions.beginBelow(tenantId, from, sessionId);
      const started = await this.agents.startIn(sessionId, call, { agent, task });
      await this.spawned.add(tenantId, owner, { ...session, callId: started.id });
      // Checks after the reservation: a concurrent deletion of the parent session finds the new one.
      await this.sessions.assertMayBegin(tenantId, from);
      await this.assertWanted(call);
      return jsonOutput({ session_id: sessionId, name: session.name, agent_name: agent, call_id: started.id, status: started.status });
    } catch (error) {
      if (error instanceof ProblemError && error.code !== 'overloaded') await this.abandon(call, owner);
      throw error;
    }
  }

  /**
   * Checks after the reservation: a concurrent cancel of the session finds the new one. @throws ProblemError for a call that
   * was cancelled meanwhile
   */
  private async assertWanted({ principal, callId }: ToolCall): Promise<void> {
    const { status, cancelRequested } = await this.reader.head(principal, callId);
    if (status === 'ended' || cancelRequested)
      throw new ProblemError('conflict', 'The call was cancelled while the session began: begin it again');
  }

  private async abandon({ principal, callId }: ToolCall, owner: string): Promise<void> {
    await this.cancels.cancel(principal, spawnedSessionId(callId), SESSION_ENDED);
    await this.spawned.remove(principal.tenantId, owner, spawnedSessionId(callId));
  }

  private async send(call: ToolCall, { target = '', message = '' }: Arguments): Promise<ToolAnswer> {
    const { sessionId, head } = await this.target(call, target);
    if (head.status === 'ended') throw new ProblemError('conflict', `The session ${target} has ended: no agent reads messages there`);
    const from = `session:${sessionOf(call).sessionId}`;
    const { waiting } = await this.steering.steer(call.principal, sessionId, message, { id: call.callId, from });
    return jsonOutput({ delivered: true, session_id: sessionId, waiting });
  }

  private async read(call: ToolCall, { limit }: Arguments): Promise<ToolAnswer> {
    const messages = (await this.steering.list(call.principal, sessionOf(call).sessionId)).messages.slice(-limit);
    return jsonOutput(messages.map(({ id, message, from, at, taken }) => ({ id, message, from, at, taken })));
  }

  private async status(call: ToolCall, { target = '' }: Arguments): Promise<ToolAnswer> {
    const found = await this.target(call, target);
    const { outcome, result, error } = await this.reader.read(call.principal, found.callId);
    const text = result?.content.flatMap((item) => (item.type === 'text' ? [item.text] : [])).join('\n');
    const ended: Record<string, JsonValue> = {
      ...(outcome && { outcome }),
      ...(text && { result: text }),
      ...(error && { error: error.message }),
    };
    return jsonOutput({ ...shown(found), ...ended });
  }

  private async interrupt(call: ToolCall, { target = '', message = '' }: Arguments): Promise<ToolAnswer> {
    const { sessionId } = await this.target(call, target);
    const { calls } = await this.cancels.cancel(call.principal, sessionId, CancelBody.parse({ reason: message.slice(0, 500) }));
    return jsonOutput({ session_id: sessionId, cancelled_calls: calls });
  }

  private async own(call: ToolCall): Promise<BegunSession[]> {
    const { principal, sessionId } = sessionOf(call);
    return (await this.spawned.of(principal.tenantId, sessionId)).filter(({ userId }) => userId === call.userId);
  }

  /** @throws ProblemError for a session that this one did not begin */
  private async target(call: ToolCall, target: string): Promise<BegunSession> {
    const own = await this.own(call);
    const found = own.find(({ sessionId, name }) => sessionId === target || name === target);
    if (found !== undefined) return found;
    const there = own.map(({ name }) => name).join(', ') || 'none';
    throw new ProblemError('resource_not_found', `This session began no session ${target}. Sessions: ${there}`);
  }
}

function shown({ sessionId, name, agent, callId, head }: BegunSession) {
  const state = head.status === 'ended' ? 'ended' : 'running';
  return { session_id: sessionId, name, agent_name: agent, call_id: callId, state, status: head.status };
}

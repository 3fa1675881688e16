import { Injectable } from '@nestjs/common';
import type { Dialect, Principal, ToolCallers, ToolDescriptor } from '#contracts';
import { viewOf } from '#dialects';
import { ToolRegistry } from '#tool-sdk';
import { isToolAllowed } from '../auth/tool-patterns.js';
import { EffectivePolicyService, type PolicySubject } from './admission/effective-policy.service.js';
import { agentOf } from '../auth/agent-of.js';
import { withChoices, type Choices } from './offered-choices.js';
import { withAliases } from './tool-aliases.js';
import { callersRefusal } from './admission/tool-callers.js';
import { SessionDataStore } from '../sessions/session-data-store.service.js';
import { SkillLibrary } from '../skills/skill-library.service.js';
import { ToolAvailabilityService } from '../workers/tool-availability.service.js';

const NOTHING_FOUND: ReadonlySet<string> = new Set();

/** Tools that a key may use, sorted by name; `available` states whether a call would be accepted now, and why not. */
@Injectable()
export class ToolCatalog {
  constructor(
    private readonly tools: ToolRegistry,
    private readonly rules: EffectivePolicyService,
    private readonly readiness: ToolAvailabilityService,
    private readonly sessionData: SessionDataStore,
    private readonly skills: SkillLibrary,
  ) {}

  /** @throws ProblemError `forbidden` for an agent that the key may not act for */
  async list(caller: Principal, subject: PolicySubject = {}, agent: ToolCallers = 'main'): Promise<ToolDescriptor[]> {
    const [rules, found] = await Promise.all([this.rules.of(caller, subject), this.found(caller, subject), this.readiness.refresh()]);
    const view = this.tools.for(caller.tenantId);
    const tools = view
      .list()
      .filter((tool) => isToolAllowed(caller, tool) && (tool.feature === undefined || rules.available(tool).ok))
      .map((tool) => (rules.isDeferred(tool) && !found.has(tool.name) ? { ...tool, deferred: true as const } : tool))
      .map((tool) => {
        const allowed = rules.available(tool);
        if (!allowed.ok) return { ...tool, available: allowed };
        const reason = callersRefusal(tool, agent);
        if (reason !== undefined) return { ...tool, available: { ok: false, reason } };
        // Tools of foreign workers are in the catalog while a worker is connected.
        const isForeign = view.source(tool.name).queueOf?.(tool.pool) !== undefined;
        return { ...tool, available: isForeign ? tool.available : this.readiness.hasLiveWorker(tool) };
      });
    const choices = await this.choices(tools, caller, subject);
    return tools.map((tool) => withHost(withChoices(tool, choices), this.hostOf(caller, subject)));
  }

  /**
   * Tools in a dialect, under the aliases of the agent's configuration. `requested`: dialect; default: the session's, else the
   * key's. A dialect changes built-in tools only.
   */
  async listIn(caller: Principal, subject: PolicySubject, requested?: Dialect): Promise<ToolDescriptor[]> {
    const rules = await this.rules.of(caller, subject);
    const { toolAliases } = rules.policy;
    const dialect = requested ?? rules.dialect;
    const tools = await this.list(caller, subject);
    if (dialect === 'core') return withAliases(tools, toolAliases);
    const choices = await this.choices(tools, caller, subject);
    const own = viewOf(dialect).catalog(tools);
    const all = [...own.map((tool) => withChoices(tool, choices)), ...foreignTo(dialect, tools)].sort((a, b) => (a.name < b.name ? -1 : 1));
    return withAliases(all, toolAliases);
  }

  /** Tools for which a call would be accepted, in their dialect form. */
  async callable(
    caller: Principal,
    subject: PolicySubject = {},
    agent: ToolCallers = 'main',
    dialect: Dialect = 'core',
  ): Promise<ToolDescriptor[]> {
    const tools = (await this.list(caller, subject, agent)).filter(({ available }) => available.ok);
    return dialect === 'core' ? tools : [...viewOf(dialect).catalog(tools), ...foreignTo(dialect, tools)];
  }

  private hostOf(caller: Principal, { sessionId, agentId }: PolicySubject): string | undefined {
    return this.readiness.hostOf({ tenantId: caller.tenantId, sessionId, agentId: agentOf(caller, agentId) });
  }

  /** Current names of sub-agents and skills. */
  private async choices(tools: readonly ToolDescriptor[], caller: Principal, { agentId }: PolicySubject): Promise<Choices> {
    const agents = tools.filter(({ pool, available }) => pool === 'agent' && available.ok).map(({ name }) => name);
    return { agents, skills: await this.skills.names({ tenantId: caller.tenantId, agentId: agentOf(caller, agentId) }) };
  }

  /** Tools shown to a model: all but deferred ones that its session has not found. */
  async forModel(caller: Principal, subject: PolicySubject = {}, agent: ToolCallers = 'main'): Promise<ToolDescriptor[]> {
    return (await this.callable(caller, subject, agent)).filter(({ deferred }) => deferred !== true);
  }

  private async found({ tenantId }: Principal, { sessionId }: PolicySubject): Promise<ReadonlySet<string>> {
    if (sessionId === undefined) return NOTHING_FOUND;
    const { foundTools } = await this.sessionData.read(tenantId, sessionId);
    return new Set(foundTools);
  }
}

/** Tools of other sources than `builtin`, which the dialect does not change. Pure. */
function foreignTo(dialect: Exclude<Dialect, 'core'>, tools: readonly ToolDescriptor[]): ToolDescriptor[] {
  const names = new Set(viewOf(dialect).names());
  return tools.filter(({ name, source }) => source !== 'builtin' && !names.has(name));
}

/** Adds a note to a tool whose commands run on another host. Pure. */
function withHost(tool: ToolDescriptor, host: string | undefined): ToolDescriptor {
  if (host === undefined || tool.source !== 'builtin' || !isShell(tool)) return tool;
  const note = `Commands run on the host ${host} over ssh, in a folder of this session there. Tools that work with files or programs here do not reach it: use commands for its files.`;
  return { ...tool, description: `${tool.description}\n${note}` };
}

/** True for tools that run shell commands. Other languages stay on the worker. */
function isShell({ pool, subjects }: ToolDescriptor): boolean {
  return pool === 'shell' && subjects.some((it) => it.kind === 'command' && it.language === undefined && it.languageArgument === undefined);
}

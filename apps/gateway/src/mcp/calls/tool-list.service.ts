import { Injectable } from '@nestjs/common';
import type { ListToolsResult, Tool } from '@modelcontextprotocol/server';
import { CALL_RESULT_TOOL, McpCallMeta, ToolName, type Principal } from '#contracts';
import { formatCatalog } from '#tool-sdk';
import { ToolCatalog } from '../../calls/tool-catalog.service.js';
import { invalidParams } from '../wire/json-rpc-error.js';
import { CALL_RESULT_DEFINITION } from './call-result-tool.js';

const PAGE_SIZE = 250;

/**
 * Tools for which a call of this key would be accepted, sorted by name. Pages continue after a name, so that no change of the
 * catalog shifts them.
 */
@Injectable()
export class ToolList {
  constructor(private readonly catalog: ToolCatalog) {}

  async page(principal: Principal, cursor: string | undefined, meta: Readonly<Record<string, unknown>> = {}): Promise<ListToolsResult> {
    const after = cursor === undefined || cursor === '' ? '' : nameIn(cursor);
    const parsed = McpCallMeta.safeParse(meta);
    if (!parsed.success) throw invalidParams(`_meta: ${parsed.error.issues.map(({ message }) => message).join('; ')}`);
    const tools = await this.all(principal, parsed.data);
    const rest = tools.filter(({ name }) => name > after);
    const page = rest.slice(0, PAGE_SIZE);
    const last = page.at(-1);
    return { tools: page, ...(rest.length > page.length && last !== undefined ? { nextCursor: cursorOf(last.name) } : {}) };
  }

  private async all(principal: Principal, fields: McpCallMeta): Promise<Tool[]> {
    const subject = { sessionId: fields['io.toolyard/sessionId'], agentId: fields['io.toolyard/agentId'] };
    const visible = await this.catalog.listIn(principal, subject, fields['io.toolyard/dialect']);
    const callable = visible.filter(({ name, available, deferred }) => available.ok && deferred !== true && name !== CALL_RESULT_TOOL);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the registry takes only tools whose input is an object schema
    const tools = (await formatCatalog(callable, 'mcp')) as Tool[];
    return [...tools, CALL_RESULT_DEFINITION].sort((a, b) => (a.name < b.name ? -1 : 1));
  }
}

function cursorOf(name: string): string {
  return Buffer.from(name).toString('base64url');
}

function nameIn(cursor: string): string {
  const name = Buffer.from(cursor, 'base64url').toString();
  if (cursorOf(name) !== cursor || !ToolName.safeParse(name).success)
    throw invalidParams('Invalid cursor: expected the nextCursor of an answer');
  return name;
}

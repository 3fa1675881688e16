import type { CallToolResult, ContentBlock } from '@modelcontextprotocol/server';
import { CALL_RESULT_TOOL, MCP_OUTPUT_URI, MCP_RESULT_META, type Call, type Content, type ProblemError } from '#contracts';
import type { ToolRegistry } from '#tool-sdk';
import { withModelResult } from '../../platform/http/rejection.js';

const UNSTRUCTURED: ContentBlock = {
  type: 'text',
  text: 'The tool has run. Its result lacks the structured content that its schema promises. Do not make the call again.',
};

/**
 * Result of an ended call for the client's model, without the parts for people and programs. `needsStructure`: a success
 * without structured content becomes an error, since clients would reject it and show the model nothing.
 */
export function resultOf(call: Call, needsStructure: boolean): CallToolResult {
  const { id, result, error, outcome } = call;
  const content = (result?.content ?? [{ type: 'text', text: error?.message ?? 'The call ended without a result' }]).map(blockOf);
  const link = result?.truncated === undefined ? [] : [outputLink(id, result.truncated.originalBytes)];
  const isError = call.isError ?? result?.isError ?? outcome !== 'completed';
  const isRefused = needsStructure && !isError && result?.structuredContent === undefined;
  return {
    content: [...content, ...link, ...(isRefused ? [UNSTRUCTURED] : [])],
    ...(result?.structuredContent === undefined ? {} : { structuredContent: result.structuredContent }),
    isError: isError || isRefused,
    _meta: metaOf(call),
  };
}

/** True if the call's tool is listed with an output schema. */
export function hasOutputSchema(tools: Pick<ToolRegistry, 'for'>, { tenantId, tool }: Call): boolean {
  return tools.for(tenantId).resolve(tool)?.output !== undefined;
}

/** True for tools with an output schema that may return no structured content; results of built-in tools always match their schemas. */
export function needsStructure(tools: Pick<ToolRegistry, 'for'>, call: Call): boolean {
  return call.source !== 'builtin' && hasOutputSchema(tools, call);
}

/** Result of a rejected submission: states the reason to the model, which may correct the call. */
export function refusalOf(problem: ProblemError): CallToolResult {
  const { callId, result, retryAfterMs } = withModelResult(problem).facts;
  return {
    content: (result?.content ?? []).map(blockOf),
    isError: true,
    _meta: {
      ...(callId === undefined ? {} : { [MCP_RESULT_META.callId]: callId }),
      [MCP_RESULT_META.error]: {
        code: problem.code,
        message: problem.detail,
        ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
      },
    },
  };
}

/**
 * Result for a call that continues after the client's wait. An error for a tool with an output schema, since clients reject a
 * success without structured content.
 */
export function unfinishedResult(call: Call, text: string, isError: boolean): CallToolResult {
  const args = JSON.stringify({ callId: call.id });
  const hint = `Call the tool ${CALL_RESULT_TOOL} with ${args} to wait for its result. Do not make the call again.`;
  return { content: [{ type: 'text', text: `${text} ${hint}` }], isError, _meta: metaOf(call) };
}

export function outputUri(callId: string): string {
  return MCP_OUTPUT_URI.replace('{callId}', callId);
}

function metaOf({ id, status, outcome, error }: Call): Record<string, unknown> {
  return {
    [MCP_RESULT_META.callId]: id,
    [MCP_RESULT_META.status]: status,
    ...(outcome === undefined ? {} : { [MCP_RESULT_META.outcome]: outcome }),
    ...(error === undefined ? {} : { [MCP_RESULT_META.error]: error }),
  };
}

function outputLink(callId: string, size: number): ContentBlock {
  const name = `output of ${callId}`;
  return { type: 'resource_link', uri: outputUri(callId), name, mimeType: 'text/plain', size, description: 'The whole output.' };
}

function blockOf(item: Content): ContentBlock {
  switch (item.type) {
    case 'text':
    case 'image':
    case 'audio':
    case 'resource':
      return item;
    case 'json':
      return { type: 'text', text: JSON.stringify(item.json) };
    case 'resource_link':
      return { ...item, name: item.name ?? item.uri };
    default:
      return item satisfies never;
  }
}

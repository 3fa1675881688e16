import { describe, expect, it } from '@jest/globals';
import type { Quote } from '#contracts';
import type { ToolyardClient } from '../../toolyard-client.js';
import { ToolyardError } from '../../toolyard-error.js';
import { judgeToolUse, type JudgeOptions } from './judge-tool-use.js';

type Effect = NonNullable<Quote['decision']>['effect'];

/** Policy with a constant answer, which records its requests. */
function policy(answer: Effect | Error | 'invalid') {
  const asked: unknown[] = [];
  const quote = async (submission: unknown): Promise<Quote> => {
    asked.push(submission);
    if (answer instanceof Error) throw answer;
    if (answer === 'invalid') return { valid: false, errors: [{ pointer: '/arguments/path', message: 'too long' }], approvalNeeded: false };
    const reasons = [
      { axis: 'facts' as const, rule: 'posture', effect: 'allow' as const, reason: 'the posture allows it' },
      { axis: 'risk' as const, rule: 'path', effect: answer, reason: 'because of \u001B[31mthe\npath' },
    ];
    return { tool: 'shell', valid: true, errors: [], decision: { effect: answer, reasons }, approvalNeeded: answer === 'ask' };
  };
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the one method that is called
  return { client: { calls: { quote } } as unknown as Pick<ToolyardClient, 'calls'>, asked };
}

const use = (tool_name: string, tool_input: unknown) => ({
  hook_event_name: 'PreToolUse' as const,
  session_id: 'f3a1c2d4',
  cwd: '/work/app/src',
  tool_name,
  tool_input,
});

async function decided(answer: Effect | Error | 'invalid', input = use('Bash', { command: 'ls' }), options: JudgeOptions = {}) {
  const { hookSpecificOutput } = await judgeToolUse(policy(answer).client, input, { root: '/work/app', ...options });
  return hookSpecificOutput?.permissionDecision;
}

describe('judgeToolUse', () => {
  it.each([
    ['Bash', { command: 'make', timeout: 5 }, 'shell', { command: 'make', working_dir: 'src' }],
    ['Read', { file_path: '/work/app/.env', limit: 3 }, 'file_read', { path: '.env' }],
    ['Write', { file_path: '/etc/hosts', content: 'x' }, 'file_write', { path: '/etc/hosts', content: 'x' }],
    ['Edit', { file_path: 'a', old_string: 'b', new_string: 'c' }, 'file_edit', { path: 'src/a', old_text: 'b', new_text: 'c' }],
    ['Edit', { file_path: 'a', old_string: '', new_string: 'c' }, 'file_edit', { path: 'src/a', old_text: 'text', new_text: 'c' }],
    ['NotebookEdit', { notebook_path: '/work/app/n.ipynb', new_source: '1' }, 'notebook_edit', { path: 'n.ipynb', new_source: '1' }],
    ['Glob', { pattern: '../*.ts' }, 'glob', { pattern: '**/*', path: '.' }],
    ['Glob', { pattern: '/etc/**', path: '/work/app' }, 'glob', { pattern: '**/*', path: '/etc' }],
    ['Grep', { pattern: '(?<=a)b', path: '/var/log' }, 'file_search', { query: 'text', literal: true, path: '/var/log' }],
    ['WebFetch', { url: 'https://example.com/', prompt: 'read' }, 'web_fetch', { url: 'https://example.com/' }],
  ])('asks about %s %j of Claude Code as about %s', async (name, input, tool, args) => {
    const { client, asked } = policy('allow');
    await judgeToolUse(client, use(name, input), { root: '/work/app', agentId: 'coder' });
    expect(asked).toEqual([{ tool, arguments: args, sessionId: 'f3a1c2d4', agentId: 'coder' }]);
  });

  it('gives Claude Code the decision of the policy and its reasons, without control characters', async () => {
    const output = await judgeToolUse(policy('deny').client, use('Bash', { command: 'ls' }));
    expect(output).toEqual({
      hookSpecificOutput: {
        hookEventName: 'PreToolUse',
        permissionDecision: 'deny',
        permissionDecisionReason: 'Toolyard denies it: because of  [31mthe path',
      },
    });
    expect(await decided('ask')).toBe('ask');
    expect(await decided('allow')).toBe('allow');
  });

  it('decides on unmapped tools of Claude Code only if configured', async () => {
    const todo = use('TodoWrite', { todos: [] });
    expect(await decided('deny', todo)).toBeUndefined();
    expect(await decided('allow', todo, { unmapped: 'ask' })).toBe('ask');
    const { client, asked } = policy('allow');
    await judgeToolUse(client, use('WebSearch', { query: 'x' }), { tools: { WebSearch: 'web_search' }, sessionId: 's' });
    expect(asked).toEqual([{ tool: 'web_search', arguments: { query: 'x' }, sessionId: 's' }]);
    expect(await decided('allow', use('constructor', {}))).toBeUndefined();
  });

  it.each([
    ['no gateway answers', new ToolyardError('unreachable', 'No answer')],
    ['the question is malformed', 'invalid' as const],
  ])('asks the user of Claude Code if %s, unless configured otherwise', async (_case, answer) => {
    expect(await decided(answer)).toBe('ask');
    expect(await decided(answer, undefined, { onError: 'deny' })).toBe('deny');
    expect(await decided(answer, undefined, { onError: 'allow' })).toBe('allow');
  });

  it('asks the user of Claude Code if the input is not that of the tool', async () => {
    expect(await decided('allow', use('Bash', { cmd: 'ls' }))).toBe('ask');
    expect(await decided('allow', use('Read', 'a'))).toBe('ask');
  });

  it('leaves the sandbox of Claude Code in force', async () => {
    const command = { command: 'ls', dangerouslyDisableSandbox: true };
    expect(await decided('allow', use('Bash', command))).toBe('ask');
    expect(await decided('deny', use('Bash', command))).toBe('deny');
  });
});

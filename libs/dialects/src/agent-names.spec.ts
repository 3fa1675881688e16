import { describe, expect, it } from '@jest/globals';
import { z } from 'zod';
import { agentNamesOf } from './agent-names.js';
import { dialectTool } from './dialect.js';

const tool = (name: string, canonical: string, means = [canonical]) =>
  dialectTool({ name, tool: canonical, means, description: name, input: z.object({}), adapt: () => ({ tool: canonical, args: {} }) });

describe('names of agents', () => {
  const names = agentNamesOf([
    { name: 'kiro', tools: [tool('run', 'shell'), tool('put', 'file_write', ['file_write', 'file_edit']), tool('task', 'task_list')] },
    { name: 'phi', tools: [tool('run', 'repl'), tool('task', 'task_list')], namesInRules: { Run: 'shell', Look: 'file_read' } },
  ]);

  it('forbids every tool that an agent means by a name, and allows one that all agents mean', () => {
    expect(['shell', 'repl', 'file_write', 'file_edit'].map((it) => names.of(it))).toEqual([['run', 'Run'], ['run'], ['put'], ['put']]);
    expect(['run', 'put', 'task', 'Run', 'none'].map((it) => names.meaning(it))).toEqual([
      undefined,
      undefined,
      'task_list',
      'shell',
      undefined,
    ]);
  });

  it('forbids by a name in any case each tool that any agent calls by it', () => {
    expect(['put', 'Run', 'RUN', 'LOOK', 'none'].map((it) => names.meanings(it))).toEqual([
      ['file_write', 'file_edit'],
      ['shell'],
      ['shell', 'repl'],
      ['file_read'],
      [],
    ]);
  });

  it('lists the agents that mean different tools by one name', () => {
    expect(['run', 'put', 'task'].map((it) => names.dispute(it))).toEqual(['shell in kiro, repl in phi', undefined, undefined]);
    expect(names.speakers('put', 'file_edit')).toEqual(['kiro']);
  });
});

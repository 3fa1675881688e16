import { POLICY_PROFILES } from '#contracts';
import type { Dialect } from './dialect.js';
import { KIRO_AGENTS } from './kiro-agents.js';
import { KIRO_COMMANDS } from './kiro-commands.js';
import { KIRO_KNOWLEDGE } from './kiro-knowledge.js';
import { KIRO_READ } from './kiro-read.js';
import { KIRO_SEARCH } from './kiro-search.js';
import { KIRO_ANSWERS, refusalText } from './kiro-texts.js';
import { KIRO_SESSIONS } from './kiro-sessions.js';
import { KIRO_WEB } from './kiro-web.js';
import { KIRO_WRITE } from './kiro-write.js';

/** The tools of Kiro's command line, version 2. */
export const dialect: Dialect = {
  name: 'kiro',
  execution: POLICY_PROFILES.kiro.execution,
  profile: 'kiro',
  answers: KIRO_ANSWERS,
  tools: [...KIRO_READ, ...KIRO_WRITE, ...KIRO_COMMANDS, ...KIRO_SEARCH, ...KIRO_KNOWLEDGE, ...KIRO_WEB, ...KIRO_AGENTS, ...KIRO_SESSIONS],
  hookDenial: (_tool, reason = 'no output provided') => `PreToolHook blocked the tool execution: ${reason}`,
  unknown: (name) => `Failed to parse the tool use: A tool with the name '${name}' does not exist`,
  refusal: (_tool, refusal) => refusalText(refusal),
};

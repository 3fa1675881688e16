// Claude Code by its SDK, with the tools of Toolyard and one of its own. Its model is MODEL at ANTHROPIC_BASE_URL.
import { query } from '@anthropic-ai/claude-agent-sdk';
import { preToolUseHook, toolyardMcpServer } from '#client/claude-agent';
import { client, sessionId } from './agent.fixture.mjs';

const { TOOLYARD_URL: baseUrl, TOOLYARD_API_KEY: apiKey, TOOLYARD_CLI, MODEL: model } = process.env;
const options = {
  env: process.env,
  model,
  tools: ['Bash'],
  allowedTools: ['Bash', 'mcp__toolyard__*'],
  settingSources: [],
  mcpServers: { toolyard: toolyardMcpServer({ baseUrl, apiKey, sessionId, command: [process.execPath, TOOLYARD_CLI] }) },
  hooks: { PreToolUse: [{ hooks: [preToolUseHook(client, { sessionId })] }] },
};
for await (const message of query({ prompt: 'Go.', options })) if (message.type === 'result') console.log(message.subtype);
client.close();

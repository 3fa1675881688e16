import { stringify } from 'yaml';

/** The program that an MCP client starts. */
export interface McpServer {
  readonly command: string;
  readonly args: readonly string[];
  /** Variables without the API key. */
  readonly env: Readonly<Record<string, string>>;
  /** True if the client has to supply the API key, since `env` names no data folder with one. */
  readonly needsKey: boolean;
}

export interface McpClient {
  readonly name: string;
  /** The files that may have the block, and where they are. */
  readonly file: string;
  /** How the program gets the API key, if it needs one. */
  readonly key: string;
  /** Makes the block for the file. */
  readonly block: (server: McpServer) => string;
}

const NAME = 'toolyard';
const KEY = 'TOOLYARD_API_KEY';
const FROM_ENVIRONMENT = `it is read from ${KEY} in the environment of the client`;
const BY_HAND = `write it in place of <key>; or write it to a file named key, with ${KEY} replaced by TOOLYARD_DATA, the folder of that file`;

/** The variables, where this is how the client fills in the API key. */
const envWith = ({ env, needsKey }: McpServer, key: string) => (needsKey ? { ...env, [KEY]: key } : env);

const json = (value: object) => `${JSON.stringify(value, undefined, 2)}\n`;
const yaml = (value: object) => stringify(value, { lineWidth: 0 });
/** Strings and lists of strings are those of JSON, but for DEL. */
const toml = (value: string | readonly string[]) => JSON.stringify(value).replaceAll('\u007f', '\\u007f');

/** The form that most clients share. */
const common = (key: string, more: object = {}) => ({
  block: (server: McpServer) => json({ mcpServers: { [NAME]: { ...more, ...entry(server, key) } } }),
});

const entry = (server: McpServer, key: string) => ({ command: server.command, args: server.args, env: envWith(server, key) });

/** Clients by their names for `--print-config`, from the documentation of each client (November 2026). */
export const CLIENTS: Readonly<Record<string, McpClient>> = {
  'claude-code': {
    name: 'Claude Code',
    file: '.mcp.json of the project; for all projects ~/.claude.json',
    key: FROM_ENVIRONMENT,
    ...common(`\${${KEY}}`),
  },
  'claude-desktop': {
    name: 'Claude Desktop',
    file: 'claude_desktop_config.json in ~/Library/Application Support/Claude (macOS) or %APPDATA%\\Claude (Windows)',
    key: BY_HAND,
    ...common('<key>'),
  },
  cline: {
    name: 'Cline',
    file: 'cline_mcp_settings.json: MCP Servers, Configure; of the command line ~/.cline/data/settings/cline_mcp_settings.json',
    key: BY_HAND,
    ...common('<key>'),
  },
  codex: {
    name: 'Codex',
    file: '~/.codex/config.toml, or .codex/config.toml of a trusted project',
    key: FROM_ENVIRONMENT,
    block: ({ command, args, env, needsKey }) =>
      [
        `[mcp_servers.${NAME}]`,
        `command = ${toml(command)}`,
        `args = ${toml(args)}`,
        ...(needsKey ? [`env_vars = ${toml([KEY])}`] : []),
        '',
        `[mcp_servers.${NAME}.env]`,
        ...Object.entries(env).map(([name, value]) => `${name} = ${toml(value)}`),
        '',
      ].join('\n'),
  },
  continue: {
    name: 'Continue',
    file: '.continue/mcpServers/toolyard.yaml of the workspace',
    key: `it is read from ${KEY} in ~/.continue/.env`,
    block: (server) =>
      yaml({
        name: 'Toolyard',
        version: '0.0.1',
        schema: 'v1',
        mcpServers: [{ name: NAME, type: 'stdio', ...entry(server, `\${{ secrets.${KEY} }}`) }],
      }),
  },
  cursor: {
    name: 'Cursor',
    file: '.cursor/mcp.json of the project; for all projects ~/.cursor/mcp.json',
    key: FROM_ENVIRONMENT,
    ...common(`\${env:${KEY}}`, { type: 'stdio' }),
  },
  gemini: {
    name: 'Gemini CLI',
    file: '.gemini/settings.json of the project; for all projects ~/.gemini/settings.json',
    key: FROM_ENVIRONMENT,
    ...common(`$${KEY}`),
  },
  goose: {
    name: 'goose',
    file: '~/.config/goose/config.yaml; on Windows %APPDATA%\\Block\\goose\\config\\config.yaml',
    key: `it is read from ${KEY} in the environment of the client or in its store of secrets`,
    block: ({ command, args, env, needsKey }) =>
      yaml({
        extensions: {
          [NAME]: {
            enabled: true,
            type: 'stdio',
            name: NAME,
            description: 'Tools of Toolyard',
            cmd: command,
            args,
            envs: env,
            env_keys: needsKey ? [KEY] : [],
            timeout: 300,
          },
        },
      }),
  },
  opencode: {
    name: 'opencode 2',
    file: 'opencode.json of the project; for all projects ~/.config/opencode/opencode.json. opencode 1 has no "servers" around it',
    key: FROM_ENVIRONMENT,
    block: (server) =>
      json({
        mcp: {
          servers: {
            [NAME]: { type: 'local', command: [server.command, ...server.args], environment: envWith(server, `{env:${KEY}}`) },
          },
        },
      }),
  },
  vscode: {
    name: 'VS Code',
    file: '.vscode/mcp.json of the workspace; for all workspaces the command "MCP: Open User Configuration"',
    key: 'VS Code asks for it once and keeps it',
    block: (server) =>
      json({
        ...(server.needsKey ? { inputs: [{ type: 'promptString', id: KEY, description: 'API key of Toolyard', password: true }] } : {}),
        servers: { [NAME]: { type: 'stdio', ...entry(server, `\${input:${KEY}}`) } },
      }),
  },
  windsurf: {
    name: 'Windsurf',
    file: '~/.codeium/windsurf/mcp_config.json',
    key: FROM_ENVIRONMENT,
    ...common(`\${env:${KEY}}`),
  },
  zed: {
    name: 'Zed',
    file: 'the settings of Zed (command "zed: open settings file")',
    key: BY_HAND,
    block: (server) => json({ context_servers: { [NAME]: entry(server, '<key>') } }),
  },
};

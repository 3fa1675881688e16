import { existsSync, readFileSync } from 'node:fs';
import { WebSocket } from 'ws';
import { ToolyardClient } from '#client';

/** The gateway of TOOLYARD_URL and TOOLYARD_API_KEY, else the one that `npm start` runs in this folder. */
export function connect(env: NodeJS.ProcessEnv): ToolyardClient {
  const baseUrl = env['TOOLYARD_URL'] ?? 'http://127.0.0.1:7411';
  const apiKey = env['TOOLYARD_API_KEY'] ?? (existsSync('.toolyard/key') ? readFileSync('.toolyard/key', 'utf8').trim() : undefined);
  if (apiKey === undefined) throw new Error('No API key: run `npm start` in this folder first, or set TOOLYARD_URL and TOOLYARD_API_KEY');
  return new ToolyardClient({ baseUrl, apiKey, WebSocket });
}

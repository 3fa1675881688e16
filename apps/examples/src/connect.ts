import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { WebSocket } from 'ws';
import { ToolyardClient, ToolyardError } from '#client';
import { isLoopbackUrl, LOCAL_INSTALLATION } from '#contracts';

/** Error for a missing gateway; `message` contains the fix. */
class NoGateway extends Error {
  override readonly name = 'NoGateway';
}

/**
 * Runs an agent against the gateway of TOOLYARD_URL and TOOLYARD_API_KEY, else the one that `npm start` runs in this folder or in
 * TOOLYARD_DATA. What a person can mend is said in one line; the exit code is 1 then.
 */
export async function withToolyard(agent: (toolyard: ToolyardClient) => Promise<void>): Promise<void> {
  await reported(async () => {
    const toolyard = connect(process.env);
    try {
      await agent(toolyard);
    } finally {
      toolyard.close();
    }
  });
}

/** Same as `withToolyard`, with a client for each name, each with its own key. */
export async function withToolyards(
  keys: ReadonlyMap<string, string>,
  program: (toolyards: ReadonlyMap<string, ToolyardClient>) => Promise<void>,
): Promise<void> {
  await reported(async () => {
    const toolyards = new Map([...keys].map(([name, key]) => [name, connect({ ...process.env, TOOLYARD_API_KEY: key })]));
    try {
      await program(toolyards);
    } finally {
      for (const toolyard of toolyards.values()) toolyard.close();
    }
  });
}

async function reported(program: () => Promise<void>): Promise<void> {
  try {
    await program();
  } catch (error) {
    if (!(error instanceof NoGateway) && !(error instanceof ToolyardError)) throw error;
    const advice =
      error instanceof ToolyardError && error.code === 'unreachable' ? ' Is `npm start` running? `toolyard doctor` finds the reason.' : '';
    console.error(`${error.message}.${advice}`.replace('..', '.'));
    process.exitCode = 1;
  }
}

function connect(env: NodeJS.ProcessEnv): ToolyardClient {
  const folder = env['TOOLYARD_DATA'] || LOCAL_INSTALLATION.data;
  const keyFile = join(folder, LOCAL_INSTALLATION.keyFile);
  const baseUrl = env['TOOLYARD_URL'] || localUrl(join(folder, LOCAL_INSTALLATION.addressFile));
  const apiKey = env['TOOLYARD_API_KEY'] || read(keyFile);
  if (!apiKey)
    throw new NoGateway(
      `No API key: there is no ${keyFile}. Run \`npm start\` in this folder first, or set TOOLYARD_DATA to its data folder, or TOOLYARD_URL and TOOLYARD_API_KEY`,
    );
  return new ToolyardClient({ baseUrl, apiKey, WebSocket });
}

function localUrl(file: string): string {
  const url = read(file) ?? LOCAL_INSTALLATION.url;
  if (isLoopbackUrl(url)) return url;
  throw new NoGateway(`${file} names ${url}, which is not this machine: set TOOLYARD_URL to send the API key there`);
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch {
    return undefined;
  }
}

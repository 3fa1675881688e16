import { createServer } from 'node:net';
import { explain } from './start-failure.js';

/** Finds a taken port before anything else is started. Throws a StartupError for what a person can cure. */
export async function checkPort(listen: { readonly host: string; readonly port: number }): Promise<void> {
  const server = createServer();
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(listen.port, listen.host, resolve);
    });
  } catch (error) {
    throw explain(error, listen);
  } finally {
    server.close();
  }
}

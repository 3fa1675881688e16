import { createServer } from 'node:net';
import { explain } from './start-failure.js';

/** Fails on a port in use before anything else is started. @throws StartupError for what the user can fix */
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

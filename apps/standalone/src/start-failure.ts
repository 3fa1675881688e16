import { StartupError } from '#platform';

export { StartupError };

/** The code of a Node system error (`EADDRINUSE`, `ENOENT`, …). */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** A StartupError for what the user can fix; any other error is returned unchanged, for a stack trace. */
export function explain(error: unknown, listen: { readonly host: string; readonly port: number }): unknown {
  switch (systemCode(error)) {
    case 'EADDRINUSE':
      return new StartupError(
        `Port ${listen.port} on ${listen.host} is in use. Stop the program that listens there, or set GATEWAY_PORT to another port.`,
      );
    case 'EACCES':
      return new StartupError(`Not allowed to listen on port ${listen.port}. Set GATEWAY_PORT to a port above 1023.`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new StartupError(
        `This machine has no address ${listen.host}. Set GATEWAY_HOST to 127.0.0.1, or to an address of this machine.`,
      );
    default:
      return error;
  }
}

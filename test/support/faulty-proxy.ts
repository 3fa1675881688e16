import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { freePort } from './free-port.mjs';

/** A TCP proxy on loopback that a test can turn against its client. */
export class FaultyProxy {
  private readonly pairs = new Set<{ client: Socket; server: Socket }>();
  private target = 0;
  private port = 0;
  /** Changes what goes to the client. Give a piece back, or undefined to cut this connection instead. */
  toClient: (piece: Buffer) => Buffer | undefined = (piece) => piece;
  /** Sees what goes to the server, and may cut the connection by undefined before it gets there. */
  toServer: (piece: Buffer) => Buffer | undefined = (piece) => piece;
  connections = 0;
  /** Connections whose client has sent this within its first 2 KiB are cut, those that are open at the next piece they send. */
  refuses: RegExp | undefined;
  private held: (() => void)[] | undefined;

  private constructor(private readonly server: Server) {}

  static async start(targetUrl: string): Promise<FaultyProxy> {
    const server = createServer();
    const proxy = new FaultyProxy(server);
    proxy.to(targetUrl);
    server.on('connection', (client) => proxy.accept(client));
    const port = await freePort();
    await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
    return proxy;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** Ports from which it has open connections to its target. */
  get ports(): readonly number[] {
    return [...this.pairs].flatMap(({ server }) => server.localPort ?? []);
  }

  /** Changes the target of new connections. */
  to(url: string): void {
    this.target = Number(new URL(url).port);
  }

  /** Cuts every connection, in the middle of whatever is under way. */
  cut(): void {
    for (const { client, server } of this.pairs) {
      client.destroy();
      server.destroy();
    }
  }

  /** Keeps what goes to clients until `release`. */
  hold(): void {
    this.held ??= [];
  }

  release(): void {
    for (const deliver of this.held?.splice(0) ?? []) deliver();
    this.held = undefined;
  }

  /** Cuts every connection and refuses new ones, as a server that was killed, until `back`. */
  away(): void {
    this.port = (this.server.address() as AddressInfo).port;
    this.server.close();
    this.cut();
  }

  async back(): Promise<void> {
    await new Promise<void>((resolve) => this.server.listen(this.port, '127.0.0.1', resolve));
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private accept(client: Socket): void {
    this.connections += 1;
    const server = connect(this.target, '127.0.0.1');
    const pair = { client, server };
    this.pairs.add(pair);
    const end = () => {
      this.pairs.delete(pair);
      client.destroy();
      server.destroy();
    };
    for (const socket of [client, server]) socket.on('error', end).on('close', end);
    let greeting = '';
    client.on('data', (piece) => {
      if (greeting.length < 2048) greeting += piece.toString('latin1');
      const changed = this.refuses?.test(greeting) === true ? undefined : this.toServer(piece);
      if (changed === undefined) end();
      else server.write(changed);
    });
    server.on('data', (piece) => {
      const changed = this.toClient(piece);
      if (changed === undefined) end();
      else if (this.held === undefined) client.write(changed);
      else this.held.push(() => void client.write(changed));
    });
  }
}

import { createConnection, type Socket } from 'node:net';

interface Connection {
  readonly socket: Socket;
  /** Requests without an answer yet, in their order. */
  readonly due: { resolve(id: string): void; reject(error: Error): void }[];
  unread: string;
}

const HEAD_END = '\r\n\r\n';

/**
 * Posts one and the same call over kept connections, pipelined, and gives the id in each answer. It knows just as much of
 * HTTP as that takes, so that the load costs little of the machine that the servers under test share with it.
 */
export class CallPoster {
  private readonly connections: Connection[];
  private readonly request: string;
  private next = 0;
  private unsent: Connection['due'] = [];

  constructor(
    private readonly url: string,
    headers: Readonly<Record<string, string>>,
    body: string,
    private readonly limits: { readonly connections: number; readonly pipelining: number },
  ) {
    const { host } = new URL(url);
    const lines = Object.entries({ host, ...headers, 'content-length': Buffer.byteLength(body) }).map(
      ([name, value]) => `${name}: ${value}`,
    );
    this.request = `POST /v1/calls HTTP/1.1\r\n${lines.join('\r\n')}${HEAD_END}${body}`;
    this.connections = Array.from({ length: limits.connections }, () => this.open());
  }

  post(): Promise<string> {
    return new Promise((resolve, reject) => {
      this.unsent.push({ resolve, reject });
      if (this.unsent.length === 1) queueMicrotask(() => this.send());
    });
  }

  close(): void {
    for (const { socket } of this.connections) socket.destroy();
  }

  /** Spreads what waits over the connections in turn, and writes to each once. */
  private send(): void {
    const writes = new Map<Connection, number>();
    let full = 0;
    let sent = 0;
    while (sent < this.unsent.length && full < this.connections.length) {
      const connection = this.usable(this.next++ % this.connections.length);
      const call = this.unsent[sent];
      if (connection === undefined || call === undefined) break;
      if (connection.due.length >= this.limits.pipelining) {
        full++;
        continue;
      }
      full = 0;
      connection.due.push(call);
      writes.set(connection, (writes.get(connection) ?? 0) + 1);
      sent++;
    }
    this.unsent = this.unsent.slice(sent);
    for (const [connection, count] of writes) connection.socket.write(this.request.repeat(count), 'latin1');
  }

  /** The connection, or a new one: the gateway closes a connection that was idle for a minute or so. */
  private usable(at: number): Connection | undefined {
    if (this.connections[at]?.socket.destroyed) this.connections[at] = this.open();
    return this.connections[at];
  }

  private open(): Connection {
    const { hostname: host, port } = new URL(this.url);
    const connection: Connection = {
      socket: createConnection({ host, port: Number(port), noDelay: true }).setEncoding('latin1'),
      due: [],
      unread: '',
    };
    connection.socket.on('data', (text: string) => this.read(connection, text));
    const fail = (error: Error) => {
      for (const { reject } of connection.due.splice(0)) reject(error);
    };
    connection.socket.on('error', fail);
    connection.socket.on('close', () => fail(new Error('The gateway closed a connection.')));
    return connection;
  }

  private read(connection: Connection, text: string): void {
    const all = connection.unread + text;
    let at = 0;
    for (;;) {
      const bodyAt = all.indexOf(HEAD_END, at) + HEAD_END.length;
      if (bodyAt < HEAD_END.length) break;
      const lengthAt = all.indexOf('content-length: ', at) + 'content-length: '.length;
      const end = bodyAt + Number.parseInt(all.slice(lengthAt, lengthAt + 10));
      if (end > all.length) break;
      answer(connection.due.shift(), all, at, bodyAt, end);
      at = end;
    }
    connection.unread = all.slice(at);
    if (this.unsent.length > 0) this.send();
  }
}

const ACCEPTED = 'HTTP/1.1 202';
const ID = '{"id":"';

function answer(call: Connection['due'][number] | undefined, text: string, at: number, bodyAt: number, end: number): void {
  if (text.startsWith(ACCEPTED, at) && text.startsWith(ID, bodyAt)) {
    const idAt = bodyAt + ID.length;
    call?.resolve(text.slice(idAt, text.indexOf('"', idAt)));
  } else call?.reject(new Error(`POST /v1/calls answered ${text.slice(at, Math.min(end, at + 500))}`));
}

/** Part of WebSocket (WHATWG WebSockets) that the client uses: of a browser, Node 22 or the package `ws`. */
export interface Socket {
  send(text: string): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'error', listener: () => void): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
  addEventListener(type: 'close', listener: (event: { readonly code: number; readonly reason: string }) => void): void;
}

export type SocketConstructor = new (url: string) => Socket;

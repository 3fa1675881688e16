/**
 * Where `npm start` is found by programs of the same machine: its data folder (`TOOLYARD_DATA`) holds `key`, the API key, and, while it
 * runs, `address`, the URL of the gateway.
 */
export const LOCAL_INSTALLATION = { url: 'http://127.0.0.1:7411', data: '.toolyard', keyFile: 'key', addressFile: 'address' } as const;

/**
 * Whether the URL names this machine. What the address file of a folder says is believed only then: a folder from elsewhere
 * could name any host, which would be sent the API key.
 */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

/**
 * Files by which programs of the same machine find `npm start`: its data folder (`TOOLYARD_DATA`) contains `key`, the API key,
 * and, while it runs, `address`, the URL of the gateway.
 */
export const LOCAL_INSTALLATION = { url: 'http://127.0.0.1:7411', data: '.toolyard', keyFile: 'key', addressFile: 'address' } as const;

/**
 * True for a URL of this machine. An address file is trusted only then: a folder from elsewhere could name any host, which
 * would get the API key.
 */
export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname);
}

/** `fetch` as through a balancer without stickiness: each request goes to the next address, and to another one when that is away. */
export function roundRobin(base: string, addresses: () => readonly string[]): { fetch: typeof globalThis.fetch; readonly sent: string[] } {
  const sent: string[] = [];
  let turn = 0;
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const path = (input instanceof Request ? input.url : input.toString()).slice(base.length);
    const all = addresses();
    for (let tries = 0; ; tries++) {
      const address = all[turn++ % all.length] ?? '';
      try {
        const response = await globalThis.fetch(`${address}${path}`, init);
        sent.push(`${address}${path}`);
        return response;
      } catch (error) {
        if (init?.signal?.aborted === true || tries >= all.length) throw error;
      }
    }
  };
  return { fetch, sent };
}

/** The bytes of a body, at most `limit`; undefined when there are more. The rest is not read. */
export async function boundedBody(response: Response, limit: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  if (response.body === null) return Buffer.alloc(0);
  const stream: AsyncIterable<Uint8Array> = response.body;
  for await (const chunk of stream) {
    bytes += chunk.byteLength;
    // Leaving the loop cancels the stream.
    if (bytes > limit) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

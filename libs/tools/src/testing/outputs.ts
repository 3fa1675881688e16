import { Suspension, ToolError, type ToolOutput } from '#tool-sdk';

/** The text a model would see; failures by their message. */
export async function textFrom(output: ToolOutput | Promise<ToolOutput>): Promise<string> {
  const settled = await Promise.resolve(output).catch((error: unknown) => {
    if (error instanceof ToolError) return error.message;
    throw error;
  });
  if (typeof settled === 'string') return settled;
  if (settled instanceof Suspension) return `suspended for ${settled.resumeInMs}`;
  const content = 'content' in settled ? settled.content : settled;
  return content.map((item) => (item.type === 'text' ? item.text : `<${item.type}>`)).join('\n');
}

export async function detailsFrom(output: ToolOutput | Promise<ToolOutput>): Promise<unknown> {
  const settled = await output;
  return typeof settled === 'object' && 'details' in settled ? settled.details : undefined;
}

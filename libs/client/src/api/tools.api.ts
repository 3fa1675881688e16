import { z } from 'zod';
import { Json, ToolPage, type ListToolsQuery, type ToolDescriptor, type ToolFormat } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** A tool in the shape that a model's API wants in its list of tools. */
export type ModelTool = Readonly<Record<string, Json>>;
type Json = z.output<typeof Json>;

const ModelTools = z.object({ tools: z.array(z.record(z.string(), Json)) });

/** The catalog that the key may use. */
export class ToolsApi {
  constructor(private readonly http: HttpTransport) {}

  async list(query: Omit<Partial<ListToolsQuery>, 'format'> = {}, options: RequestOptions = {}): Promise<ToolDescriptor[]> {
    const { tools } = await this.http.json({ method: 'GET', path: '/v1/tools', query, repeatable: true, ...options }, ToolPage);
    return tools;
  }

  /** To hand over as `tools` to the API of a model: those that may be called now. */
  async forModel(
    format: Exclude<ToolFormat, 'full'>,
    query: Omit<Partial<ListToolsQuery>, 'format'> = {},
    options: RequestOptions = {},
  ): Promise<ModelTool[]> {
    const request = { method: 'GET', path: '/v1/tools', query: { ...query, format }, repeatable: true, ...options } as const;
    return (await this.http.json(request, ModelTools)).tools;
  }
}

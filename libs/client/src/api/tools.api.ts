import type { z } from 'zod';
import { ModelToolPage, ROUTES, ToolPage, type QueryInputOf, type ToolDescriptor, type ToolFormat } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** Tool in the format of a model's API. */
export type ModelTool = Readonly<z.output<typeof ModelToolPage>['tools'][number]>;
type ToolsQuery = Omit<QueryInputOf<typeof ROUTES.listTools>, 'format'>;

/** Catalog of the key. */
export class ToolsApi {
  constructor(private readonly http: HttpTransport) {}

  async list(query: ToolsQuery = {}, options: RequestOptions = {}): Promise<ToolDescriptor[]> {
    return (await this.http.requestAs(ToolPage, ROUTES.listTools, { query, ...options })).tools;
  }

  /** Tools that may be called now, for the parameter `tools` of a model's API. */
  async forModel(format: Exclude<ToolFormat, 'full'>, query: ToolsQuery = {}, options: RequestOptions = {}): Promise<ModelTool[]> {
    return (await this.http.requestAs(ModelToolPage, ROUTES.listTools, { query: { ...query, format }, ...options })).tools;
  }
}

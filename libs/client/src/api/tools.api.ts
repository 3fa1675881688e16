import type { z } from 'zod';
import { ModelToolPage, ROUTES, ToolPage, type QueryInputOf, type ToolDescriptor, type ToolFormat } from '#contracts';
import type { RequestOptions } from '../client-options.js';
import type { HttpTransport } from '../http/http-transport.js';

/** A tool in the shape that a model's API wants in its list of tools. */
export type ModelTool = Readonly<z.output<typeof ModelToolPage>['tools'][number]>;
type ToolsQuery = Omit<QueryInputOf<typeof ROUTES.listTools>, 'format'>;

/** The catalog that the key may use. */
export class ToolsApi {
  constructor(private readonly http: HttpTransport) {}

  async list(query: ToolsQuery = {}, options: RequestOptions = {}): Promise<ToolDescriptor[]> {
    return (await this.http.requestAs(ToolPage, ROUTES.listTools, { query, ...options })).tools;
  }

  /** The tools that may be called now, to pass as `tools` to the API of a model. */
  async forModel(format: Exclude<ToolFormat, 'full'>, query: ToolsQuery = {}, options: RequestOptions = {}): Promise<ModelTool[]> {
    return (await this.http.requestAs(ModelToolPage, ROUTES.listTools, { query: { ...query, format }, ...options })).tools;
  }
}

import { Controller, Get, Query } from '@nestjs/common';
import { ListToolsQuery, ProblemError, type Principal } from '#contracts';
import { formatCatalog, matchesSearch, ToolRegistry, type CatalogEntry } from '#tools';
import { mayUseTool } from '../auth/tool-patterns.js';
import { Caller, Needs } from './caller.decorator.js';
import { parse } from './parse.js';

/** The catalog that the caller's key may use, in the shape its model's API wants. */
@Controller('v1/tools')
export class ToolsController {
  constructor(private readonly tools: ToolRegistry) {}

  @Needs('read')
  @Get()
  list(@Caller() caller: Principal, @Query() query: unknown): { tools: CatalogEntry[] } {
    const { format, dialect, q } = parse(ListToolsQuery, query, 'query');
    if (dialect !== undefined)
      throw new ProblemError('not_implemented', 'Dialects are not there yet; leave out `dialect` for the canonical names');
    const visible = this.tools.list().filter((tool) => mayUseTool(caller, tool.name) && (q === undefined || matchesSearch(tool, q)));
    return { tools: formatCatalog(visible, format) };
  }
}

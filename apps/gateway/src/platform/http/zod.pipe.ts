import type { ArgumentMetadata, PipeTransform } from '@nestjs/common';
import type { z } from 'zod';
import { parse, type InputPart } from './parse.js';

const PARTS: Readonly<Record<ArgumentMetadata['type'], InputPart>> = { body: 'body', query: 'query', param: 'path', custom: 'body' };

/** Validates a handler's input. A fault is a ProblemError that names the part of the request. */
export class ZodPipe<S extends z.ZodType> implements PipeTransform<unknown, z.output<S>> {
  /** `part`: name of the input in errors; default: by the decorator. */
  constructor(
    private readonly schema: S,
    private readonly part?: InputPart,
  ) {}

  transform(value: unknown, { type }: ArgumentMetadata): z.output<S> {
    return parse(this.schema, value, this.part ?? PARTS[type]);
  }
}

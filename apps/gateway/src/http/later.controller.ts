import { All, Controller } from '@nestjs/common';
import { ProblemError } from '#contracts';
import { Needs } from './caller.decorator.js';

const LATER = ['v1/schedules', 'v1/schedules/:id', 'v1/sources', 'v1/sources/:id', 'mcp'];

/** Routes of the public contract that are not there yet say so, instead of looking like a misspelt path. */
@Controller()
export class LaterController {
  @Needs('read')
  @All(LATER)
  later(): never {
    throw new ProblemError('not_implemented', 'This route belongs to the public contract and is not there yet');
  }
}

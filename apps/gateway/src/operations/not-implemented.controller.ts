import { All, Controller } from '@nestjs/common';
import { LATER_PATHS, ProblemError } from '#contracts';
import { nestPath } from '../auth/endpoint.decorator.js';
import { RequireScope } from '../auth/principal.decorator.js';

/** Routes of the public contract that are not there yet say so, instead of looking like a misspelt path. */
@Controller()
export class NotImplementedController {
  @RequireScope('read')
  @All(LATER_PATHS.map(nestPath))
  later(): never {
    throw new ProblemError('not_implemented', 'This route belongs to the public contract and is not there yet');
  }
}

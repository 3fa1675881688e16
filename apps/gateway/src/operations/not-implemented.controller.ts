import { All, Controller } from '@nestjs/common';
import { LATER_PATHS, ProblemError } from '#contracts';
import { RequireScope } from '../auth/principal.decorator.js';

const LATER = LATER_PATHS.map((path) => path.slice(1).replace('{id}', ':id'));

/** Routes of the public contract that are not there yet say so, instead of looking like a misspelt path. */
@Controller()
export class NotImplementedController {
  @RequireScope('read')
  @All(LATER)
  later(): never {
    throw new ProblemError('not_implemented', 'This route belongs to the public contract and is not there yet');
  }
}

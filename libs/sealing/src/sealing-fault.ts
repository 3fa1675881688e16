/** Log and archive do not fit together, or an event cannot be read: nothing is archived or trimmed until a person has looked. */
export class SealingFault extends Error {
  override readonly name = 'SealingFault';
}

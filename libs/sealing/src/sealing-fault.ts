/** Log and archive are inconsistent, or an event is unreadable: archiving and trimming stop until a person acts. */
export class SealingFault extends Error {
  override readonly name = 'SealingFault';
}

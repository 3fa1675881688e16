import { describe, expect, it } from '@jest/globals';
import { FrameFlow } from './frame-flow.js';

describe('FrameFlow', () => {
  it('delays later frames until the steps begun during the delay have ended', async () => {
    let isPaused = false;
    const socket = { pause: () => void (isPaused = true), resume: () => void (isPaused = false), isPaused: false };
    const flow = new FrameFlow(socket, { burst: 10, inFlight: 10 }, () => {});
    const seen: string[] = [];
    let endTurn = () => {};
    let endCheck = () => {};
    let inner: Promise<void> | undefined;
    const turn = new Promise<void>((resolve) => (endTurn = resolve)).then(() => {
      // A large frame with a token that another server checks.
      inner = flow.holdDuring(new Promise((resolve) => (endCheck = resolve)));
      flow.inOrder(() => seen.push('second'));
    });
    const outer = flow.holdDuring(turn);
    flow.inOrder(() => seen.push('first'));
    endTurn();
    await outer;
    expect([seen, isPaused]).toEqual([[], true]);
    endCheck();
    await inner;
    expect([seen, isPaused]).toEqual([['first', 'second'], false]);
  });
});

import { expect, it } from '@jest/globals';
import { Steadiness, STEADY_MS, type Drawn } from './steadiness.js';

const at = (top: number, scrolled = 0, what = 'Deny'): Drawn => ({
  what,
  inWindow: [0, top, 60, top + 30],
  inDocument: [0, top + scrolled, 60, top + scrolled + 30],
});

it('accepts clicks on a decision whose layout has been unchanged for 500 ms', () => {
  const decision = new Steadiness();
  expect([0, 1, STEADY_MS - 1, STEADY_MS].map((now) => decision.isSteady(at(100), now))).toEqual([false, false, false, true]);
});

it.each([
  ['moves', at(110)],
  ['asks or offers something else', at(100, 0, 'Allow once')],
  ['moves with all that is scrolled', at(150, 10)],
])('refuses clicks on a decision that %s', (_what, changed) => {
  const decision = new Steadiness();
  decision.isSteady(at(100), 0);
  expect(decision.isSteady(at(100), 1000)).toBe(true);
  expect([2000, 2499, 2500].map((now) => decision.isSteady(changed, now))).toEqual([false, false, true]);
});

it.each([
  ['is scrolled', at(20, 80)],
  ['stays in the window while the page scrolls', at(100, 80)],
  ['goes down as it is pressed', at(101)],
])('accepts clicks on a decision that %s', (_what, changed) => {
  const decision = new Steadiness();
  decision.isSteady(at(100), 0);
  expect([1000, 1001].map((now) => decision.isSteady(changed, now))).toEqual([true, true]);
});

it('notices a move by one pixel a frame', () => {
  const decision = new Steadiness();
  decision.isSteady(at(0), 0);
  expect([1, 2, 3, 4].map((top) => decision.isSteady(at(top), 1000 + top))).toEqual([true, true, true, false]);
});

it('notices that another decision scrolled to the place of this one', () => {
  const decision = new Steadiness();
  decision.isSteady(at(100), 0);
  expect(decision.isSteady(at(20, 80), 1000)).toBe(true);
  expect([2000, 2500].map((now) => decision.isSteady(at(100, 80), now))).toEqual([false, true]);
});

// Exports of `@jest/globals` for the current test file: modules shared by several test files import it once.
const current = () => globalThis[Symbol.for('toolyard.jest-globals')];

const global = (name) =>
  new Proxy(function () {}, {
    apply: (_target, _self, args) => current()[name](...args),
    get: (_target, key) => current()[name][key],
  });

export const afterAll = global('afterAll');
export const afterEach = global('afterEach');
export const beforeAll = global('beforeAll');
export const beforeEach = global('beforeEach');
export const describe = global('describe');
export const expect = global('expect');
export const it = global('it');
export const jest = global('jest');

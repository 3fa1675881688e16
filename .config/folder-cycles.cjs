// Cycles between folders of one app or library. Apart from .dependency-cruiser.cjs, since the tests beside the code would count.
const { options } = require('../.dependency-cruiser.cjs');

/** @type {import('dependency-cruiser').IConfiguration} */
module.exports = {
  forbidden: [
    {
      name: 'no-folder-cycles',
      comment: 'Folders that import each other are one folder: neither can be read, tested or moved alone.',
      severity: 'error',
      scope: 'folder',
      from: {},
      to: { circular: true },
    },
  ],
  options: {
    ...options,
    exclude: { path: ['^dist/', '\\.(spec|contract)\\.ts$', '/testing/'] },
    doNotFollow: { path: ['node_modules', '^dist/'] },
  },
};

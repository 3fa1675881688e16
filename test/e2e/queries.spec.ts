import { questionsOverManyCalls } from '../contracts/queries.contract.js';

questionsOverManyCalls(() => Promise.resolve({}));

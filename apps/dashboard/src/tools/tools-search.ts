import { WindowSearch } from '../components/time-window.js';
import { ToolOrder } from './tool-order.js';

/** The address of the page of tools. */
export const ToolsSearch = WindowSearch.extend({ sort: ToolOrder.optional().catch(undefined) });

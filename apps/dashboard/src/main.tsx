// First, before any schema is made.
import './no-eval.js';
import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './app.css';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { takeKeyFromAddress } from './session/key.js';

takeKeyFromAddress();
// The address as it was printed, put into a tab that is open already, loads nothing anew.
addEventListener('hashchange', takeKeyFromAddress);

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element #root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

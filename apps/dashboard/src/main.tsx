// Must come before any schema is created.
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
// Pasting the printed address into an open tab does not reload the page.
addEventListener('hashchange', takeKeyFromAddress);

const root = document.getElementById('root');
if (root === null) throw new Error('index.html has no element #root');
createRoot(root).render(
  <StrictMode>
    <App />
  </StrictMode>,
);

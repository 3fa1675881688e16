/**
 * Additions to the style of Swagger UI: colours with the contrast of WCAG AA (4.5:1) and targets of 24 pixels, checked by
 * `test/process/dashboard/docs.spec.ts`.
 */
export const EXPLORER_STYLE = `
.swagger-ui .topbar { display: none }
.swagger-ui a, .swagger-ui .info a, .swagger-ui .model-hint { color: #0a58ca }
.swagger-ui .info .title small, .swagger-ui .info .title small.version-stamp { background: #3f4650 }
.swagger-ui .opblock.opblock-get .opblock-summary-method { background: #0b5cad }
.swagger-ui .opblock.opblock-post .opblock-summary-method { background: #13713f }
.swagger-ui .opblock.opblock-put .opblock-summary-method { background: #8a4b00 }
.swagger-ui .opblock.opblock-delete .opblock-summary-method { background: #b42318 }
.swagger-ui .btn.authorize, .swagger-ui .btn.authorize span { color: #13713f }
.swagger-ui .json-schema-2020-12-expand-deep-button { color: #3f4650; min-height: 24px }
.swagger-ui .parameter__in, .swagger-ui .prop-format { color: #3f4650 }
.swagger-ui .btn.execute { background: #0b5cad; border-color: #0b5cad }
.swagger-ui .btn.cancel, .swagger-ui .parameter__name.required::after, .swagger-ui .parameter__name.required span { color: #b42318 }
.swagger-ui .microlight span[style*="rgb(211, 99, 99)"] { color: #ff9f9f !important }
.swagger-ui .view-line-link.copy-to-clipboard, .swagger-ui .view-line-link.copy-to-clipboard button { width: 24px; min-width: 24px }
.swagger-ui .json-schema-2020-12__constraint--string { background: #a03c00; color: #fff }
.swagger-ui .code-samples { padding: 10px 20px }
.swagger-ui .code-samples summary { min-height: 24px; cursor: pointer; color: #0a58ca }
.swagger-ui .code-samples pre { background: #1f2328; color: #fff; padding: 10px; border-radius: 4px; overflow-x: auto; white-space: pre }
html.dark-mode .swagger-ui .code-samples summary { color: #8ab8ff }
html.dark-mode .swagger-ui .btn.authorize, html.dark-mode .swagger-ui .btn.authorize span { color: #49cc90 }
html.dark-mode .swagger-ui .try-out .btn.try-out__btn.cancel, html.dark-mode .swagger-ui .btn.cancel { color: #ff9f9f }
html.dark-mode .swagger-ui .examples-select__section-label, html.dark-mode .swagger-ui .header-col,
html.dark-mode .swagger-ui .parameter__in, html.dark-mode .swagger-ui .prop-format { color: #e4e6e6 }
`;

/** Selects the light or dark colours of Swagger UI, by the dashboard's setting or the browser's preference. */
export const EXPLORER_SCHEME = `
(function () {
  var asked = matchMedia('(prefers-color-scheme: dark)');
  function show() {
    var chosen = localStorage.getItem('mantine-color-scheme-value');
    document.documentElement.classList.toggle('dark-mode', chosen === 'dark' || (chosen !== 'light' && asked.matches));
  }
  asked.addEventListener('change', show);
  show();
})();
`;

/**
 * Adds names and roles that Swagger UI omits, again after each of its changes: regions, the levels of headings and the label of
 * the list of servers.
 */
export const EXPLORER_SCRIPT = `
(function () {
  function set(selector, attributes) {
    document.querySelectorAll(selector).forEach(function (element) {
      for (var name in attributes) element.setAttribute(name, attributes[name]);
    });
  }
  function amend() {
    set('.information-container', { role: 'region', 'aria-label': 'About' });
    set('.schemes-server-container', { role: 'region', 'aria-label': 'Server and key' });
    set('#servers', { 'aria-label': 'Server' });
    set('.opblock-tag, section.models > h4', { 'aria-level': '2' });
    set('.examples-select-element', { 'aria-label': 'Example' });
    set('.content-type', { 'aria-label': 'Media type' });
    set('.body-param textarea', { 'aria-label': 'Request body' });
    set('.microlight', { tabindex: '0' });
    set('.opblock-section-header h4', { 'aria-level': '3' });
  }
  window.addEventListener('load', function () {
    new MutationObserver(amend).observe(document.getElementById('swagger-ui'), { childList: true, subtree: true });
    amend();
  });
})();
`;

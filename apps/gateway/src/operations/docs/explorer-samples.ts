/** Plugin of Swagger UI: shows the `x-codeSamples` of an operation above its responses, one open at a time. */
export const EXPLORER_SAMPLES = `
function codeSamples() {
  function sample(h, operationId, item) {
    var label = item.get('label');
    return h('details', { key: label, name: 'samples-' + operationId },
      h('summary', null, label),
      h('pre', { tabIndex: 0, 'aria-label': 'Sample in ' + label }, h('code', null, item.get('source'))));
  }
  return {
    wrapComponents: {
      responses: function (Original, system) {
        return function (props) {
          var h = system.React.createElement;
          var operation = system.specSelectors.specJson().getIn(['paths', props.path, props.method]);
          var samples = operation && operation.get('x-codeSamples');
          if (!samples) return h(Original, props);
          var items = samples.toArray().map(function (item) { return sample(h, operation.get('operationId'), item); });
          return h(system.React.Fragment, null,
            h('div', { className: 'opblock-section-header' }, h('h4', null, 'Samples')),
            h('div', { className: 'code-samples' }, items),
            h(Original, props));
        };
      },
    },
  };
}
`;

import { fieldsOf, textOf, type Fields } from '../fields.js';

/** A part of a result in the form of the protocol, where its server writes it as other protocols or as Python names it. */
export function usualForm(part: Fields, kinds: ReadonlySet<string>): Fields {
  const { mime_type: mimeType, type: given, ...rest } = part;
  const type = textOf(given)?.toLowerCase() ?? given;
  const named = { ...(mimeType === undefined ? {} : { mimeType }), ...rest };
  switch (type) {
    case 'json':
      return { type: 'text', text: part['json'] ?? part['data'] };
    case 'image_url':
      return imageOf(part['image_url']);
    case 'text':
      return { ...named, type, text: part['text'] ?? part['content'] };
    case 'image':
    case 'audio': {
      const { data, media_type } = fieldsOf(part['source']);
      return { mimeType: media_type, ...named, type, data: part['data'] ?? data };
    }
    case 'resource': {
      const { mime_type: ofResource, ...resource } = fieldsOf(part['resource']);
      return { ...named, type, resource: { ...(ofResource === undefined ? {} : { mimeType: ofResource }), ...resource } };
    }
    default:
      return { ...named, type: (type === undefined || !isKind(type, kinds)) && textOf(part['text']) !== undefined ? 'text' : type };
  }
}

const isKind = (type: unknown, kinds: ReadonlySet<string>): boolean => typeof type === 'string' && kinds.has(type);

/** Image in the form of model APIs. */
function imageOf(image: unknown): Fields {
  const url = textOf(image) ?? textOf(fieldsOf(image)['url']);
  return url?.startsWith('data:') === true ? { type: 'image', data: url } : { type: 'resource_link', uri: url };
}

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
      return { ...named, type, text: part['text'] ?? part['content'] ?? part['value'] };
    case 'image':
    case 'audio': {
      const { data = part['data'], media_type, url = part['url'] } = fieldsOf(part['source']);
      if (type === 'image' && data === undefined && url !== undefined) return imageOf(url);
      return { mimeType: media_type, ...named, type, data };
    }
    case 'resource':
      return resourceOf(named);
    default: {
      const text = textOf(part['text']) ?? textOf(part['content']);
      if (isKind(type, kinds)) return { ...named, type };
      return text === undefined ? { ...named, type: kindOf(named) ?? type } : { ...named, type: 'text', text };
    }
  }
}

/** A resource whose fields may be beside its type. One of a text without an address is a text. */
function resourceOf({ resource: given, uri, text, blob, mimeType, ...rest }: Fields): Fields {
  const { mime_type: ofPython, ...own } = typeof given === 'string' ? { text: given } : fieldsOf(given);
  const resource: Fields = { uri, text, blob, mimeType: ofPython ?? mimeType, ...own };
  const isText = textOf(resource['uri']) === undefined && resource['text'] !== undefined;
  return isText ? { ...rest, type: 'text', text: resource['text'] } : { ...rest, type: 'resource', resource };
}

/** Kind of a part whose type is not known, by its other fields. */
function kindOf({ data, mimeType, resource }: Fields): string | undefined {
  if (resource !== undefined) return 'resource';
  const [, kind] = /^(image|audio)\//.exec(textOf(mimeType) ?? '') ?? [];
  return data === undefined ? undefined : kind;
}

const isKind = (type: unknown, kinds: ReadonlySet<string>): boolean => typeof type === 'string' && kinds.has(type);

/** Image in the form of model APIs. */
function imageOf(image: unknown): Fields {
  const url = textOf(image) ?? textOf(fieldsOf(image)['url']);
  return url?.startsWith('data:') === true ? { type: 'image', data: url } : { type: 'resource_link', uri: url };
}

/** Code and message of a failure; the message alone where it begins with the code. */
export function errorText({ code, message }: { readonly code: string; readonly message: string }): string {
  return message.toLowerCase().startsWith(code) ? message : `${code}: ${message}`;
}
